// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { expect, test } from 'vitest';
import { requestCounts } from '../../functions/core/aws/cloud-watch.ts';
import { scripted } from './helpers/scripted-account.ts';

const NOON = Date.UTC(2026, 10, 30, 12) / 1000;
const minutesAgo = (...minutes: readonly number[]) => minutes.map(ago => new Date((NOON - ago * 60) * 1000));
const group = {
  arn: 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1',
  loadBalancerArn: 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1',
  alone: true,
};

test('what the last minutes had is told apart from what was before; what has no values is nought', async () => {
  const account = scripted('cloudwatch', {
    GetMetricData: () => ({
      MetricDataResults: [
        { Id: 'g0', Timestamps: minutesAgo(5, 6, 15), Values: [100, 20, 3] },
        { Id: 'g0', Timestamps: minutesAgo(1), Values: [7] },
        { Id: 'g0_0', Timestamps: minutesAgo(2), Values: [4] },
        { Id: 'g0_1', Timestamps: minutesAgo(2, 9), Values: [5] },
        { Id: 'g1' },
        {},
      ],
    }),
  });
  const quiet = { ...group, arn: `${group.arn}2`, alone: false };
  expect(await account.run(() => requestCounts([group, quiet], NOON))).toEqual(
    new Map([
      [group.arn, { sent: 107, failed: 9, minutes: 5, before: { sent: 23, failed: 0, minutes: 10 } }],
      [quiet.arn, { sent: 0, failed: 0, minutes: 5, before: { sent: 0, failed: 0, minutes: 10 } }],
    ]),
  );
});
