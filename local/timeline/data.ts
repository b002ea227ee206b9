/**
 * One deployment as a timeline shows it, whatever it was read from: a simulation, or a real account's execution
 * histories and ledger. Plain JSON. Every time is milliseconds since the epoch.
 */
export interface TimelineData {
  readonly title: string;
  readonly description: string;
  /** What identifies the run, for people: for example its seed. */
  readonly facts: readonly Fact[];
  readonly outcome: Outcome;
  /** What is shown. `endedAt` is when the deployment was over; what it set in motion may show until `to`. */
  readonly from: number;
  readonly to: number;
  readonly endedAt: number;
  readonly measures: TimelineMeasures;
  readonly cost: Cost;
  /** In the order in which they are deployed to, then instances that were launched meanwhile, then bystanders. */
  readonly lanes: readonly Lane[];
  readonly batches: readonly BatchRun[];
  readonly holds: readonly Hold[];
  /** Absent when nobody counted requests. */
  readonly traffic?: TrafficSeries;
  /** Absent when nobody checked what must always hold. */
  readonly violations?: readonly TimelineViolation[];
}

export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface Outcome {
  readonly status: 'running' | 'succeeded' | 'refused' | 'failed';
  /** The named error and its sentence; empty when there is none. */
  readonly error: string;
  readonly cause: string;
}

export interface TimelineMeasures {
  /** Instances that Auto Scaling ended for their health. Absent when nobody counted them. */
  readonly replaced?: number;
  /** Absent when nobody counted requests. */
  readonly requests?: { readonly sent: number; readonly failed: number };
  readonly minutes: number;
  /** Minutes in which an instance was suppressed and nobody worked on it (D41). */
  readonly blindInstanceMinutes: number;
}

export interface Cost {
  /** Of the batches' own executions: states entered, and attempts that were repeated. */
  readonly stateTransitions: number;
  readonly lambdaInvocations: number;
  readonly usDollars?: number;
}

/** What an instance is seen from at once: three tracks, each in at most one state at a time. */
export const trackStates = {
  suppression: ['spreading', 'suppressed', 'releasing'],
  /** Over all of the instance's targets; `out` when none is registered any more. */
  traffic: ['healthy', 'initial', 'unhealthy', 'draining', 'out'],
  application: [
    'ready',
    'launching',
    'initializing',
    'not-ready',
    'impaired',
    'deploying',
    'replaced',
    'terminated',
  ],
} as const;

export type Track = keyof typeof trackStates;
export type SpanState = (typeof trackStates)[Track][number];

export interface Lane {
  readonly instanceId: string;
  /** Empty when it is not known. */
  readonly zone: string;
  readonly role: 'fleet' | 'launched' | 'bystander';
  readonly tracks: Readonly<Record<Track, readonly Span[]>>;
  readonly marks: readonly Mark[];
}

export interface Span {
  readonly state: SpanState;
  readonly from: number;
  readonly to: number;
  /** For people: for example the reason that the service gives. */
  readonly note?: string;
}

export interface Mark {
  readonly at: number;
  readonly kind: 'go-ahead' | 'marked-unhealthy' | 'ended-by-auto-scaling' | 'violation' | 'ended';
  readonly text: string;
}

/** One batch's passage through the bracket. */
export interface BatchRun {
  /** From 1. */
  readonly number: number;
  readonly instanceIds: readonly string[];
  /** Absent when the batch got no go-ahead, or needed none because nothing protected it. */
  readonly goAheadAt?: number;
  /** The named error of the execution that failed; empty when none did. */
  readonly error: string;
  readonly phases: readonly Phase[];
}

export const phaseNames = [
  'queue',
  'before',
  'lead',
  'traffic',
  'deployment',
  'ready',
  'inService',
  'readyAgain',
  'release',
  'undo',
] as const;
export type PhaseName = (typeof phaseNames)[number];

export interface Phase {
  readonly name: PhaseName;
  readonly from: number;
  readonly to: number;
  /** What the plan allowed; absent where the plan sets no bound. */
  readonly budgetSeconds?: number;
  /** False when it broke off. */
  readonly completed: boolean;
}

/** Processes of an Auto Scaling group that stood still (D4). */
export interface Hold {
  readonly group: string;
  readonly processes: readonly string[];
  readonly from: number;
  readonly to: number;
}

export interface TrafficSeries {
  readonly bucketMs: number;
  /** Without gaps, from the timeline's `from` on. */
  readonly buckets: readonly TrafficBucket[];
}

export interface TrafficBucket {
  readonly sent: number;
  /** Requests that failed in this bucket; they may have been sent in an earlier one. */
  readonly failed: number;
  /** How many failed of each cause; causes without any are absent. */
  readonly causes: Readonly<Record<string, number>>;
}

export interface TimelineViolation {
  readonly at: number;
  /** What was broken, for people: for example `invariant 3`. */
  readonly rule: string;
  readonly what: string;
}
