import type { Account } from '../account/account.ts';
import type { Group } from '../account/auto-scaling-group.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Instance } from '../account/neighbours.ts';
import type { TargetGroup } from '../account/target-groups.ts';
import { listeningPorts } from './listening-ports.ts';
import type { Scenario } from './scenario.ts';

/** The fleet of a scenario, standing in the account. */
export interface BuiltFleet {
  readonly instances: readonly Instance[];
  /** Undefined when no Auto Scaling group watches it. */
  readonly groupName: string | undefined;
  readonly targetGroups: readonly TargetGroup[];
  readonly checkIds: readonly string[];
}

const GROUP = 'web';
export const OPT_IN = { quiesce: 'enabled' };

/** Builds what the scenario describes, up and registered, as if it had run for long. */
export function buildFleet(account: Account, scenario: Scenario): BuiltFleet {
  const { fleet } = scenario;
  const listensOn = listeningPorts(scenario);
  const { ec2, loadBalancing, autoScaling } = account;
  const subnets = fleet.zones.map(zone => ec2.addSubnet(zone));
  const [first, ...others] = subnets;
  if (!first) throw new Error('a fleet has at least one zone');
  const securityGroup = ec2.addSecurityGroup({
    name: 'web',
    ingress: fleet.securityGroup === 'open' ? [OPEN] : [],
  });
  const tagsOf = (what: Scenario['fleet']['optedIn'][number]) => (fleet.optedIn.includes(what) ? OPT_IN : {});
  const tags = tagsOf('instances');
  const served = fleet.targetGroups.some(group => group.served);
  const loadBalancer = served
    ? loadBalancing.addLoadBalancer({
        name: 'web',
        type: fleet.loadBalancer.type,
        zones: subnets.map(({ zone, zoneId, id }) => ({ zone, zoneId, subnetId: id })),
        vpcId: first.vpcId,
        ...(fleet.loadBalancer.type === 'network' && fleet.loadBalancer.crossZone !== undefined
          ? { crossZone: fleet.loadBalancer.crossZone }
          : {}),
      })
    : undefined;
  const targetGroups = fleet.targetGroups.map(group =>
    loadBalancing.addTargetGroup({
      name: group.name,
      port: group.port,
      targetType: group.targetType,
      protocol: fleet.loadBalancer.type === 'network' ? 'TCP' : 'HTTP',
      vpcId: first.vpcId,
      ...(group.served && loadBalancer ? { loadBalancer: loadBalancer.arn } : {}),
      healthCheck: {
        port: 'traffic-port',
        matcher: '200',
        ...group.healthCheck,
        ...(fleet.loadBalancer.type === 'network' ? { path: undefined } : {}),
      },
      attributes: {
        ...(fleet.loadBalancer.type === 'application' && fleet.loadBalancer.crossZone === false
          ? { 'load_balancing.cross_zone.enabled': 'false' }
          : {}),
        ...group.attributes,
      },
      tags: tagsOf('targetGroups'),
    }),
  );

  const attached = targetGroups.filter((_, index) => isAttached(fleet.targetGroups[index]));
  if (fleet.autoScaling) {
    const { healthChecks, graceSeconds, minSize, suspended } = fleet.autoScaling;
    const group = autoScaling.addGroup({
      name: GROUP,
      minSize: minSize ?? Math.floor(fleet.instances / 2),
      maxSize: fleet.instances * 2,
      desiredCapacity: fleet.instances,
      subnetIds: [first.id, ...others.map(subnet => subnet.id)],
      targetGroupArns: attached.map(group => group.arn),
      healthCheckTypes: healthChecks,
      healthCheckGracePeriodSeconds: graceSeconds,
      tags: tagsOf('autoScalingGroup'),
      launchSpec: {
        securityGroupIds: [securityGroup.id],
        startUpSeconds: fleet.startUpSeconds,
        listensOn,
        tags,
      },
      seasoned: true,
    });
    for (const process of suspended) group.suspended.set(process, 'User suspended');
    addHooks(account, group, fleet.autoScaling.hooks);
  } else {
    for (let n = 0; n < fleet.instances; n++) {
      const subnet = subnets[n % subnets.length] ?? first;
      ec2.launch({
        subnetId: subnet.id,
        securityGroupIds: [securityGroup.id],
        tags: { ...tags, fleet: GROUP },
        startUpSeconds: fleet.startUpSeconds,
        listensOn,
        seasoned: true,
      });
    }
  }
  const instances = [...ec2.live()];
  if (fleet.autoScaling) for (const state of fleet.autoScaling.others) addOther(account, state);
  registerBesides(account, fleet, targetGroups, instances);
  const checkIds = fleet.checks.map(check =>
    addCheck(account, check, fleet.autoScaling !== null, tagsOf('checks'), securityGroup.id),
  );
  for (const [number, instance] of instances.entries())
    if (typeof fleet.broken === 'boolean' ? fleet.broken : fleet.broken.includes(number))
      instance.application.suffer(() => ({ kind: 'responds', status: 500, afterMs: 20 }));
  for (const number of fleet.flaky)
    instances[number]?.application.suffer((_, now) => ({
      kind: 'responds',
      status: Math.floor(now / 60_000) % 2 === 0 ? 200 : 503,
      afterMs: 20,
    }));
  return { instances, groupName: fleet.autoScaling ? GROUP : undefined, targetGroups, checkIds };
}

