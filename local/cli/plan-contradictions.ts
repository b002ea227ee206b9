import { applicationStatusChecks } from '../../functions/core/aws/application-status.ts';
import { targetGroups } from '../../functions/core/aws/elastic-load-balancing.ts';
import type { PlannedRun } from '../../functions/core/bracket/plan-run.ts';
import { contradictionsOf } from '../../functions/core/domain/contradictions.ts';

/** Health check settings of the fleet that contradict each other: no reason to refuse a run, and one to look. */
export async function contradictionsIn({ plan, members }: PlannedRun): Promise<string[]> {
  const ids = members.flatMap(({ includedChecks, excludedChecks }) => [...includedChecks, ...excludedChecks]);
  const [groups, checks] = await Promise.all([
    targetGroups(plan.groups.map(({ arn }) => arn)),
    applicationStatusChecks([...new Set(ids)]),
  ]);
  return contradictionsOf({
    groups: groups.map(({ name, healthCheck: { path, matcher, ...times } }) => ({
      ...times,
      name,
      path,
      matcher,
    })),
    checks: [...checks.values()].map(check => ({ ...check, name: check.id })),
    application: {},
  });
}
