import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { planOfLost } from '../../functions/core/domain/lost-run.ts';
import {
  type End,
  heldByRun,
  inTurn,
  judgeEnded,
  judgeLive,
  pauseAt,
  SWEEP_SECONDS,
  type SweepFacts,
  type SweptRun,
} from '../../functions/core/domain/sweep.ts';
import { membershipOf } from './helpers/records.ts';

const NOW = 1_796_029_200;
const OWNER = 'arn:before';

const run = (some: Partial<SweptRun> = {}): SweptRun => ({
  runId: 'r',
  status: 'live',
  phase: 'before',
  owner: OWNER,
  deadline: NOW + 3000,
  plan: { suppressUntil: NOW + 9000, budgets: { deployment: 3600, undo: 1000 } },
  request: {},
  ...some,
});

const facts = (some: Partial<Record<'executions' | 'deployments' | 'resumptions', [string, End]>> = {}) =>
  ({
    now: NOW,
    executions: new Map(some.executions && [some.executions]),
    deployments: new Map(some.deployments && [some.deployments]),
    resumptions: new Map(some.resumptions && [some.resumptions]),
    gone: new Set<string>(),
  }) satisfies SweepFacts;

describe('D16, R-SWEEP: a live run', () => {
  it('whose execution runs is left alone, up to ten minutes past its time', () => {
    expect(judgeLive(run(), facts())).toBeUndefined();
    expect(judgeLive(run({ deadline: NOW - 600 }), facts())).toBeUndefined();
    expect(judgeLive(run({ deadline: NOW - 601 }), facts())).toMatchObject({
      kind: 'overdue',
      since: NOW - 1,
      error: 'RunOverdue',
    });
  });

  it.each(['FAILED', 'TIMED_OUT', 'ABORTED'])('whose execution ended as %s is cut off', status => {
    expect(judgeLive(run(), facts({ executions: [OWNER, { status, at: NOW - 9 }] }))).toMatchObject({
      kind: 'cut-off',
      error: status,
      cause: `${OWNER} ended as ${status} before the run did.`,
      owner: OWNER,
      attempt: OWNER,
    });
  });

  it.each(['SUCCEEDED', 'FORGOTTEN'])('is not cut off by an end of %s: its record decides (D12)', status => {
    expect(judgeLive(run(), facts({ executions: [OWNER, { status, at: NOW - 9 }] }))).toBeUndefined();
  });

  it('R-FAIL: ends with what its execution said', () => {
    const end = { status: 'FAILED', at: NOW, error: 'States.Runtime', cause: 'the history is full' };
    expect(judgeLive(run(), facts({ executions: [OWNER, end] }))).toMatchObject({
      error: 'States.Runtime',
      cause: 'the history is full',
    });
  });

  it('whose deployment has ended is over, unless its bracket is just being closed', () => {
    const ended = facts({ deployments: ['d-1', { status: 'Succeeded', at: NOW - 60 }] });
    const hooked = { request: { observer: 'd-1' } } as const;
    expect(judgeLive(run({ ...hooked, phase: 'go-ahead' }), ended)).toMatchObject({
      kind: 'deployment-ended',
      error: 'DeploymentEnded',
    });
    expect(judgeLive(run({ runId: 'd-1', phase: 'go-ahead' }), ended)).toMatchObject({ runId: 'd-1' });
    expect(judgeLive(run({ ...hooked, phase: 'after' }), ended)).toBeUndefined();
    expect(judgeLive(run(), ended)).toBeUndefined();
  });

  it('waits for after-deploy as long as its suppression leaves time for an undo', () => {
    const waiting = (suppressUntil: number, goAheadAt: number) =>
      run({
        phase: 'go-ahead',
        deadline: NOW - 9000,
        goAheadAt,
        plan: { suppressUntil, budgets: { deployment: 3600, undo: 1000 } },
      });
    expect(judgeLive(waiting(NOW + 1000, NOW - 9000), facts())).toBeUndefined();
    expect(judgeLive(waiting(NOW + 999, NOW - 9000), facts())?.kind).toBe('overdue');
    expect(judgeLive(waiting(NOW, NOW - 4200), facts())).toBeUndefined();
    expect(judgeLive(waiting(NOW, NOW - 4201), facts())?.kind).toBe('overdue');
  });

  it.each([
    ['ABORTED', '', NOW - 5, true],
    ['TIMED_OUT', '', NOW - 5, true],
    ['FAILED', 'AccessDenied', NOW - 5, true],
    // Refused, it may be called again.
    ['FAILED', 'InvalidRequest', NOW - 5, false],
    ['FAILED', 'CheckUnknown', NOW - 5, false],
    ['FAILED', 'CheckInUse', NOW - 5, false],
    ['FAILED', 'BudgetExceedsTimeout', NOW - 5, false],
    ['FAILED', 'NoGoAhead', NOW - 5, false],
    ['FAILED', 'RunInProgress', NOW - 5, false],
    // It was called before the go-ahead.
    ['ABORTED', '', NOW - 500, false],
  ])('whose after-deploy ended as %s %s before it took over (%i) is cut off: %s', (status, error, at, is) => {
    const found = judgeLive(
      run({ phase: 'go-ahead', goAheadAt: NOW - 60 }),
      facts({ resumptions: ['r', { status, error, at }] }),
    );
    expect(found?.kind === 'cut-off').toBe(is);
  });

  it('R-IDEMP: has one undo in each period of the sweep', () => {
    const attemptAt = (at: number) =>
      judgeLive(run(), facts({ executions: [OWNER, { status: 'ABORTED', at }] }))?.attempt;
    expect(attemptAt(NOW - 1)).toBe(attemptAt(NOW - SWEEP_SECONDS + 1));
    expect(attemptAt(NOW - SWEEP_SECONDS)).not.toBe(attemptAt(NOW - SWEEP_SECONDS + 1));
  });
});

