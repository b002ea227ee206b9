import { EC2_BUCKETS, ELB_BUCKETS, type TokenBucket } from '../../functions/core/limits.ts';
import { Throttling } from '../account/throttling.ts';
import { scenario } from '../simulate/scenario.ts';
import { type Simulated, simulate } from '../simulate/simulation.ts';
import type { Call, Gate } from '../wire/contract.ts';

/** What the per-instance runs of one deployment through CodeDeploy ask of AWS, the ledger left out. */
export interface DeploymentCalls {
  readonly simulated: Simulated;
  readonly throttled: readonly Call[];
  /** The bucket that was used most: its name, and the greatest share of it that was ever used. */
  readonly fullest: { readonly bucket: string; readonly used: number };
  /** Calls by `service:action`. */
  readonly calls: ReadonlyMap<string, number>;
}

/** D10: at most half of what Elastic Load Balancing allows the account. */
const halved = ({ capacity, refillPerSecond }: TokenBucket): TokenBucket => ({
  capacity: capacity / 2,
  refillPerSecond: refillPerSecond / 2,
});

const HALF_OF_ELB = {
  all: halved(ELB_BUCKETS.all),
  nonMutating: halved(ELB_BUCKETS.nonMutating),
  targets: halved(ELB_BUCKETS.targets),
  mutating: halved(ELB_BUCKETS.mutating),
};

/**
 * Deploys through CodeDeploy to every instance at once, each with a run of its own. Nothing is served from their target
 * group, so no floor makes any of them wait.
 */
export async function deployAtOnce(instances: number): Promise<DeploymentCalls> {
  const attached: { throttling: Throttling; counter: CallsToAws }[] = [];
  const simulated = await simulate({
    scenario: scenario.parse({
      name: `at-once-${instances}`,
      fleet: {
        instances,
        startUpSeconds: 10,
        autoScaling: { healthChecks: ['EC2'] },
        targetGroups: [
          {
            name: 'web',
            port: 8080,
            served: false,
            attributes: { 'deregistration_delay.timeout_seconds': '30' },
          },
        ],
        checks: [{ port: 8080 }],
      },
      deployment: { through: 'codedeploy', config: 'AllAtOnce', downSeconds: 10 },
    }),
    gates: account => {
      const throttling = new Throttling(account.world, {
        ec2: EC2_BUCKETS,
        elasticLoadBalancing: HALF_OF_ELB,
      });
      const counter = new CallsToAws();
      attached.push({ throttling, counter });
      return [throttling, counter];
    },
  });
  const [probes] = attached;
  if (!probes) throw new Error('the account was not asked for its gates');
  const [fullest = ['', 1]] = [...probes.throttling.leastLeft()].sort(([, a], [, b]) => a - b);
  return {
    simulated,
    throttled: probes.throttling.throttled,
    fullest: { bucket: fullest[0], used: 1 - fullest[1] },
    calls: probes.counter.calls,
  };
}

/** Counts the calls to the services whose rates AWS limits. */
class CallsToAws implements Gate {
  readonly calls = new Map<string, number>();

  before({ service, action }: Call): void {
    if (!['ec2', 'elasticloadbalancing', 'autoscaling'].includes(service)) return;
    const name = `${service}:${action}`;
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
  }
}

export const sumOf = (calls: ReadonlyMap<string, number>): number =>
  [...calls.values()].reduce((sum, count) => sum + count, 0);
