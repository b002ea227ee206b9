// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { describe, expect, test } from 'vitest';
import { requestCounts } from '../../functions/core/aws/cloud-watch.ts';
import { requestsAround } from '../../functions/core/domain/requests.ts';
import { scripted } from './helpers/scripted-account.ts';

const NOON = Date.UTC(2026, 10, 30, 12) / 1000;
const minutesAgo = (...minutes: readonly number[]) => minutes.map(ago => new Date((NOON - ago * 60) * 1000));
const group = {
  arn: 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1',
  loadBalancerArn: 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1',
  alone: true,
};

test('each minute has what was sent and what failed, by targets and by the load balancer; what has no values has none', async () => {
  const account = scripted('cloudwatch', {
    GetMetricData: () => ({
      MetricDataResults: [
        { Id: 'g0', Timestamps: minutesAgo(5, 6), Values: [100, 20, 3] },
        { Id: 'g0', Timestamps: minutesAgo(1), Values: [7] },
        { Id: 'g0_0', Timestamps: minutesAgo(2), Values: [4] },
        { Id: 'g0_1', Timestamps: minutesAgo(2), Values: [5] },
        { Id: 'g1' },
        {},
      ],
    }),
  });
  const quiet = { ...group, arn: `${group.arn}2`, alone: false };
  const [two = 0] = minutesAgo(2).map(Number);
  expect(await account.run(() => requestCounts([group, quiet], NOON))).toEqual(
    new Map([
      [
        group.arn,
        [
          { at: two - 3 * 60_000, sent: 100, failed: 0 },
          { at: two - 4 * 60_000, sent: 20, failed: 0 },
          { at: two + 60_000, sent: 7, failed: 0 },
          { at: two, sent: 0, failed: 4 },
          { at: two, sent: 0, failed: 5 },
        ],
      ],
      [quiet.arn, []],
    ]),
  );
});

describe('what is now, and what was usual before', () => {
  const ms = NOON * 1000;
  /** 100 requests in each of the last 30 minutes, of which as many fail as the minute is ago. */
  const minutes = Array.from({ length: 30 }, (_, place) => ({
    at: ms - (place + 1) * 60_000,
    sent: 100,
    failed: place + 1,
  }));
  const around = (drainingMinutesAgo?: number) => {
    const since = drainingMinutesAgo === undefined ? undefined : ms + 20_000 - drainingMinutesAgo * 60_000;
    const { before, ...now } = requestsAround(minutes, ms + 40_000, since);
    return [now, before].map(({ sent, failed, minutes }) => [sent, failed, minutes]);
  };

  test.each([
    ['without a drain: five minutes and five', undefined, [500, 1 + 2 + 3 + 4 + 5, 5], [500, 40, 5]],
    ['a drain that is just seen may have begun a minute ago', 0, [100, 1, 1], [500, 20, 5]],
    ['a drain of two minutes', 2, [300, 6, 3], [500, 30, 5]],
    ['a drain of ten minutes: only the last five are now', 10, [500, 15, 5], [500, 70, 5]],
    ['a drain of an hour, before which nobody knows', 60, [500, 15, 5], [0, 0, 5]],
  ] as const)('%s', (_, ago, now, before) => {
    expect(around(ago)).toEqual([now, before]);
  });
});
