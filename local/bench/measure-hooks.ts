import { performance } from 'node:perf_hooks';
import { deployAtOnce, sumOf } from './deployment-calls.ts';
import { type Figure, none, shown } from './figures.ts';
import type { BenchResult } from './measure-run.ts';

/** A deployment through CodeDeploy to all instances at once, each with a run of its own, measured against half of ELB's rates. */
export async function measureHooks(instances: number): Promise<BenchResult> {
  const began = performance.now();
  const { simulated, throttled, fullest, calls } = await deployAtOnce(instances);
  const realSeconds = (performance.now() - began) / 1000;
  const alone = sumOf((await deployAtOnce(1)).calls);
  const { deployment, violations, measures, stack } = simulated;
  const unended = [...(stack?.executions.all() ?? [])].filter(({ status }) => status !== 'SUCCEEDED');
  const figures: Figure[] = [
    none('failed deployments', deployment.outcome === 'succeeded' ? 0 : 1, deployment.cause),
    none('executions that failed', unended.length, unended[0]?.error),
    none('violated invariants', violations.length, violations[0]?.what),
    none('replaced instances', measures.replaced),
    none('throttled calls', throttled.length, throttled[0]?.action),
    shown('fullest use of a token bucket', 100 * fullest.used, '%', fullest.bucket),
    {
      ...shown('calls of ec2, elasticloadbalancing and autoscaling', sumOf(calls)),
      bound: alone * instances,
      ratio: sumOf(calls) / (alone * instances),
      goal: { of: 'ratio', atMost: 0.5 },
    },
    shown('minutes of the deployment', measures.minutes, 'min'),
    shown('real seconds', realSeconds, 's'),
  ];
  return { instances, figures };
}
