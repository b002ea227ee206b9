import type {
  ApplicationTiming,
  CheckTiming,
  DetectionTiming,
  TargetGroupTiming,
} from '../../../functions/core/domain/timing.ts';
import { createAccount } from '../../../local/account/account.ts';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import type { Entry } from '../../../local/account/journal.ts';
import type { Instance } from '../../../local/account/neighbours.ts';
import { createWorld } from '../../../local/account/world.ts';

/** What is checked, and by whom. */
export interface Checked {
  readonly targetGroup: TargetGroupTiming;
  readonly check: CheckTiming;
  readonly application: ApplicationTiming;
}

/** After how many seconds an account shows each of the times that the timing module works out. */
export type Seen = Readonly<Record<keyof DetectionTiming, number>>;

const PORT = 8080;
const WATCHED = ['fleet', 'watched'] as const;

/**
 * Breaks three instances of a simulated account at no particular moment of any interval: one that Auto Scaling replaces for its
 * load balancer's verdict, one that it replaces for its application status, and one that nobody replaces and that is mended
 * when both have found it and show it.
 */
export async function breakFleet(
  seed: number,
  checked: Checked,
): Promise<{ readonly targetGroup: Seen; readonly check: Seen }> {
  const { account, balanced, watched, alone } = standUp(seed, checked);
  const { clock, journal, random } = account.world;
  const anyMoment = random.fork('when it breaks, and is mended');
  const { targetGroup, check, application } = checked;
  const wellAfter = Math.max(
    targetGroup.intervalSeconds * targetGroup.healthyThreshold,
    60 * check.successThreshold,
  );
  const phaseMs = Math.max(targetGroup.intervalSeconds, 60) * 1000;
  await clock.pass((wellAfter + 60) * 1000 + anyMoment.between(0, phaseMs));

  const when = (happens: (entry: Entry) => boolean) =>
    new Promise<number>(resolve => {
      const stop = journal.listen(entry => {
        if (!happens(entry)) return;
        stop();
        resolve(entry.at);
      });
    });
  const api = ec2Api(account.checks);
  const whenShown = async ({ id }: Instance, status: string) => {
    await when(isStatus(id, status));
    const shown = () => api.DescribeApplicationStatus({ InstanceIds: [id] }).ApplicationStatuses?.Instances;
    while (shown()?.[0]?.ApplicationStatus?.Status !== status) await clock.sleep(1000);
    return clock.now();
  };
  const seconds = async (from: number, at: Promise<number>) => ((await at) - from) / 1000;

  const brokenAt = clock.now();
  const broken =
    application.failure === 'silent' ? ({ kind: 'silent' } as const) : ({ kind: 'refuses' } as const);
  for (const instance of [balanced, watched, alone]) instance.application.suffer(() => broken);
  const mended = Promise.all([when(isTarget(alone.id, 'unhealthy')), whenShown(alone, 'impaired')])
    .then(() => clock.sleep(anyMoment.between(0, phaseMs)))
    .then(() => {
      alone.application.suffer(undefined);
      const from = clock.now();
      return Promise.all([
        seconds(from, when(isTarget(alone.id, 'healthy'))),
        seconds(from, when(isStatus(alone.id, 'ok'))),
        seconds(from, whenShown(alone, 'ok')),
      ]);
    });
  const since = (at: Promise<number>) => seconds(brokenAt, at);
  const known = new Set([balanced, watched, alone].map(({ id }) => id));
  const [[failed, terminated, replaced], [impaired, shown, ended, succeeded], [healthy, ok, okShown]] =
    await clock.runFor(
      Promise.all([
        Promise.all([
          since(when(isTarget(balanced.id, 'unhealthy'))),
          since(when(isTermination(balanced.id))),
          since(
            when(
              one =>
                one.type === 'target' &&
                !known.has(one.id) &&
                one.state === 'healthy' &&
                one.targetGroupArn.includes('balanced'),
            ),
          ),
        ]),
        Promise.all([
          since(when(isStatus(watched.id, 'impaired'))),
          since(whenShown(watched, 'impaired')),
          since(when(isTermination(watched.id))),
          since(
            when(
              one => one.type === 'application-status' && !known.has(one.instanceId) && one.status === 'ok',
            ),
          ),
        ]),
        mended,
      ]),
    );
  return {
    targetGroup: {
      failed,
      failedShown: failed,
      terminated,
      replaced,
      recovered: healthy,
      recoveredShown: healthy,
    },
    check: {
      failed: impaired,
      failedShown: shown,
      terminated: ended,
      replaced: succeeded,
      recovered: ok,
      recoveredShown: okShown,
    },
  };
}

