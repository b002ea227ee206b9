// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type { DescribeAlarmsInput } from '@aws-sdk/client-cloudwatch';
import { expect, test } from 'vitest';
import { alarmsWithPrefix } from '../../functions/core/aws/alarms.ts';
import { scripted } from './helpers/scripted-account.ts';

const state = {
  StateValue: 'OK' as const,
  AlarmConfigurationUpdatedTimestamp: new Date('2026-11-30T09:00:00.900Z'),
};

test('R-PAGE: both types are listed, page by page, and what we never give has no definition', async () => {
  const account = scripted('cloudwatch', {
    DescribeAlarms: ({ NextToken }: DescribeAlarmsInput) =>
      NextToken
        ? {
            MetricAlarms: [
              { AlarmName: 'q/bare', ...state },
              {
                AlarmName: 'q/sum',
                ...state,
                Namespace: 'N',
                MetricName: 'm',
                Dimensions: [{}],
                Statistic: 'Sum',
                Period: 60,
              },
              {
                AlarmName: 'q/few',
                ...state,
                ComparisonOperator: 'GreaterThanOrEqualToThreshold',
                TreatMissingData: 'ignore',
                Namespace: 'N',
                MetricName: 'm',
                Dimensions: [{}],
                Statistic: 'Maximum',
                Period: 60,
              },
              {
                AlarmName: 'q/two',
                ...state,
                Metrics: [
                  { Id: 'a', Expression: 'b', Period: 60 },
                  { Id: 'b', Expression: 'c' },
                ],
              },
            ],
          }
        : {
            CompositeAlarms: [
              { AlarmName: 'q/none', ...state },
              {
                AlarmName: 'q/quiet',
                ...state,
                AlarmRule: 'ALARM("a") OR ALARM("a")',
                ActionsSuppressor: 'x',
                ActionsEnabled: false,
              },
            ],
            NextToken: 'more',
          },
  });
  const found = await account.run(() => alarmsWithPrefix('q/'));
  expect(account.asked).toMatchObject([
    { input: { AlarmTypes: ['MetricAlarm', 'CompositeAlarm'], AlarmNamePrefix: 'q/' } },
    { input: { NextToken: 'more' } },
  ]);
  expect(found.map(({ name, definition }) => [name, definition !== undefined])).toEqual([
    ['q/none', true],
    ['q/quiet', false],
    ['q/bare', false],
    ['q/sum', false],
    ['q/few', true],
    ['q/two', false],
  ]);
  expect(found[1]).toMatchObject({ children: ['a'], actionsEnabled: false, configuredAt: 1_796_029_200 });
});