describe('a run that has ended and left something', () => {
  const left = { instances: ['i-1'], keptHeld: [], targetGroups: [], autoScalingGroups: [] };
  const failed = run({ status: 'ended', outcome: 'failed', endedAt: NOW - 400, error: 'BudgetSpent' });
  const undone = facts({ executions: [OWNER, { status: 'FAILED', at: NOW - 10 }] });

  it('is left to its undo as long as that runs', () => {
    expect(judgeEnded('r', failed, left, facts())).toBeUndefined();
    expect(judgeEnded('r', failed, left, undone)).toMatchObject({
      kind: 'undo-unfinished',
      since: NOW - 400,
      error: 'BudgetSpent',
      attempt: 'again 1',
    });
  });

  it('joins the undo that its execution may just have been given', () => {
    expect(judgeEnded('r', { ...failed, endedAt: NOW - 20 }, left, undone)?.attempt).toBe(OWNER);
  });

  it('D38: keeps what it holds until its end, unless something else is left too', () => {
    const holding = { ...left, keptHeld: ['i-1'] };
    const until = (heldUntil: number) => ({ ...failed, heldUntil });
    expect(judgeEnded('r', until(NOW + 60), holding, undone)).toBeUndefined();
    expect(judgeEnded('r', until(NOW - 60), holding, undone)).toMatchObject({ since: NOW - 60 });
    expect(judgeEnded('r', until(NOW + 60), { ...holding, instances: ['i-1', 'i-2'] }, undone)).toBeDefined();
  });

  it('is not undone when it succeeded, and named when its record is lost', () => {
    const succeeded = run({ status: 'ended', outcome: 'succeeded', endedAt: NOW - 9 });
    expect(judgeEnded('r', succeeded, left, facts())?.kind).toBe('left-by-success');
    expect(judgeEnded('r', undefined, left, facts())).toMatchObject({
      kind: 'record-lost',
      error: 'RunLost',
      cause: 'The ledger has no record of run r, and it still claims i-1.',
    });
  });
});

it('pauses between the undos of one run grow up to an hour', () => {
  const begins = Array.from({ length: 24 * 60 }, (_, minute) => pauseAt(minute * 60)).flatMap(
    (pause, minute, all) => (pause === all[minute - 1] ? [] : [minute]),
  );
  expect(begins.slice(0, 7)).toEqual([0, 5, 15, 35, 75, 135, 195]);
  expect(pauseAt(-5)).toBe(0);
});

it('the sweep reckons with the rate of its schedule', () => {
  const rate = /SweepSchedule:[\s\S]*?rate\((\d+) minutes\)/.exec(readFileSync('template.yaml', 'utf8'))?.[1];
  expect(Number(rate) * 60).toBe(SWEEP_SECONDS);
});

it('what is held is sorted by its runs', () => {
  const held = heldByRun({
    instances: [
      {
        instanceId: 'i-1',
        claims: new Map([
          ['a', {}],
          ['b', { fate: { how: 'held' } }],
        ]),
        traffic: 'a',
      },
      { instanceId: 'i-2', claims: new Map(), traffic: 'c' },
    ],
    outByGroup: new Map([['arn', ['a']]]),
    holds: [{ group: 'web', runs: ['b'] }],
  });
  const nothing = { instances: [], keptHeld: [], targetGroups: [], autoScalingGroups: [] };
  expect(Object.fromEntries(held)).toEqual({
    a: { ...nothing, instances: ['i-1'], targetGroups: ['arn'] },
    b: { ...nothing, instances: ['i-1'], keptHeld: ['i-1'], autoScalingGroups: ['web'] },
    c: { ...nothing, instances: ['i-2'] },
  });
});

it('a lost run is undone from what is held for it', () => {
  const plan = planOfLost({
    instanceIds: ['i-1'],
    memberships: [membershipOf('i-1')],
    targetGroupArns: ['arn:tg/other/1'],
    holds: [{ group: 'web', suspended: ['AZRebalance'], alone: true }],
  });
  expect(plan.groups.map(({ name, targetType }) => [name, targetType])).toEqual([
    ['web', 'instance'],
    ['other', 'instance'],
  ]);
  expect(plan.holdings).toMatchObject([{ group: 'web', mode: 'standby', processes: ['AZRebalance'] }]);
  const addressed = planOfLost({
    instanceIds: ['i-1'],
    memberships: [{ targetGroupArn: 'arn:tg/ip/1', target: { id: '10.0.0.1', port: 80 } }],
    targetGroupArns: [],
    holds: [{ group: 'web', suspended: [] }],
  });
  expect(addressed.groups[0]?.targetType).toBe('ip');
  expect(addressed.holdings[0]?.mode).toBe('hold');
});

test.each([3, 7, 200, 1001])(
  'R-SWEEP: with more runs than one sweep looks at, each of %s has its turn',
  count => {
    const runs = Array.from({ length: count }, (_, n) => n);
    const seen = new Set<number>();
    for (let sweep = 0; sweep < Math.ceil(count / 3); sweep++) {
      const turn = inTurn(runs, NOW + sweep * SWEEP_SECONDS, 3);
      expect(turn.toSorted((a, b) => a - b)).toEqual(runs);
      for (const run of turn.slice(0, 3)) seen.add(run);
    }
    expect(seen.size).toBe(count);
  },
);
