import { type Account, createAccount } from '../../../local/account/account.ts';
import type { NewDeploymentGroup } from '../../../local/account/code-deploy.ts';
import type {
  AgentCommand,
  DeploymentAgent,
  EventOutcome,
  Revision,
} from '../../../local/account/code-deploy-agent.ts';
import { SUCCEEDED } from '../../../local/account/code-deploy-agent.ts';
import { CodeDeployEngine } from '../../../local/account/code-deploy-engine.ts';
import type { ServiceEvent } from '../../../local/account/neighbours.ts';
import type { Physics } from '../../../local/account/physics.ts';
import { createWorld } from '../../../local/account/world.ts';

export const NAMES = { applicationName: 'shop', deploymentGroupName: 'web' };

export const revision = (key: string, directory = '/nowhere'): Revision => ({
  bucket: 'bundles',
  key,
  eTag: `etag-of-${key}`,
  directory,
});

export interface FleetSpec {
  readonly instances: number;
  readonly balanced?: boolean;
  readonly group?: Partial<NewDeploymentGroup>;
  readonly physics?: Partial<Physics>;
}

/** An Auto Scaling group whose instances are in service, and a deployment group for it. */
export function createFleet({ instances, balanced = false, group = {}, physics = {} }: FleetSpec) {
  const world = createWorld({ physics });
  const account = createAccount(world);
  const events: ServiceEvent[] = [];
  account.onEvent(event => {
    if (event.source === 'aws.codedeploy') events.push(event);
  });
  const subnet = account.ec2.addSubnet('eu-west-1a');
  const securityGroup = account.ec2.addSecurityGroup({
    ingress: [{ fromPort: 1, toPort: 65535, from: { cidr: '10.0.0.0/8' } }],
  });
  const targetGroup = balanced ? addTargetGroup(account, subnet) : undefined;
  account.autoScaling.addGroup({
    name: 'fleet',
    minSize: 0,
    maxSize: 20,
    desiredCapacity: instances,
    subnetIds: [subnet.id],
    targetGroupArns: targetGroup ? [targetGroup.arn] : [],
    launchSpec: { securityGroupIds: [securityGroup.id], startUpSeconds: 10 },
    seasoned: true,
  });
  const deploymentGroup = account.codeDeploy.addDeploymentGroup({
    ...NAMES,
    autoScalingGroupNames: ['fleet'],
    ...(balanced && { targetGroupNames: ['web'] }),
    ...group,
  });
  return {
    account,
    ...world,
    events,
    deploymentGroup,
    targetGroup,
    ids: [...account.ec2.live()].map(({ id }) => id),
  };
}

function addTargetGroup(
  { loadBalancing }: Account,
  { id, zone, zoneId, vpcId }: ReturnType<Account['ec2']['addSubnet']>,
) {
  const loadBalancer = loadBalancing.addLoadBalancer({
    name: 'web',
    type: 'application',
    zones: [{ zone, zoneId, subnetId: id }],
    vpcId,
  });
  return loadBalancing.addTargetGroup({
    name: 'web',
    port: 8080,
    targetType: 'instance',
    protocol: 'HTTP',
    vpcId,
    loadBalancer: loadBalancer.arn,
    healthCheck: {
      path: '/health',
      port: 'traffic-port',
      intervalSeconds: 5,
      timeoutSeconds: 2,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
      matcher: '200',
    },
    attributes: { 'deregistration_delay.timeout_seconds': '60' },
  });
}

export type Behaviour = (
  command: AgentCommand,
) => Promise<EventOutcome | undefined> | EventOutcome | undefined;

/** An engine whose agents do as they are told, each event in ten seconds, and remember what they were told. */
export function createEngine(fleet: ReturnType<typeof createFleet>, behave: Behaviour = () => undefined) {
  const commands: AgentCommand[] = [];
  const agent: DeploymentAgent = {
    async perform(command) {
      commands.push(command);
      const outcome = behave(command);
      await fleet.clock.sleep(10_000);
      return (await outcome) ?? SUCCEEDED;
    },
  };
  const { account } = fleet;
  const engine = new CodeDeployEngine({
    world: account.world,
    instances: account.ec2,
    autoScaling: account.autoScaling,
    loadBalancing: account.loadBalancing,
    codeDeploy: account.codeDeploy,
    onEvent: account.onEvent,
    agent,
  });
  return { engine, commands };
}
