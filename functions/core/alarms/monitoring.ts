import { everyApplicationStatus } from '../aws/application-status.ts';
import { concurrently } from '../aws/batch.ts';
import { associationValue, type CheckAssociation, checkAssociations } from '../aws/check-associations.ts';
import { allChecks } from '../aws/checks.ts';
import { describeInstances, type InstanceFacts, instancesWithTag } from '../aws/instances.ts';
import {
  type CheckQuotas,
  type ExpectedTarget,
  type QuotaUsage,
  quotaUsage,
  type Target,
  targetKey,
  unmonitoredTargets,
} from '../domain/monitoring.ts';
import { DESCRIBES_AT_ONCE, UNMONITORED_SECONDS } from '../limits.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';

/** How well the account's checks are monitored. */
export interface Monitoring {
  /** The fullest first. */
  readonly quotas: readonly QuotaUsage[];
  /** Of checks with the tag. */
  readonly unmonitored: readonly Target[];
}

/**
 * Counts what the account has of checks, associations and targets against its quotas, and finds the targets of our checks that
 * nothing is reported on. A read for each tag that a check is associated with, 200 at the most, besides those of all statuses.
 */
export async function readMonitoring({ key, value }: OptInTag, quotas: CheckQuotas): Promise<Monitoring> {
  const [checks, associations] = await Promise.all([allChecks(), checkAssociations()]);
  const [targets, statuses] = await Promise.all([targetsOf(associations), everyApplicationStatus()]);
  const ours = new Set(
    checks
      .filter(({ Tags = [] }) => Tags.some(tag => tag.Key === key && tag.Value === value))
      .map(({ ApplicationStatusCheckId }) => ApplicationStatusCheckId),
  );
  const reported = new Set(
    statuses.flatMap(({ instanceId, checks: results }) =>
      results.map(({ checkId }) => targetKey({ instanceId, checkId })),
    ),
  );
  return {
    quotas: quotaUsage(
      { checks: checks.length, associations: associations.map(({ checkId }) => checkId) },
      targets,
      quotas,
    ),
    unmonitored: unmonitoredTargets(
      targets.filter(({ checkId }) => ours.has(checkId)),
      reported,
      nowSeconds() * 1000,
      UNMONITORED_SECONDS,
    ),
  };
}

async function targetsOf(associations: readonly CheckAssociation[]): Promise<ExpectedTarget[]> {
  const byTag = associations.filter(one => 'tag' in one);
  const tags = new Map(byTag.map(one => [associationValue(one), one.tag]));
  const tagged = await concurrently([...tags], DESCRIBES_AT_ONCE, async ([tag, { key, value }]) => {
    const found = await instancesWithTag(key, value);
    const checks = byTag.filter(one => associationValue(one) === tag);
    return checks.flatMap(({ checkId }) => found.map(instance => toTarget(checkId, instance)));
  });
  const byId = associations.filter(one => 'instanceId' in one);
  const instances = [...(await describeInstances(byId.map(({ instanceId }) => instanceId))).values()];
  const named = instances.flatMap(instance =>
    byId
      .filter(({ instanceId }) => instanceId === instance.id)
      .map(({ checkId }) => toTarget(checkId, instance)),
  );
  return [...tagged.flat(), ...named];
}

const toTarget = (checkId: string, { id, state, launchedAt }: InstanceFacts): ExpectedTarget => ({
  checkId,
  instanceId: id,
  isRunning: state === 'running',
  launchedAt: launchedAt?.getTime(),
});
