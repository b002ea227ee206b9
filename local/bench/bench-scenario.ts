import { type Scenario, scenario } from '../simulate/scenario.ts';

/** Of these a request can name each instance; more of them would make a payload of more than 100 KB (R-PAYLOAD). */
const NAMED_INSTANCES = 4_000;

/** More of them would only cost time. */
const MOST_OTHERS = 1_000;

/**
 * A fleet in three zones behind two target groups that Auto Scaling watches, deployed to in one run of `instances` and, after
 * that, one of all others: half at a time, up to 1,000. The floor permits it.
 */
export function benchScenario(instances: number, others = Math.min(instances, MOST_OTHERS)): Scenario {
  return scenario.parse({
    name: `bench-${instances}`,
    fleet: {
      instances: instances + others,
      autoScaling: { healthChecks: ['EC2', 'ELB'] },
      targetGroups: [
        {
          name: 'web',
          port: 8080,
          attributes: { 'deregistration_delay.timeout_seconds': '60' },
          traffic: { requestsPerSecond: 200, longShare: 0.05, longMs: 20_000 },
        },
        {
          name: 'api',
          port: 9090,
          attributes: { 'deregistration_delay.timeout_seconds': '30' },
          traffic: { requestsPerSecond: 100 },
        },
      ],
      checks: [{ port: 8080, path: '/health' }],
    },
    deployment: {
      batches: instances,
      downSeconds: 240,
      fleet: instances > NAMED_INSTANCES ? 'codeDeployDeploymentId' : 'instanceIds',
      request: { policy: { minHealthyPercent: Math.floor((100 * others) / (instances + others)) } },
    },
  });
}