const isTarget = (id: string, state: string) => (entry: Entry) =>
  entry.type === 'target' && entry.id === id && entry.state === state;
const isStatus = (id: string, status: string) => (entry: Entry) =>
  entry.type === 'application-status' && entry.instanceId === id && entry.status === status;
const isTermination = (id: string) => (entry: Entry) =>
  entry.type === 'activity' && entry.kind === 'terminate' && entry.instanceId === id;

/** Each instance in a target group of its own, which one node in each of several zones probes. */
function standUp(seed: number, { targetGroup, check, application: { startUpSeconds } }: Checked) {
  const account = createAccount(createWorld({ seed }));
  const { ec2, checks, loadBalancing, autoScaling } = account;
  const [subnet, ...others] = Array.from({ length: targetGroup.nodes }, (_, n) =>
    ec2.addSubnet(`eu-west-1${'abcdef'[n]}`),
  );
  if (!subnet) throw new Error('somebody has to probe');
  const { arn: loadBalancer } = loadBalancing.addLoadBalancer({
    name: 'web',
    type: targetGroup.type,
    zones: [subnet, ...others].map(({ zone, zoneId, id }) => ({ zone, zoneId, subnetId: id })),
    vpcId: subnet.vpcId,
    crossZone: true,
  });
  const addTargetGroup = (name: string) =>
    loadBalancing.addTargetGroup({
      name,
      port: PORT,
      targetType: 'instance',
      protocol: targetGroup.type === 'network' ? 'TCP' : 'HTTP',
      vpcId: subnet.vpcId,
      loadBalancer,
      healthCheck: {
        ...targetGroup,
        port: 'traffic-port',
        matcher: '200',
        ...(targetGroup.type === 'application' && { path: '/ready' }),
      },
    }).arn;
  const securityGroup = ec2.addSecurityGroup({
    name: 'web',
    ingress: [{ fromPort: PORT, toPort: PORT, from: { cidr: '10.0.0.0/8' } }],
  });
  const spec = { securityGroupIds: [securityGroup.id], startUpSeconds };
  const tags = { [WATCHED[0]]: WATCHED[1] };
  const addGroup = (name: 'balanced' | 'watched') => {
    autoScaling.addGroup({
      name,
      minSize: 1,
      maxSize: 2,
      desiredCapacity: 1,
      subnetIds: [subnet.id],
      targetGroupArns: [addTargetGroup(name)],
      healthCheckTypes: name === 'balanced' ? ['EC2', 'ELB'] : ['EC2'],
      // Longer than any start-up, so that an instance is replaced once.
      healthCheckGracePeriodSeconds: 7200,
      launchSpec: { ...spec, tags: name === 'watched' ? tags : {} },
      seasoned: true,
    });
    const [instance] = [...ec2.live()].filter(({ id }) => autoScaling.memberOf(id)?.group.name === name);
    if (!instance) throw new Error(`${name} has no instance`);
    return instance;
  };
  const api = ec2Api(checks);
  const { ApplicationStatusCheck } = api.CreateApplicationStatusCheck({
    Protocol: 'http',
    Port: PORT,
    Timeout: check.timeoutSeconds,
    FailureThreshold: check.failureThreshold,
    SuccessThreshold: check.successThreshold,
    InitializationGracePeriodSeconds: check.graceSeconds,
  });
  api.AssociateApplicationStatusCheck({
    ApplicationStatusCheckId: ApplicationStatusCheck?.ApplicationStatusCheckId ?? '',
    TargetTagAssociations: [{ Key: WATCHED[0], Value: WATCHED[1] }],
  });
  const alone = ec2.launch({ ...spec, subnetId: subnet.id, tags, seasoned: true });
  loadBalancing.register(addTargetGroup('alone'), [{ id: alone.id }]);
  return { account, balanced: addGroup('balanced'), watched: addGroup('watched'), alone };
}
