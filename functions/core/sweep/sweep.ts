import { concurrently } from '../aws/batch.ts';
import { type Finding, type FindingKind, heldByRun, judgeEnded, judgeLive } from '../domain/sweep.ts';
import { type ClosedHooks, closeHooks } from '../hooks/close-hooks.ts';
import type { AdoptionRecord } from '../ledger/adoptions.ts';
import { readAllHeld } from '../ledger/all-held.ts';
import type { Demotion } from '../ledger/demotions.ts';
import type { RetirementRecord } from '../ledger/retirements.ts';
import { findRuns } from '../ledger/runs.ts';
import type { Succession } from '../ledger/successions.ts';
import { HEALS_AT_ONCE, SWEEP_ACTS_SECONDS } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import { nowSeconds } from '../time.ts';
import { endIfAbandoned } from './abandoned-adoptions.ts';
import { goOnIfAbandoned } from './abandoned-retirements.ts';
import { forgetGoneDemotions } from './demotions.ts';
import { heal } from './heal.ts';
import { readFacts } from './read-facts.ts';
import { endSuccession } from './successions.ts';

export interface Swept {
  /** Runs that nobody looked after, by what had become of them. */
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** Those whose undo was begun now, or whose remains were ended. */
  readonly healing: readonly string[];
  /** Auto Scaling groups whose adoption of a check nothing looked after: its undo was begun now. */
  readonly adoptions: readonly string[];
  /** Checks, or security groups, whose retirement nothing looked after: another execution goes on with it now. */
  readonly retirements: readonly string[];
  /** Blue/green deployments that a group of is gone: the checks were taken off it. */
  readonly successions: readonly string[];
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
  const { findings, abandoned, retiring, succeeding, demotions, failures: unread } = await find(began);
  failures.push(...unread);
  const each = <T>(items: readonly T[], act: (item: T) => Promise<void>) =>
    concurrently(items, HEALS_AT_ONCE, async item => {
      if (nowSeconds() > began + SWEEP_ACTS_SECONDS) return;
      await act(item).catch((error: unknown) => failures.push(error));
    });
  const healed: Finding[] = [];
  await each(findings, async finding => {
    if (await heal(finding)) healed.push(finding);
  });
  const adoptions: string[] = [];
  await each(abandoned, async adoption => {
    if (await endIfAbandoned(adoption)) adoptions.push(adoption.group);
  });
  const retirements: string[] = [];
  await each(retiring, async retirement => {
    if (await goOnIfAbandoned(retirement)) retirements.push(retirement.subject);
  });
  const successions: string[] = [];
  await each(succeeding, async succession => {
    if (await endSuccession(succession)) successions.push(succession.deploymentId);
  });
  await forgetGoneDemotions(demotions).catch((error: unknown) => failures.push(error));
  const oldestSeconds = Math.max(0, ...findings.map(({ since }) => began - since));
  return {
    found: countByKind(findings),
    healing: healed.map(({ runId }) => runId),
    adoptions,
    retirements,
    successions,
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

interface Found {
  readonly findings: readonly Finding[];
  readonly abandoned: readonly AdoptionRecord[];
  readonly retiring: readonly RetirementRecord[];
  readonly succeeding: readonly Succession[];
  readonly demotions: readonly Demotion[];
  readonly failures: readonly unknown[];
}

async function find(now: number): Promise<Found> {
  const { runs, instances, guards, holds, adoptions, retirements, successions, demotions } =
    await readAllHeld();
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
  return {
    findings: [...dead, ...left],
    abandoned: adoptions,
    retiring: retirements,
    succeeding: successions,
    demotions,
    failures: facts.failures,
  };
}

const countByKind = (findings: readonly Finding[]): Swept['found'] =>
  Object.fromEntries(
    [...Map.groupBy(findings, ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]),
  );

const measureKinds = (
  metric: 'sweep_found_total' | 'sweep_healed_total',
  findings: readonly Finding[],
): Measure[] => Object.entries(countByKind(findings)).map(([kind, value]) => ({ metric, kind, value }));
