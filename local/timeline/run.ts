import type { BatchRun, Hold, Lane, Mark, Outcome, Phase, PhaseName, Span, TimelineData } from './data.ts';
import { costOf, type ExecutionHistory, readRun } from './phases.ts';

/** One run of a real account, as far as its executions and its record tell of it. */
export interface RunTimelineSettings {
  readonly runId: string;
  /** before-deploy's history, then after-deploy's; one of them may be missing. */
  readonly histories: readonly ExecutionHistory[];
  /** Empty when they are not known. */
  readonly instanceIds: readonly string[];
  /** Auto Scaling groups whose processes stood still while the run had the instances. */
  readonly held: readonly Pick<Hold, 'group' | 'processes'>[];
  readonly outcome: Outcome;
  /** Where what still lasts is cut off, in milliseconds since the epoch. */
  readonly until: number;
  readonly usDollars: number;
}

const DESCRIPTION =
  'Told by the histories of its executions: what the run did and observed for all of its instances together. What happened to a single instance is not in them.';

/** The timeline of a real run. */
export function timelineOfRun(run: RunTimelineSettings): TimelineData {
  const { histories, instanceIds, until } = run;
  const from = Math.min(until, ...histories.flatMap(([first]) => first?.timestamp?.getTime() ?? []));
  const batch: BatchRun = { number: 1, instanceIds, ...readRun(histories, until) };
  const spans = spansOf(batch.phases, until);
  return {
    title: run.runId,
    description: DESCRIPTION,
    facts: [{ name: 'Run', value: run.runId }],
    outcome: run.outcome,
    from,
    to: until,
    endedAt: until,
    measures: {
      minutes: (until - from) / 60_000,
      blindInstanceMinutes: (instanceIds.length * blindMs(spans)) / 60_000,
    },
    cost: { ...costOf(histories), usDollars: run.usDollars },
    lanes: instanceIds.map(instanceId => laneOf(instanceId, spans, batch)),
    batches: [batch],
    holds: holdsOf(run, batch.phases),
  };
}

type Tracks = Lane['tracks'];

/** What the phases say of every instance of the run. */
function spansOf(phases: readonly Phase[], until: number): Tracks {
  const at = (name: PhaseName) => phases.find(phase => phase.name === name);
  const [lead, traffic, deployment, ready, inService, release, undo] = [
    at('lead'),
    at('traffic'),
    at('deployment'),
    at('ready'),
    at('inService'),
    at('release'),
    at('undo'),
  ];
  const given = release ?? undo;
  const back = inService ?? undo;
  const proven = inService?.completed ? inService.to : ready?.completed ? ready.to : undefined;
  return {
    suppression: lead
      ? [
          span('spreading', lead.from, lead.to),
          ...(lead.completed ? [span('suppressed', lead.to, given?.from ?? until)] : []),
          ...(given ? [span('releasing', given.from, given.to)] : []),
        ]
      : [],
    traffic: traffic
      ? [
          span('draining', traffic.from, traffic.to),
          ...(traffic.completed ? [span('out', traffic.to, back?.from ?? until)] : []),
          ...(back ? [span('initial', back.from, back.to)] : []),
          ...(back?.completed ? [span('healthy', back.to, until)] : []),
        ]
      : [],
    application: [
      ...(deployment ? [span('deploying', deployment.from, deployment.to)] : []),
      ...(proven === undefined ? [] : [span('ready', proven, until)]),
    ],
  };
}

const span = (state: Span['state'], from: number, to: number): Span => ({ state, from, to });

function laneOf(instanceId: string, tracks: Tracks, { goAheadAt }: BatchRun): Lane {
  const marks: Mark[] =
    goAheadAt === undefined ? [] : [{ at: goAheadAt, kind: 'go-ahead', text: 'go-ahead for the run' }];
  return { instanceId, zone: '', role: 'fleet', tracks, marks };
}

/** While an instance was suppressed and nobody deployed to it (D41). */
function blindMs({ suppression, application }: Tracks): number {
  const worked = application.filter(({ state }) => state === 'deploying');
  return suppression
    .filter(({ state }) => state !== 'spreading')
    .map(
      ({ from, to }) =>
        to -
        from -
        worked.reduce((sum, one) => sum + Math.max(0, Math.min(to, one.to) - Math.max(from, one.from)), 0),
    )
    .reduce((sum, ms) => sum + ms, 0);
}

/** Suspended with the first act on the traffic, resumed before the release or in the undo. */
function holdsOf({ held, until }: RunTimelineSettings, phases: readonly Phase[]): Hold[] {
  const began = phases.find(({ name }) => name === 'traffic')?.from;
  if (began === undefined) return [];
  const release = phases.find(({ name }) => name === 'release');
  const undo = phases.find(({ name }) => name === 'undo');
  return held.map(hold => ({ ...hold, from: began, to: release?.from ?? undo?.to ?? until }));
}
