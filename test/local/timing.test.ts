import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type DetectionTiming,
  type Span,
  timeCheck,
  timeTargetGroup,
} from '../../functions/core/domain/timing.ts';
import * as limits from '../../functions/core/limits.ts';
import { measuredPhysics } from '../../local/account/physics.ts';
import { reportOnTiming } from '../../local/cli/timing-report.ts';
import { readTimingSettings, type TimingValues } from '../../local/cli/timing-settings.ts';
import { Random } from '../../local/clock/random.ts';
import { breakFleet, type Checked, type Seen } from './helpers/broken-fleet.ts';

/** Three documented tables and settings of all kinds: 1,000 seeds in all. */
const SEEDS_EACH = 250;
/** Together they keep each other's clocks company; more of them only fill the memory. */
const AT_A_TIME = 50;

const SIDES = ['targetGroup', 'check'] as const;
type Side = (typeof SIDES)[number];
type Time = keyof DetectionTiming;
type Run = Readonly<Record<Side, Seen>>;

async function overSeeds(first: number, checkedBy: (seed: number) => Checked): Promise<Run[]> {
  const runs: Run[] = [];
  while (runs.length < SEEDS_EACH) {
    const seeds = Array.from({ length: AT_A_TIME }, (_, n) => first + runs.length + n);
    runs.push(...(await Promise.all(seeds.map(seed => breakFleet(seed, checkedBy(seed))))));
  }
  return runs;
}

/** Where in its span a time lies: 0 at best, 1 at worst. */
const shareOf = ({ best, worst }: Span, seconds: number): number => (seconds - best) / (worst - best);

/** Four standard errors of an average, for the widest of distributions over a span: the even one. */
const AVERAGE_WITHIN = 4 / Math.sqrt(12 * SEEDS_EACH);
/** Where several chances have to meet, as all nodes' at best, few of the seeds come this near. */
const NEAR_AN_END = 0.25;

function expectToFill(what: string, shares: readonly number[], expected: number, slack = 0): void {
  const average = shares.reduce((all, one) => all + one, 0) / shares.length;
  expect(Math.min(...shares), `${what} at best`).toBeGreaterThanOrEqual(-slack);
  expect(Math.max(...shares), `${what} at worst`).toBeLessThanOrEqual(1 + slack);
  expect(Math.min(...shares), `${what} comes near its best`).toBeLessThanOrEqual(NEAR_AN_END);
  expect(Math.max(...shares), `${what} comes near its worst`).toBeGreaterThanOrEqual(1 - NEAR_AN_END);
  expect(Math.abs(average - expected), `${what} on average`).toBeLessThanOrEqual(AVERAGE_WITHIN + slack);
}

/** The rows of the tables in docs/timing.md. */
const ROWS: Readonly<Record<Time, string>> = {
  failed: 'unhealthy; impaired',
  failedShown: '  shown by a Describe call',
  terminated: 'Auto Scaling terminates it',
  replaced: 'another is healthy; ok',
  recovered: 'healthy; passed again',
  recoveredShown: '  shown by a Describe call',
};

const documented = [
  ...readFileSync('docs/timing.md', 'utf8').matchAll(
    /```sh\nnpx quiesce timing ?(.*)\n```\n\n```\n([\s\S]*?)```/g,
  ),
].map(([, flags = '', printed = '']) => ({ flags, printed }));

/** The six spans of a side, as the page has them. */
function readTable(printed: string, side: Side): Readonly<Record<Time, Span>> {
  const lines = printed.split('\n');
  const rows = lines.filter(line => /(\s+\d+:\d\d){6}$/.test(line));
  const spans = Object.entries(ROWS).map(([time, label], index) => {
    const row = rows[index];
    if (!row?.startsWith(label)) throw new Error(`the table has no row "${label}"`);
    const cells = [...row.matchAll(/(\d+):(\d\d)/g)].map(([, min, sec]) => 60 * Number(min) + Number(sec));
    const [best = 0, expected = 0, worst = 0] = side === 'targetGroup' ? cells.slice(0, 3) : cells.slice(3);
    return [time, { best, expected, worst }];
  });
  return Object.fromEntries(spans);
}

test('three tables are documented', () => {
  expect(documented).toHaveLength(3);
});

describe.each(documented)('the documented table of quiesce timing $flags', ({ flags, printed }) => {
  test('is what the simulated account shows', async () => {
    const named = [...flags.matchAll(/--(\S+) (\S+)/g)].map(([, name, value]) => [name, value]);
    const settings = await readTimingSettings(Object.fromEntries(named) as TimingValues);
    const report = reportOnTiming(settings, { group: 'Target group', check: 'Check' });
    const runs = await overSeeds(1, () => report);
    for (const side of SIDES)
      for (const [time, span] of Object.entries(readTable(printed, side)) as [Time, Span][]) {
        const shares = runs.map(run => shareOf(span, run[side][time]));
        // The page rounds to seconds.
        expectToFill(`${side}.${time}`, shares, shareOf(span, span.expected), 0.6 / (span.worst - span.best));
      }
  });
});

/** Any settings that do not contradict each other. */
function anySettings(seed: number): Checked {
  const random = new Random(seed).fork('settings');
  const type = random.pick<'application' | 'network'>(['application', 'application', 'network']);
  const intervalSeconds = random.whole(5, 60);
  return {
    targetGroup: {
      type,
      intervalSeconds,
      timeoutSeconds: random.whole(2, intervalSeconds - 1),
      healthyThreshold: random.whole(2, 5),
      unhealthyThreshold: random.whole(2, 5),
      nodes: random.whole(1, 3),
    },
    check: {
      timeoutSeconds: random.whole(1, 30),
      failureThreshold: random.whole(1, 4),
      successThreshold: random.whole(1, 4),
      graceSeconds: random.whole(1, 300),
    },
    application: {
      startUpSeconds: random.whole(0, 200),
      // A Network Load Balancer's health check only connects.
      failure: type === 'network' ? 'answers' : random.pick(['answers', 'silent']),
    },
  };
}

test('whatever the settings are, each time lies within what the model says, and is anywhere in it', async () => {
  const runs = await overSeeds(10_000, anySettings);
  const models = runs.map((_, n) => {
    const { targetGroup, check, application } = anySettings(10_000 + n);
    return { targetGroup: timeTargetGroup(targetGroup, application), check: timeCheck(check, application) };
  });
  for (const side of SIDES)
    for (const time of Object.keys(ROWS) as Time[]) {
      const offsets = runs.flatMap((run, n) => {
        const span = models[n]?.[side][time];
        return span
          ? [{ share: shareOf(span, run[side][time]), expected: shareOf(span, span.expected) }]
          : [];
      });
      const expected = offsets.reduce((all, one) => all + one.expected, 0) / offsets.length;
      expectToFill(
        `${side}.${time}`,
        offsets.map(({ share }) => share),
        expected,
      );
    }
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
