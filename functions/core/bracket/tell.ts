import { type Announcement, announce, type Topic } from '../domain/announcement.ts';
import { findInstances } from '../ledger/instances.ts';
import type { Claim, RunRecord } from '../ledger/items.ts';
import { findRun, markTold } from '../ledger/runs.ts';
import { isRunId } from '../request.ts';
import { nowSeconds } from '../time.ts';

/** Every member is always there (D15). */
export interface News extends Omit<Announcement, 'detail'> {
  /** Is there anything that people were not told yet? */
  readonly isNews: boolean;
  readonly what: string;
  readonly detail: Announcement['detail'] | Record<string, never>;
}

const NOTHING: News = { isNews: false, what: '', subject: '', message: '', detailType: '', detail: {} };

/**
 * What people are to be told of a run whose machine has failed, from what the ledger says of it now. Nothing of a run that
 * was refused before it did anything, which its caller knows, and nothing twice.
 */
export async function compose(
  runId: string,
  failure: { readonly error: string; readonly cause: string },
): Promise<News> {
  const run = isRunId(runId) ? await findRun(runId) : undefined;
  if (!run?.acted || run.outcome === 'succeeded') return NOTHING;
  const claims = [...(await findInstances(run.plan.instanceIds)).values()].flatMap(
    ({ claims }) => claims.get(runId) ?? [],
  );
  const what = topicOf(run, claims);
  if (run.told?.includes(what)) return NOTHING;
  const announcement = announce({
    runId,
    what,
    ...failure,
    instanceIds: run.plan.instanceIds,
    left: claims.map(({ member: { instanceId }, fate }) => ({
      instanceId,
      reason: fate?.reason ?? 'still claimed by the run',
    })),
    endedAt: run.endedAt ?? nowSeconds(),
    heldUntil: run.heldUntil,
  });
  return { isNews: true, what, ...announcement };
}

function topicOf(run: RunRecord, claims: readonly Claim[]): Topic {
  const isHeld = ({ fate }: Claim) => fate?.how === 'held';
  if (run.status === 'live' || claims.some(claim => !isHeld(claim))) return 'unfinished';
  if (claims.length > 0) return 'held';
  return run.told?.includes('held') ? 'given-back' : 'failed';
}

/** People were told. Written afterwards, so that what fails in between is told again (at least once). */
export async function remember(runId: string, what: string): Promise<{ readonly told: boolean }> {
  return { told: await markTold(runId, what) };
}
