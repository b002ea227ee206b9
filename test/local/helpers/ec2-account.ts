import { ApplicationStatusChecks } from '../../../local/account/application-status.ts';
import type { CheckQuotas } from '../../../local/account/check-registry.ts';
import { CloudWatch } from '../../../local/account/cloud-watch.ts';
import { Ec2, type Ec2Instance } from '../../../local/account/ec2.ts';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import type { Physics } from '../../../local/account/physics.ts';
import { createWorld } from '../../../local/account/world.ts';

export const GROUP_TAG = 'aws:autoscaling:groupName';

/** An account with two subnets and one security group that lets its own members reach port 8080. */
export function account(
  settings: {
    readonly seed?: number;
    readonly physics?: Partial<Physics>;
    readonly quotas?: Partial<CheckQuotas>;
  } = {},
) {
  const { seed = 7, physics = {}, quotas = {} } = settings;
  const world = createWorld({ seed, physics });
  const ec2 = new Ec2(world);
  const metrics = new CloudWatch(world);
  const checks = new ApplicationStatusChecks(ec2, { metrics, quotas });
  const api = ec2Api(checks);
  const subnets = [ec2.addSubnet('eu-west-1a'), ec2.addSubnet('eu-west-1b')] as const;
  const group = ec2.addSecurityGroup({ ingress: [{ fromPort: 8080, toPort: 8080, from: 'self' }] });

  const launch = (
    options: {
      readonly tags?: Record<string, string>;
      readonly seasoned?: boolean;
      readonly zone?: 0 | 1;
    } = {},
  ): Ec2Instance =>
    ec2.launch({
      subnetId: subnets[options.zone ?? 0].id,
      securityGroupIds: [group.id],
      tags: { [GROUP_TAG]: 'web', ...options.tags },
      startUpSeconds: 10,
      seasoned: options.seasoned ?? true,
    });

  /** A check on port 8080 for the whole group `web`; its ID. */
  const createCheck = (
    options: Parameters<typeof api.CreateApplicationStatusCheck>[0] | object = {},
  ): string => {
    const { ApplicationStatusCheck } = api.CreateApplicationStatusCheck({
      Protocol: 'http',
      Port: 8080,
      Path: '/health',
      ...options,
    });
    const id = ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
    api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: id,
      TargetTagAssociations: [{ Key: GROUP_TAG, Value: 'web' }],
    });
    return id;
  };

  const seconds = (count: number) => world.clock.pass(count * 1000);

  /** What DescribeApplicationStatus shows of one instance. */
  const status = (instance: { readonly id: string }) =>
    api.DescribeApplicationStatus({ InstanceIds: [instance.id] }).ApplicationStatuses?.Instances?.[0]
      ?.ApplicationStatus;

  /** Seconds from now until `condition` holds, looked at every second. */
  const secondsUntil = async (condition: () => boolean, limit = 1200): Promise<number> => {
    for (let count = 0; count <= limit; count++) {
      if (condition()) return count;
      await seconds(1);
    }
    throw new Error(`not within ${limit} seconds`);
  };

  return {
    world,
    ec2,
    metrics,
    checks,
    api,
    subnets,
    group,
    launch,
    createCheck,
    seconds,
    status,
    secondsUntil,
    clock: world.clock,
  };
}

export const failing = () => ({ kind: 'responds', status: 503, afterMs: 20 }) as const;
