import { type Announcement, announce, type RunDetail, type Topic } from '../domain/announcement.ts';
import { shellLine } from '../domain/aws-cli.ts';
import { closeByHand } from '../domain/by-hand.ts';
import { findHold } from '../ledger/auto-scaling-holds.ts';
import { findInstances } from '../ledger/instances.ts';
import type { Claim, InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun, markTold } from '../ledger/runs.ts';
import { readGuards } from '../ledger/target-group-guards.ts';
import { STANDBY_INSTANCES, SUPPRESSION_INSTANCES, TARGETS_PER_CALL } from '../limits.ts';
import { isRunId } from '../request.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { instancesOf } from './members.ts';

/** Every member is always there (D15). */
export interface News<Detail> extends Omit<Announcement<Detail>, 'detail'> {
  /** Is there anything that people were not told yet? */
  readonly isNews: boolean;
  readonly what: string;
  readonly detail: Detail | Record<string, never>;
}

export const NOTHING: News<never> = {
  isNews: false,
  what: '',
  subject: '',
  message: '',
  detailType: '',
  detail: {},
};

/**
 * What people are to be told of a run whose machine has failed, from what the ledger says of it now. Nothing of a run that
 * was refused before it did anything, which its caller knows, and nothing twice.
 */
export async function compose(
  runId: string,
  failure: { readonly error: string; readonly cause: string },
): Promise<News<RunDetail>> {
  const run = isRunId(runId) ? await findRun(runId) : undefined;
  if (!run?.acted || run.outcome === 'succeeded') return NOTHING;
  const records = [...(await findInstances(instancesOf(run))).values()];
  const claims = records.flatMap(({ claims }) => claims.get(runId) ?? []);
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
    byHand: what === 'held' || what === 'unfinished' ? await byHand(run, records) : [],
  });
  return { isNews: true, what, ...announcement };
}

function topicOf(run: RunRecord, claims: readonly Claim[]): Topic {
  const isHeld = ({ fate }: Claim) => fate?.how === 'held';
  if (run.status === 'live' || claims.some(claim => !isHeld(claim))) return 'unfinished';
  if (claims.length > 0) return 'held';
  return run.told?.includes('held') ? 'given-back' : 'failed';
}

/** More characters would be no message any more, and the command line prints them all. */
const LONGEST_BY_HAND = 16_000;

/** Nothing of who is in Standby is in the ledger: there only the command line, which asks Auto Scaling, knows the calls. */
async function byHand(run: RunRecord, instances: readonly InstanceRecord[]): Promise<string[]> {
  const { runId, status, plan } = run;
  if (plan.holdings.some(({ mode }) => mode === 'standby')) return [];
  const holds = await Promise.all(plan.holdings.map(({ group }) => findHold(group)));
  const guards = await readGuards(plan.groups.map(({ arn }) => arn));
  const { steps } = closeByHand(
    {
      runId,
      status,
      plan,
      running: [],
      instances,
      holds: plan.holdings.flatMap(({ group }, index) => {
        const hold = holds[index];
        return hold ? [{ group, ...hold }] : [];
      }),
      outByGroup: new Map([...guards].map(([arn, { outByRun }]) => [arn, [...outByRun.keys()]])),
      inStandby: new Set(),
    },
    setting('LEDGER_TABLE'),
    { targets: TARGETS_PER_CALL, suppressions: SUPPRESSION_INSTANCES, standby: STANDBY_INSTANCES },
    nowSeconds(),
  );
  const lines = steps.flatMap(({ say, commands }) => [`# ${say}`, ...commands.map(shellLine)]);
  return lines.join('\n').length > LONGEST_BY_HAND ? [] : lines;
}

/** People were told. Written afterwards, so that what fails in between is told again (at least once). */
export async function remember(runId: string, what: string): Promise<{ readonly told: boolean }> {
  return { told: await markTold(runId, what) };
}
