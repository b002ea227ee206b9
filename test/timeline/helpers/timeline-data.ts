import type { Lane, Mark, Span, TimelineData } from '../../../local/timeline/data.ts';

const START = Date.UTC(2026, 10, 30, 9);
const MINUTE = 60_000;
const at = (minutes: number) => START + minutes * MINUTE;
const span = (state: Span['state'], from: number, to: number): Span => ({
  state,
  from: at(from),
  to: at(to),
});

const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'] as const;

/** A timeline of half an hour: the first half of the instances passes through the bracket, one of them is replaced. */
export function timelineData(instances: number, changes: Partial<TimelineData> = {}): TimelineData {
  const lanes = Array.from({ length: instances }, (_, index) => lane(index, index < instances / 2));
  const ids = lanes.slice(0, Math.ceil(instances / 2)).map(({ instanceId }) => instanceId);
  return {
    title: 'rolling',
    description: 'Half at a time.',
    facts: [{ name: 'Seed', value: '1' }],
    outcome: { status: 'failed', error: 'BudgetSpent', cause: 'A check still failed.' },
    from: START,
    to: at(30),
    endedAt: at(25),
    measures: { replaced: 1, requests: { sent: 3600, failed: 12 }, minutes: 25, blindInstanceMinutes: 8.5 },
    cost: { stateTransitions: 291, lambdaInvocations: 101, usDollars: 0.0075 },
    lanes,
    batches: [
      {
        number: 1,
        instanceIds: ids,
        goAheadAt: at(4),
        error: 'BudgetSpent',
        phases: [
          { name: 'before', from: START, to: at(4), budgetSeconds: 1080, completed: true },
          { name: 'lead', from: START, to: at(3.5), budgetSeconds: 600, completed: true },
          { name: 'deployment', from: at(4), to: at(8), budgetSeconds: 3600, completed: true },
          { name: 'ready', from: at(8), to: at(23), budgetSeconds: 900, completed: false },
          { name: 'undo', from: at(23), to: at(25), completed: true },
        ],
      },
    ],
    holds: [{ group: 'web', processes: ['HealthCheck', 'ReplaceUnhealthy'], from: START, to: at(20) }],
    traffic: {
      bucketMs: MINUTE,
      buckets: Array.from({ length: 30 }, (_, index) =>
        index === 5
          ? { sent: 120, failed: 12, causes: { 'no-target': 10, cut: 2 } }
          : { sent: 120, failed: 0, causes: {} },
      ),
    },
    violations: [{ at: at(24), rule: 'invariant 3', what: `12 requests failed at ${ids[0]}` }],
    ...changes,
  };
}

function lane(index: number, deployed: boolean): Lane {
  const instanceId = `i-${(0xabc00000 + index).toString(16).padStart(17, '0')}`;
  const zone = ZONES[index % ZONES.length] ?? ZONES[0];
  if (!deployed)
    return {
      instanceId,
      zone,
      role: 'fleet',
      tracks: { suppression: [], traffic: [span('healthy', 0, 30)], application: [span('ready', 0, 30)] },
      marks: [],
    };
  const goAhead: Mark = { at: at(4), kind: 'go-ahead', text: 'go-ahead for batch 1' };
  return {
    instanceId,
    zone,
    role: 'fleet',
    tracks: {
      suppression: [span('spreading', 0, 3), span('suppressed', 3, 20), span('releasing', 20, 22)],
      traffic: [
        span('draining', 0, 1),
        span('out', 1, 15),
        span('initial', 15, 16),
        span('unhealthy', 16, 18),
        span('healthy', 18, 30),
      ],
      application: [
        span('ready', 0, 4),
        span('deploying', 4, 8),
        { ...span('not-ready', 8, 12), note: 'ConnectionRefused' },
        ...(index === 0
          ? [span('impaired', 12, 14), span('replaced', 14, 30)]
          : [span('initializing', 12, 14), span('ready', 14, 30)]),
      ],
    },
    marks:
      index === 0
        ? [goAhead, { at: at(13), kind: 'marked-unhealthy', text: 'marked Unhealthy by elb' }]
        : [goAhead],
  };
}
