import { describe, expect, test } from 'vitest';
import {
  type ApplicationTiming,
  type DetectionTiming,
  type Span,
  timeCheck,
  timeTargetGroup,
} from '../../functions/core/domain/timing.ts';
import * as limits from '../../functions/core/limits.ts';
import type { Entry } from '../../local/account/journal.ts';
import { measuredPhysics } from '../../local/account/physics.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { standUp } from '../../local/simulate/simulation.ts';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const START_UP = 40;
const GRACE = 90;

const scenario = (fleet: string) =>
  parseScenario(`name: timed\nfleet: { instances: 3, startUpSeconds: ${START_UP}, ${fleet} }`, 'timed.yaml');

const GROUPS = 'targetGroups: [{ name: web, port: 8080 }]';
const CHECKS = `checks: [{ port: 8080, graceSeconds: ${GRACE} }]`;

/** What docs/scenarios.md says that a target group and a check of a scenario have. */
const group = {
  type: 'application',
  intervalSeconds: 10,
  timeoutSeconds: 5,
  healthyThreshold: 3,
  unhealthyThreshold: 2,
  nodes: 3,
} as const;
const check = { timeoutSeconds: 6, failureThreshold: 2, successThreshold: 2, graceSeconds: GRACE };

type Failure = ApplicationTiming['failure'];

/** Breaks one instance, mends it when that is said, and tells after how many seconds what happened first. */
async function breaking(
  fleet: string,
  {
    seed,
    failure,
    mendedAfter,
  }: { readonly seed: number; readonly failure: Failure; readonly mendedAfter?: number },
) {
  const { account, fleet: built } = await standUp({ scenario: scenario(fleet), seed, without: true });
  const { clock, journal } = account.world;
  const [broken] = built.instances;
  if (!broken) throw new Error('there is no instance');
  // At no particular moment of any interval.
  await clock.pass(account.world.random.fork('when it breaks').between(0, 60_000));
  const from = clock.now();
  const answer = failure === 'silent' ? { kind: 'silent' as const } : { kind: 'refuses' as const };
  broken.application.suffer(() => answer);
  if (mendedAfter !== undefined) clock.after(mendedAfter * 1000, () => broken.application.suffer(undefined));
  await clock.pass(1_200_000);
  return {
    broken: broken.id,
    after(since: number, happened: (entry: Entry) => boolean): number {
      const entry = journal.entries.find(one => one.at >= from + since * 1000 && happened(one));
      return entry ? (entry.at - from) / 1000 - since : Number.NaN;
    },
  };
}

function expectWithin(span: Span, seen: readonly number[]): void {
  for (const seconds of seen) {
    expect(seconds).toBeGreaterThanOrEqual(span.best);
    expect(seconds).toBeLessThanOrEqual(span.worst + 0.1);
  }
  // The average of a few draws is somewhere about the expected one.
  const average = seen.reduce((all, one) => all + one, 0) / seen.length;
  expect(Math.abs(average - span.expected)).toBeLessThanOrEqual((span.worst - span.best) / 3 + 0.1);
}

const isTarget = (id: string, state: string) => (entry: Entry) =>
  entry.type === 'target' && entry.id === id && entry.state === state;
const isStatus = (id: string, status: string) => (entry: Entry) =>
  entry.type === 'application-status' && entry.instanceId === id && entry.status === status;
const isTerminated = (entry: Entry) => entry.type === 'activity' && entry.kind === 'terminate';

/** Of an instance that was not there before. */
const isNew = (broken: string, wanted: (id: string) => (entry: Entry) => boolean) => {
  const launched = new Set<string>();
  return (entry: Entry) => {
    if (entry.type === 'activity' && entry.kind === 'launch') launched.add(entry.instanceId);
    return [...launched].some(id => id !== broken && wanted(id)(entry));
  };
};

function expectReplaced(
  timing: DetectionTiming,
  runs: readonly Awaited<ReturnType<typeof breaking>>[],
  isWell: (id: string) => (entry: Entry) => boolean,
): void {
  expectWithin(
    timing.terminated,
    runs.map(run => run.after(0, isTerminated)),
  );
  expectWithin(
    timing.replaced,
    runs.map(run => run.after(0, isNew(run.broken, isWell))),
  );
}

describe.each<Failure>(['answers', 'silent'])('an application that, when it is broken, %s', failure => {
  const application: ApplicationTiming = { startUpSeconds: START_UP, failure };

  test('is found by both, and replaced for its application status, within what the model says', async () => {
    const runs = await Promise.all(
      SEEDS.map(seed =>
        breaking(`autoScaling: { healthChecks: [EC2] }, ${GROUPS}, ${CHECKS}`, { seed, failure }),
      ),
    );
    const timing: DetectionTiming = timeCheck(check, application);
    expectWithin(
      timeTargetGroup(group, application).failed,
      runs.map(run => run.after(0, isTarget(run.broken, 'unhealthy'))),
    );
    expectWithin(
      timing.failed,
      runs.map(run => run.after(0, isStatus(run.broken, 'impaired'))),
    );
    expectReplaced(timing, runs, id => isStatus(id, 'ok'));
  });

  test("is replaced for its load balancer's verdict within what the model says", async () => {
    const runs = await Promise.all(SEEDS.map(seed => breaking(GROUPS, { seed, failure })));
    const timing = timeTargetGroup(group, application);
    expectReplaced(timing, runs, id => isTarget(id, 'healthy'));
  });

  test('is seen to be well again within what the model says', async () => {
    const mendedAfter = 150;
    const runs = await Promise.all(
      SEEDS.map(seed => breaking(`autoScaling: null, ${GROUPS}, ${CHECKS}`, { seed, failure, mendedAfter })),
    );
    expectWithin(
      timeTargetGroup(group, application).recovered,
      runs.map(run => run.after(mendedAfter, isTarget(run.broken, 'healthy'))),
    );
    expectWithin(
      timeCheck(check, application).recovered,
      runs.map(run => run.after(mendedAfter, isStatus(run.broken, 'ok'))),
    );
  });
});

test('the model and the simulated account go by the same figures', () => {
  expect(measuredPhysics).toMatchObject({
    probeIntervalSeconds: limits.CHECK_INTERVAL_SECONDS,
    checkerOffsetMs: limits.CHECKERS_APART_SECONDS * 1000,
    describeLagSeconds: [limits.DESCRIBE_LAG_LEAST_SECONDS, limits.DESCRIBE_LAG_SECONDS],
    autoScalingActsAfterImpairedSeconds: limits.AUTO_SCALING_ACTS_SECONDS,
    autoScalingElbPollSeconds: limits.AUTO_SCALING_LOOKS_SECONDS,
    bootSeconds: limits.BOOT_SECONDS,
  });
});