type Hooks = NonNullable<Scenario['fleet']['autoScaling']>['hooks'];

/** As docs/deploy.md adds them. */
function addHooks({ autoScaling }: Account, group: Group, hooks: Hooks): void {
  for (const [kind, transition] of [
    ['launch', 'autoscaling:EC2_INSTANCE_LAUNCHING'],
    ['terminate', 'autoscaling:EC2_INSTANCE_TERMINATING'],
  ] as const) {
    const heartbeatTimeoutSeconds = hooks[kind];
    if (heartbeatTimeoutSeconds !== undefined)
      autoScaling.hooks.put(group, `quiesce-${kind}`, {
        transition,
        heartbeatTimeoutSeconds,
        defaultResult: 'CONTINUE',
      });
  }
}

/** Does Auto Scaling register its instances there by itself? */
const isAttached = (spec: Scenario['fleet']['targetGroups'][number] | undefined): boolean =>
  spec?.targetType === 'instance' && spec.attached;

/** What lets every check and every request in. */
export const OPEN = { fromPort: 1, toPort: 65535, from: { cidr: '10.0.0.0/8' } };

function addOther({ autoScaling }: Account, state: Parameters<Account['autoScaling']['addMember']>[1]): void {
  if (state === 'Pending:Wait' || state === 'Terminating:Wait') {
    const transition = state === 'Pending:Wait' ? 'LAUNCHING' : 'TERMINATING';
    autoScaling.hooks.put(autoScaling.group(GROUP), `hold-${transition.toLowerCase()}`, {
      transition: `autoscaling:EC2_INSTANCE_${transition}`,
      heartbeatTimeoutSeconds: 7200,
      defaultResult: 'CONTINUE',
    });
  }
  autoScaling.addMember(GROUP, state);
}

/** What Auto Scaling does not register itself: further ports, groups of addresses, and fleets without a group. */
export function registerBesides(
  { loadBalancing }: Account,
  fleet: Scenario['fleet'],
  targetGroups: readonly TargetGroup[],
  instances: readonly Instance[],
): void {
  fleet.targetGroups.forEach((spec, index) => {
    const group = targetGroups[index];
    if (!group) return;
    const byItself = fleet.autoScaling !== null && isAttached(spec);
    const ports = [...(byItself ? [] : [spec.port]), ...spec.alsoOnPorts];
    const id = (instance: Instance) =>
      spec.targetType === 'ip' ? instance.privateAddresses[0] : instance.id;
    for (const port of ports)
      loadBalancing.register(
        group.arn,
        instances.map(instance => ({ id: id(instance), port })),
      );
  });
}

/** The name of the security groups from which checks with one of their own are asked. */
export const OWN_GROUP = 'check-source';

const addOwnGroup = (ec2: Account['ec2'], kind: 'deleted-when-free' | 'kept'): string =>
  ec2.addSecurityGroup({
    name: OWN_GROUP,
    tags: { ...OPT_IN, ...(kind === 'deleted-when-free' && { 'quiesce-delete-when-free': 'true' }) },
  }).id;

const pathsFrom = ({ network }: Account['ec2'], ownGroupId: string, fleetGroupId: string) =>
  [...network.subnets.keys()].map(SubnetId => ({
    Source: { SubnetId, SecurityGroupId: ownGroupId },
    Destinations: [{ SubnetId, SecurityGroupId: fleetGroupId }],
  }));

function addCheck(
  account: Account,
  check: Scenario['fleet']['checks'][number],
  grouped: boolean,
  tags: Readonly<Record<string, string>>,
  fleetGroupId: string,
): string {
  const { checks, ec2 } = account;
  const api = ec2Api(checks);
  const created = api.CreateApplicationStatusCheck({
    Protocol: 'http',
    Port: check.port,
    Path: check.path,
    Aggregation: check.aggregation,
    InitializationGracePeriodSeconds: check.graceSeconds,
    ...(check.ownGroup && {
      HealthCheckPaths: pathsFrom(ec2, addOwnGroup(ec2, check.ownGroup), fleetGroupId),
    }),
    TagSpecifications: [
      {
        ResourceType: 'application-status-check',
        Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      },
    ],
  });
  const id = created.ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
  api.AssociateApplicationStatusCheck({
    ApplicationStatusCheckId: id,
    TargetTagAssociations: [
      grouped ? { Key: 'aws:autoscaling:groupName', Value: GROUP } : { Key: 'fleet', Value: GROUP },
    ],
  });
  return id;
}
