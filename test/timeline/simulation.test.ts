import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entry } from '../../local/account/journal.ts';
import { readScenario } from '../../local/simulate/scenario.ts';
import { type Simulated, simulate } from '../../local/simulate/simulation.ts';
import type { Lane, Span, TimelineData, Track } from '../../local/timeline/data.ts';
import { timelineOfSimulation } from '../../local/timeline.ts';

const scenario = readScenario(fileURLToPath(new URL('../../scenarios/rolling.yaml', import.meta.url)));

const stateAt = (lane: Lane, track: Track, at: number): Span['state'] | undefined =>
  lane.tracks[track].find(({ from, to }) => from <= at && at < to)?.state;

const laneOf = ({ lanes }: TimelineData, id: string | undefined): Lane => {
  const lane = lanes.find(({ instanceId }) => instanceId === id);
  if (!lane) throw new Error(`no lane shows ${id}`);
  return lane;
};

function expectOrderedSpans({ lanes, from, to }: TimelineData): void {
  for (const { instanceId, tracks } of lanes)
    for (const spans of Object.values(tracks)) {
      const times = spans.flatMap(span => [span.from, span.to]);
      expect(times, instanceId).toEqual(times.toSorted((a, b) => a - b));
      expect(times.every(time => from <= time && time <= to)).toBe(true);
    }
}

describe('a protected deployment', () => {
  let simulated: Simulated;
  let data: TimelineData;
  beforeAll(async () => {
    simulated = await simulate({ scenario });
    data = timelineOfSimulation(simulated, { scenario, usDollars: 0.25 });
  });

  test('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(data))).toEqual(data);
    expect(data).toMatchObject({
      title: 'rolling',
      outcome: { status: 'succeeded' },
      cost: { usDollars: 0.25 },
    });
  });

  test('has a lane an instance, in which nothing overlaps', () => {
    expect(data.lanes.map(({ instanceId }) => instanceId)).toEqual(
      simulated.fleet.instances.map(({ id }) => id),
    );
    expectOrderedSpans(data);
  });

  test('D36: at each go-ahead every instance of the batch is suppressed and out of traffic', () => {
    expect(data.batches).toHaveLength(2);
    for (const { instanceIds, goAheadAt = 0 } of data.batches)
      for (const id of instanceIds) {
        const lane = laneOf(data, id);
        expect(stateAt(lane, 'suppression', goAheadAt)).toBe('suppressed');
        expect(stateAt(lane, 'traffic', goAheadAt)).toBe('out');
        expect(lane.marks).toContainEqual(expect.objectContaining({ at: goAheadAt, kind: 'go-ahead' }));
      }
  });

  test('R-BUDGET: every phase of every run is shown, within the budget that its plan gave it', () => {
    for (const { phases } of data.batches) {
      expect(new Set(phases.map(({ name }) => name))).toEqual(
        new Set(['before', 'lead', 'traffic', 'deployment', 'ready', 'inService', 'readyAgain', 'release']),
      );
      for (const { name, from, to, budgetSeconds = 0, completed } of phases) {
        expect(completed, name).toBe(true);
        expect((to - from) / 1000, name).toBeLessThanOrEqual(budgetSeconds);
      }
    }
  });

  test('D4: the hold of the group is shown for as long as its processes stood still', () => {
    expect(data.holds).toHaveLength(2);
    for (const hold of data.holds)
      expect(hold).toMatchObject({ group: 'web', processes: ['HealthCheck', 'ReplaceUnhealthy'] });
  });

  test('counts every request that was sent', () => {
    const sent = data.traffic?.buckets.reduce((sum, bucket) => sum + bucket.sent, 0);
    expect(sent).toBe(simulated.measures.requestsSent);
    expect(sent).toBeGreaterThan(100_000);
  });

  test('counts the state transitions that the executions made', () => {
    const made = simulated.deployment.batches
      .flatMap(({ executions }) => executions)
      .reduce((sum, { transitions }) => sum + transitions, 0);
    expect(data.cost.stateTransitions).toBe(made);
    expect(data.cost.lambdaInvocations).toBeGreaterThan(10);
  });
});

describe('an unprotected deployment', () => {
  let simulated: Simulated;
  let data: TimelineData;
  beforeAll(async () => {
    simulated = await simulate({ scenario, without: true });
    data = timelineOfSimulation(simulated, { scenario });
  });

  test('shows which instances Auto Scaling replaced, why, and what was launched for them', () => {
    const replaced = data.lanes.filter(({ tracks }) => tracks.application.at(-1)?.state === 'replaced');
    expect(replaced).toHaveLength(simulated.measures.replaced);
    expect(replaced.length).toBeGreaterThan(0);
    for (const { marks } of replaced)
      expect(marks).toContainEqual(
        expect.objectContaining({ kind: 'ended-by-auto-scaling', text: expect.stringContaining('ELB') }),
      );
    expect(data.lanes.filter(({ role }) => role === 'launched')).toHaveLength(replaced.length);
    expectOrderedSpans(data);
  });

  test('counts every request that failed, by its cause', () => {
    const failed = data.traffic?.buckets.flatMap(({ causes }) => Object.values(causes)) ?? [];
    expect(failed.reduce((sum, count) => sum + count, 0)).toBe(simulated.measures.requestsFailed);
    expect(simulated.measures.requestsFailed).toBeGreaterThan(0);
  });

  test('has neither budgets nor cost', () => {
    expect(data.cost).toEqual({ stateTransitions: 0, lambdaInvocations: 0 });
    expect(data.batches[0]?.phases).toEqual([
      expect.not.objectContaining({ budgetSeconds: expect.anything() }),
    ]);
  });
});

test('a loop of replacements is counted and shown for as long as the fleet is watched, successors too', async () => {
  const looping = readScenario(
    fileURLToPath(new URL('../../scenarios/loop-grace-too-short.yaml', import.meta.url)),
  );
  const heard: Entry[] = [];
  const hear = (entry: Entry) => heard.push(entry);
  const simulated = await simulate({ scenario: looping, without: true, hear });
  const data = timelineOfSimulation(simulated, { scenario: looping });
  const marks = data.lanes.flatMap(lane => lane.marks.filter(({ kind }) => kind === 'ended-by-auto-scaling'));
  expect(simulated.measures.replaced).toBeGreaterThan(looping.fleet.instances);
  expect(marks).toHaveLength(simulated.measures.replaced);
  const over = data.from + 60 * 60_000;
  expect([data.to <= over, heard.every(({ at }) => at <= over)]).toEqual([true, true]);
});
