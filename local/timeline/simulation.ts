import type { Entry } from '../account/journal.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Batch } from '../simulate/deployment.ts';
import type { Scenario } from '../simulate/scenario.ts';
import type { Simulated } from '../simulate/simulation.ts';
import type { BatchRun, Hold, Lane, Mark, Phase, TimelineData } from './data.ts';
import { InstanceView } from './instance-view.ts';
import { costOf, readRun } from './phases.ts';
import { trafficSeries } from './traffic-series.ts';

export interface TimelineSettings {
  readonly scenario: Scenario;
  /** The scenario's own unless given. */
  readonly seed?: number;
  /** What the state transitions and invocations cost. */
  readonly usDollars?: number;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** The timeline of a simulated deployment, with Quiesce or without. */
export function timelineOfSimulation(
  simulated: Simulated,
  { scenario, seed = scenario.seed, usDollars }: TimelineSettings,
): TimelineData {
  const { account, deployment, measures, startedAt, endedAt, stack, violations } = simulated;
  const { entries } = account.world.journal;
  const window = { from: startedAt, to: lastNews(simulated) };
  const batches = deployment.batches.map((batch, index) => batchRun(batch, index, entries, endedAt));
  const histories = deployment.batches.flatMap(batch => batch.executions.map(historyOf));
  const traffic = trafficSeries(window, account.traffic.sentBySecond(), entries);
  const told = violations.map(({ at, invariant, what }) => ({ at, rule: `invariant ${invariant}`, what }));
  return {
    title: scenario.name,
    description: scenario.description,
    facts: [
      { name: 'Seed', value: String(seed) },
      { name: 'Protection', value: stack ? 'with Quiesce' : 'without Quiesce' },
    ],
    outcome: { status: deployment.outcome, error: deployment.error, cause: deployment.cause },
    ...window,
    endedAt,
    measures: {
      replaced: measures.replaced,
      minutes: measures.minutes,
      blindInstanceMinutes: measures.blindInstanceMinutes,
      ...(traffic && { requests: { sent: measures.requestsSent, failed: measures.requestsFailed } }),
    },
    cost: { ...costOf(histories), ...(usDollars !== undefined && { usDollars }) },
    lanes: lanesOf(simulated, window, batches),
    batches,
    holds: holdsOf(entries, window),
    ...(traffic && { traffic }),
    violations: told,
  };
}

/** What checks go on to see is no news of the deployment, nor is what state machines do after it. */
const NEWS: ReadonlySet<Entry['type']> = new Set([
  'instance',
  'suppression',
  'target',
  'application-status',
  'marked-unhealthy',
  'activity',
  'process',
  'requests-failed',
]);

/** When the deployment was over and everything that it set in motion had shown. */
function lastNews({ account, violations, endedAt, seenUntil }: Simulated): number {
  const { entries } = account.world.journal;
  const last = entries.findLast(({ type, at }) => NEWS.has(type) && at <= seenUntil)?.at ?? endedAt;
  return Math.max(endedAt, last, ...violations.map(({ at }) => at));
}

const historyOf = (execution: Batch['executions'][number]) => execution.history.events();

function batchRun(batch: Batch, index: number, entries: readonly Entry[], endedAt: number): BatchRun {
  const told = { number: index + 1, instanceIds: batch.instanceIds };
  if (batch.executions.length > 0) return { ...told, ...readRun(batch.executions.map(historyOf), endedAt) };
  return { ...told, error: '', phases: unprotected(batch, entries, endedAt) };
}

/** Without Quiesce all that can be seen of a batch is its installation. */
function unprotected({ instanceIds }: Batch, entries: readonly Entry[], endedAt: number): Phase[] {
  const [first = ''] = instanceIds;
  const at = (state: 'installing' | 'installed') =>
    entries.find(
      entry => entry.type === 'deployment' && entry.state === state && entry.instanceIds.includes(first),
    )?.at;
  const from = at('installing');
  const to = at('installed');
  if (from === undefined) return [];
  return [{ name: 'deployment', from, to: to ?? endedAt, completed: to !== undefined }];
}

function lanesOf(
  { account, fleet, violations }: Simulated,
  window: Window,
  batches: readonly BatchRun[],
): readonly Lane[] {
  const { ec2, world } = account;
  const known = new Map<string, Instance>(fleet.instances.map(instance => [instance.id, instance]));
  for (const instance of ec2.visible()) known.set(instance.id, instance);
  const byAddress = new Map(
    [...known.values()].flatMap(({ id, privateAddresses }) =>
      privateAddresses.map(address => [address, id] as const),
    ),
  );
  const views = new Map(fleet.instances.map(({ id }) => [id, new InstanceView(window.from)]));
  const launched = new Set<string>();
  for (const entry of world.journal.entries) {
    if (entry.at > window.to) break;
    if (entry.type === 'instance' && !views.has(entry.instanceId)) {
      views.set(entry.instanceId, new InstanceView(window.from));
      if (entry.at >= window.from) launched.add(entry.instanceId);
    }
    for (const id of concerned(entry, byAddress)) views.get(id)?.hear(entry);
  }
  for (const [id, mark] of [...goAheads(batches), ...violationMarks(violations)]) views.get(id)?.mark(mark);

  const ours = new Set(fleet.instances.map(({ id }) => id));
  const lanes = [...views].map(([instanceId, view]): Lane => {
    const role = ours.has(instanceId) ? 'fleet' : launched.has(instanceId) ? 'launched' : 'bystander';
    return { instanceId, zone: known.get(instanceId)?.zone ?? '', role, ...view.lane(window.to) };
  });
  const place = { fleet: 0, launched: 1, bystander: 2 } as const;
  return lanes.toSorted((a, b) => place[a.role] - place[b.role]);
}

/** The instances that an entry tells of; an address stands for its instance. */
function concerned(entry: Entry, byAddress: ReadonlyMap<string, string>): readonly string[] {
  if ('instanceIds' in entry) return entry.instanceIds;
  if ('instanceId' in entry) return [entry.instanceId];
  return entry.type === 'target' ? [byAddress.get(entry.id) ?? entry.id] : [];
}

function goAheads(batches: readonly BatchRun[]): [string, Mark][] {
  return batches.flatMap(({ number, instanceIds, goAheadAt }) =>
    goAheadAt === undefined
      ? []
      : instanceIds.map((id): [string, Mark] => [
          id,
          { at: goAheadAt, kind: 'go-ahead', text: `go-ahead for batch ${number}` },
        ]),
  );
}

const INSTANCE_ID = /\bi-[0-9a-f]{8,17}\b/g;

function violationMarks(violations: Simulated['violations']): [string, Mark][] {
  return violations.flatMap(({ at, invariant, what }) =>
    [...new Set(what.match(INSTANCE_ID))].map((id): [string, Mark] => [
      id,
      { at, kind: 'violation', text: `breaks invariant ${invariant}: ${what}` },
    ]),
  );
}

/** Processes of one group that stood still for the same time are one hold. */
function holdsOf(entries: readonly Entry[], window: Window): readonly Hold[] {
  const open = new Map<string, { readonly group: string; readonly process: string; readonly from: number }>();
  const holds = new Map<string, Hold>();
  const close = (key: string, to: number) => {
    const began = open.get(key);
    open.delete(key);
    if (!began || to <= window.from) return;
    const { group, process } = began;
    const from = Math.max(began.from, window.from);
    const together = `${group} ${from} ${to}`;
    const processes = [...(holds.get(together)?.processes ?? []), process];
    holds.set(together, { group, processes, from, to });
  };
  for (const entry of entries) {
    if (entry.type !== 'process' || entry.at > window.to) continue;
    const { group, process, at, suspended } = entry;
    const key = `${group} ${process}`;
    if (suspended) open.set(key, { group, process, from: at });
    else close(key, at);
  }
  for (const key of [...open.keys()]) close(key, window.to);
  return [...holds.values()].toSorted((a, b) => a.from - b.from);
}
