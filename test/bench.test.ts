import { describe, expect, test } from 'vitest';
import { callBound, type FleetSize, type Step } from '../local/bench/call-bound.ts';
import { against, meets } from '../local/bench/figures.ts';
import { logFigures } from '../local/bench/log-figures.ts';
import { measureAlarms } from '../local/bench/measure-alarms.ts';
import { measureRun } from '../local/bench/measure-run.ts';
import { benchTable } from '../local/bench/table.ts';

const fleet: FleetSize = {
  instances: 1000,
  targetGroups: 2,
  loadBalancers: 1,
  autoScalingGroups: 1,
  byDeployment: false,
};

describe('the fewest calls that the batch limits allow', () => {
  test.each<readonly [Step['kind'], string, number]>([
    ['plan', 'ec2:DescribeInstances', 5],
    ['plan', 'autoscaling:DescribeAutoScalingInstances', 20],
    ['suppress', 'ec2:EnableApplicationStatusCheckSuppression', 10],
    ['deregister', 'elasticloadbalancing:DeregisterTargets', 20],
    ['register', 'elasticloadbalancing:RegisterTargets', 20],
    ['release', 'ec2:DisableApplicationStatusCheckSuppression', 10],
  ])('%s: %s on 1,000 instances in 2 groups', (kind, action, count) => {
    if (kind === 'look') throw new Error('a look has goals');
    expect(callBound([{ kind }], fleet).get(action)).toBe(count);
  });

  test('the hundred and first instance costs a further call', () => {
    const enables = (instances: number) =>
      callBound([{ kind: 'suppress' }], { ...fleet, instances }).get(
        'ec2:EnableApplicationStatusCheckSuppression',
      );
    expect([100, 101].map(enables)).toEqual([1, 2]);
  });

  test('a look reads each status once or each group once, whatever the number of its goals', () => {
    const joint = callBound([{ kind: 'look', goals: ['suppressed', 'released', 'drained'] }], fleet);
    expect(Object.fromEntries(joint)).toEqual({
      'dynamodb:GetItem': 1,
      'dynamodb:BatchGetItem': 10,
      'ec2:DescribeApplicationStatus': 10,
      'elasticloadbalancing:DescribeTargetHealth': 2,
    });
  });

  test('each instance is written when it is claimed, when it is released and when it ends', () => {
    const bound = callBound([{ kind: 'plan' }, { kind: 'release' }, { kind: 'succeed' }], fleet);
    expect(bound.get('dynamodb:UpdateItem')).toBe(2 * 1000 + 3);
    expect(bound.get('dynamodb:DeleteItem')).toBe(1000 + 1);
  });

  test('an act that had to wait does not deregister twice', () => {
    const acts: Step[] = [{ kind: 'deregister' }, { kind: 'deregister' }];
    const bound = callBound(acts, fleet);
    expect(bound.get('elasticloadbalancing:DeregisterTargets')).toBe(20);
    expect(bound.get('elasticloadbalancing:DescribeTargetHealth')).toBe(4);
  });
});

test('calls that the bound does not know miss every goal, and the table says so', () => {
  const figure = { ...against('calls of ec2', 3, 0), goal: { of: 'ratio', atMost: 1.3 } } as const;
  expect(meets(figure)).toBe(false);
  expect(benchTable([{ instances: 10, figures: [figure] }])).toMatch(/calls of ec2 .*<= 1\.30 MISSED$/);
});

test('R-THROTTLE, R-PAYLOAD, R-CHUNK: a run over 300 instances meets every goal', async () => {
  const { figures } = await measureRun(300, 60);
  expect(figures.filter(figure => !meets(figure))).toEqual([]);
  const bound = (name: string) => figures.find(figure => figure.name === name)?.bound;
  // What AWS makes a run wait for: the spreading of suppression and of its release, and evaluations once a minute.
  expect(bound('before-deploy')).toBeGreaterThan(188);
  expect(bound('after-deploy')).toBeGreaterThan(120 + 120 + 60);
});

test('D21, R-THROTTLE: alarms are made with one call each, at their pace, and a second time with none', async () => {
  const { figures } = await measureAlarms(20);
  expect(figures.filter(figure => !meets(figure))).toEqual([]);
  expect(figures.find(({ name }) => name === 'alarms')?.measured).toBe(20 * (1 + 3) + 4);
});

test('R-LOG: every line of a log is read, bad ones too, and memory stays flat', async () => {
  const figures = await logFigures(200_000);
  expect(figures.find(({ name }) => name === 'lines')?.measured).toBe(200_000);
  // The time is the bench's own to judge, on a machine that does nothing else.
  expect(figures.filter(figure => figure.name !== 'time' && !meets(figure))).toEqual([]);
});
