import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changesIn, type FailingTarget } from '../../functions/core/domain/health-check-changes.ts';
import type { HealthCheckLine } from '../../functions/core/domain/health-check-line.ts';
import { HealthCheckSummary } from '../../functions/core/domain/health-check-summary.ts';

/** `PFF` is a target that passes and then fails twice, ten seconds apart. */
const lines = (checks: string, from = 0, target: string | null = '10.0.0.1:80'): HealthCheckLine[] =>
  [...checks].map((check, place) => ({
    at: from + place * 10_000,
    latencySeconds: check === 'P' ? 0.1 : 5,
    target,
    targetGroup: 'web',
    passed: check === 'P',
    statusCode: check === 'P' ? 200 : null,
    reason: check === 'P' ? null : 'TimedOut',
  }));

function summaryOf(...some: readonly (readonly (HealthCheckLine | undefined)[])[]): HealthCheckSummary {
  const summary = new HealthCheckSummary();
  for (const line of some.flat()) summary.add(line);
  return summary;
}

const FAILING: FailingTarget = {
  group: 'web',
  target: '10.0.0.1:80',
  since: -30_000,
  until: -10_000,
  reason: 'TimedOut',
  statusCode: null,
  passSeconds: null,
};

test.each([
  ['always passes', 'PPP', 'well', [], []],
  ['passes again', 'PPP', 'failing', ['recovered 0'], []],
  ['fails', 'PFF', 'well', ['failed 10'], [10]],
  ['fails from the beginning', 'FFF', 'well', ['failed 0'], [0]],
  ['goes on failing', 'FFF', 'failing', [], [-30]],
  ['fails and recovers', 'FFP', 'well', ['failed 0', 'recovered 20'], []],
  ['fails after it has recovered', 'FPF', 'failing', ['recovered 10', 'failed 20'], [20]],
  ['recovers at the end', 'PFP', 'well', ['failed 10', 'recovered 20'], []],
  ['goes to and fro', 'FPFPFPFF', 'well', ['failed 0', 'recovered 10', 'failed 60'], [60]],
] as const)('a target that %s', (_, checks, before, changes, since) => {
  const seen = summaryOf(lines(checks)).targets();
  const told = changesIn(seen, before === 'failing' ? [FAILING] : []);
  expect(told.changes.map(({ kind, at }) => `${kind} ${at / 1000}`)).toEqual(changes);
  expect(told.failing.map(one => one.since / 1000)).toEqual(since);
});

test('a failure tells how long the checks took that had passed before it, if any had', () => {
  const [pffff, ffff] = ['PFF', 'FF'].map(
    checks => changesIn(summaryOf(lines(checks)).targets(), []).failing,
  );
  expect(pffff).toMatchObject([{ passSeconds: 0.1, since: 10_000, until: 20_000 }]);
  expect(ffff).toMatchObject([{ passSeconds: null, since: 0 }]);
});

test('a recovery tells for how long the target had failed, in files before too', () => {
  const { changes } = changesIn(summaryOf(lines('FP')).targets(), [FAILING]);
  expect(changes).toEqual([
    {
      kind: 'recovered',
      group: 'web',
      target: '10.0.0.1:80',
      at: 10_000,
      reason: null,
      statusCode: 200,
      failedSeconds: 40,
    },
  ]);
});

test('a target that a file has nothing of goes on failing for two files, and is then forgotten', () => {
  const other = (from: number) => summaryOf(lines('P', from, '10.0.0.2:80')).targets();
  expect(changesIn(other(0), [FAILING])).toEqual({ changes: [], failing: [FAILING] });
  expect(changesIn(other(600_000), [FAILING])).toEqual({ changes: [], failing: [] });
  expect(changesIn([], [FAILING]).failing).toEqual([FAILING]);
});

test('R-LOG: a summary is the same whatever the order of the lines, but for which row of failures was the last', () => {
  const checks = fc.array(fc.constantFrom('P', 'F'), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(checks, fc.array(fc.nat()), (drawn, order) => {
      const inOrder = lines(drawn.join(''));
      const shuffled = inOrder.toSorted((a, b) => (order[a.at / 10_000] ?? 0) - (order[b.at / 10_000] ?? 0));
      const [one, other] = [inOrder, shuffled].map(some =>
        summaryOf(some)
          .targets()
          .map(({ failingSince: _, ...seen }) => seen),
      );
      expect(one).toEqual(other);
      expect(one?.[0]?.checks).toBe(drawn.length);
    }),
  );
});

test('R-LOG: a bad line is counted, and nothing else', () => {
  const summary = summaryOf([undefined], lines('PF'), [undefined], lines('F', 0, null));
  expect([summary.lines, summary.badLines]).toEqual([5, 2]);
  expect(summary.targets()).toMatchObject([
    { target: '10.0.0.1:80', checks: 2, slowestPassSeconds: 0.1, failures: new Map([['TimedOut', 1]]) },
    { target: '-', checks: 1, slowestPassSeconds: null },
  ]);
});

test('no file fills the memory: of so many targets and groups the rest counts as one', () => {
  const [line] = lines('P');
  if (!line) throw new Error('there is no line');
  const summary = new HealthCheckSummary();
  for (let n = 0; n < 30_000; n++) summary.add({ ...line, target: `10.0.0.${n}` });
  for (let n = 0; n < 3_000; n++) summary.add({ ...line, targetGroup: `g${n}` });
  const targets = summary.targets();
  expect(targets.length).toBeLessThan(11_100);
  expect(targets.reduce((sum, { checks }) => sum + checks, 0)).toBe(33_000);
  expect(targets.find(({ group, target }) => group === 'web' && target === 'other')?.checks).toBe(20_000);
  expect(targets.filter(({ group }) => group === 'other').reduce((sum, { checks }) => sum + checks, 0)).toBe(
    2_001,
  );
});
