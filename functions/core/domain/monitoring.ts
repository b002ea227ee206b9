/** What an account may have of application status checks. A target is an instance under a check. */
export interface CheckQuotas {
  readonly checks: number;
  readonly associations: number;
  readonly associationsPerCheck: number;
  readonly targets: number;
}

export interface QuotaUsage {
  readonly quota: keyof CheckQuotas;
  readonly used: number;
  readonly of: number;
}

/** An instance that a check is associated with, by a tag or by its id. Times are milliseconds since the epoch. */
export interface ExpectedTarget {
  readonly checkId: string;
  readonly instanceId: string;
  readonly isRunning: boolean;
  readonly launchedAt: number | undefined;
}

export type Target = Pick<ExpectedTarget, 'checkId' | 'instanceId'>;

export const targetKey = ({ checkId, instanceId }: Target): string => `${instanceId} ${checkId}`;

/** How much of each quota is used, the fullest first. */
export function quotaUsage(
  { checks, associations }: { readonly checks: number; readonly associations: readonly string[] },
  targets: readonly ExpectedTarget[],
  quotas: CheckQuotas,
): QuotaUsage[] {
  const byCheck = Map.groupBy(associations, checkId => checkId);
  const running = targets.filter(({ isRunning }) => isRunning);
  const used: CheckQuotas = {
    checks,
    associations: associations.length,
    associationsPerCheck: Math.max(0, ...[...byCheck.values()].map(of => of.length)),
    targets: new Set(running.map(targetKey)).size,
  };
  return (['checks', 'associations', 'associationsPerCheck', 'targets'] as const)
    .map(quota => ({ quota, used: used[quota], of: quotas[quota] }))
    .sort((a, b) => percentOf(b) - percentOf(a));
}

/** A quota of nothing is used up by anything, and by nothing. */
export const percentOf = ({ used, of }: QuotaUsage): number => (of > 0 ? (100 * used) / of : 100);

/**
 * Targets that EC2 reports nothing on although they have run for long enough: what is beyond the quota is not monitored, and
 * says nothing (D47). In the order of their ids.
 */
export function unmonitoredTargets(
  expected: readonly ExpectedTarget[],
  reported: ReadonlySet<string>,
  nowMs: number,
  patienceSeconds: number,
): Target[] {
  const isSilent = (target: ExpectedTarget) =>
    target.isRunning &&
    (target.launchedAt ?? 0) < nowMs - patienceSeconds * 1000 &&
    !reported.has(targetKey(target));
  return [...new Map(expected.filter(isSilent).map(one => [targetKey(one), one])).values()]
    .map(({ checkId, instanceId }) => ({ checkId, instanceId }))
    .sort((a, b) => targetKey(a).localeCompare(targetKey(b)));
}
