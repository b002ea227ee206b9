import { concurrently } from '../aws/batch.ts';
import { type Finding, type FindingKind, heldByRun, judgeEnded, judgeLive } from '../domain/sweep.ts';
import { type ClosedHooks, closeHooks } from '../hooks/close-hooks.ts';
import { readAllHeld } from '../ledger/all-held.ts';
import { findRuns } from '../ledger/runs.ts';
import { HEALS_AT_ONCE, SWEEP_ACTS_SECONDS } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import { nowSeconds } from '../time.ts';
import { heal } from './heal.ts';
import { readFacts } from './read-facts.ts';

export interface Swept {
  /** Runs that nobody looked after, by what had become of them. */
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** Those whose undo was begun now, or whose remains were ended. */
  readonly healing: readonly string[];
  readonly hooks: ClosedHooks | undefined;
  readonly oldestSeconds: number;
  readonly measures: readonly Measure[];
  /** What could not be read or done: it is tried again with the next sweep, and kept nothing else from being done (R-PARTIAL). */
  readonly failures: readonly unknown[];
}

/**
 * Compares everything that the ledger holds with what looks after it, and sets right what nothing does: events are best
 * effort, the sweep is the truth (R-SWEEP). What one invocation has no time for is left to the next.
 */
export async function sweep(): Promise<Swept> {
  const began = nowSeconds();
  const failures: unknown[] = [];
  const hooks = await closeHooks().catch((error: unknown) => {
    failures.push(error);
    return undefined;
  });
  const { findings, failures: unread } = await find(began);
  failures.push(...unread);
  const healed: Finding[] = [];
  await concurrently(findings, HEALS_AT_ONCE, async finding => {
    if (nowSeconds() > began + SWEEP_ACTS_SECONDS) return;
    try {
      if (await heal(finding)) healed.push(finding);
    } catch (error) {
      failures.push(error);
    }
  });
  const oldestSeconds = Math.max(0, ...findings.map(({ since }) => began - since));
  return {
    found: countByKind(findings),
    healing: healed.map(({ runId }) => runId),
    hooks,
    oldestSeconds,
    measures: [
      ...measureKinds('sweep_found_total', findings),
      ...measureKinds('sweep_healed_total', healed),
      { metric: 'oldest_unhealed_seconds', value: oldestSeconds },
    ],
    failures,
  };
}

async function find(now: number): Promise<{ findings: Finding[]; failures: readonly unknown[] }> {
  const { runs, instances, guards, holds } = await readAllHeld();
  const held = heldByRun({
    instances,
    holds,
    outByGroup: new Map([...guards].map(([arn, guard]) => [arn, guard.outByRun.keys()])),
  });
  const known = new Map([...runs, ...(await findRuns([...held.keys()].filter(runId => !runs.has(runId))))]);
  const live = [...known.values()].filter(run => run.status === 'live');
  const failed = [...held.keys()].flatMap(runId => {
    const run = known.get(runId);
    return run?.outcome === 'failed' ? [run] : [];
  });
  const keptHeld = failed.flatMap(({ runId }) => held.get(runId)?.keptHeld ?? []);
  const facts = await readFacts([...live, ...failed], keptHeld, now);
  const dead = live.flatMap(run => judgeLive(run, facts) ?? []);
  const left = [...held].flatMap(([runId, what]) => {
    const run = known.get(runId);
    return run?.status === 'live' ? [] : (judgeEnded(runId, run, what, facts) ?? []);
  });
  // What has failed to be undone longest comes last: it must not keep the others waiting.
  left.sort((a, b) => b.since - a.since);
  return { findings: [...dead, ...left], failures: facts.failures };
}

const countByKind = (findings: readonly Finding[]): Swept['found'] =>
  Object.fromEntries(
    [...Map.groupBy(findings, ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]),
  );

const measureKinds = (
  metric: 'sweep_found_total' | 'sweep_healed_total',
  findings: readonly Finding[],
): Measure[] => Object.entries(countByKind(findings)).map(([kind, value]) => ({ metric, kind, value }));
