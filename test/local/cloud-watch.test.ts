import { describe, expect, test } from 'vitest';
import { CloudWatch } from '../../local/account/cloud-watch.ts';
import { cloudWatchApi } from '../../local/account/cloud-watch-service.ts';
import { createWorld } from '../../local/account/world.ts';

const MINUTE = 60_000;

function store() {
  const { clock, ...world } = createWorld();
  const cloudWatch = new CloudWatch({ ...world, clock });
  return { clock, cloudWatch, api: cloudWatchApi(cloudWatch) };
}

const metric = { namespace: 'Quiesce', name: 'Runs', dimensions: { Group: 'web', Stage: 'prod' } };
const Dimensions = [
  { Name: 'Stage', Value: 'prod' },
  { Name: 'Group', Value: 'web' },
];

describe('metrics', () => {
  test('points are summed up by period, whatever the order of their dimensions', async () => {
    const { clock, cloudWatch, api } = store();
    const StartTime = clock.date();
    cloudWatch.put({ ...metric, value: 1 });
    await clock.pass(30_000);
    cloudWatch.put({ ...metric, value: 4 });
    await clock.pass(45_000);
    api.PutMetricData({
      Namespace: 'Quiesce',
      MetricData: [{ MetricName: 'Runs', Dimensions, Values: [7, 9], Counts: [1, 2] }],
    });
    await clock.pass(MINUTE);
    const range = { StartTime, EndTime: clock.date() };
    const Metric = { Namespace: 'Quiesce', MetricName: 'Runs', Dimensions };
    const query = (Stat: string) => ({ Id: Stat.toLowerCase(), MetricStat: { Metric, Period: 60, Stat } });
    const data = api.GetMetricData({ ...range, MetricDataQueries: [query('Sum'), query('Maximum')] });
    const second = new Date(StartTime.getTime() + MINUTE);
    expect(data.MetricDataResults).toMatchObject([
      { Id: 'sum', Timestamps: [second, StartTime], Values: [25, 5] },
      { Id: 'maximum', Values: [9, 4] },
    ]);
    const { Datapoints } = api.GetMetricStatistics({
      ...range,
      Namespace: 'Quiesce',
      MetricName: 'Runs',
      Dimensions,
      Period: 60,
      Statistics: ['Average', 'SampleCount'],
    });
    expect(Datapoints).toEqual([
      { Timestamp: StartTime, Average: 2.5, SampleCount: 2 },
      { Timestamp: second, Average: 25 / 3, SampleCount: 3 },
    ]);
  });

  test('a metric with other dimensions is another metric', () => {
    const { clock, cloudWatch } = store();
    cloudWatch.put({ ...metric, value: 1 });
    const bare = { ...metric, dimensions: {} };
    expect(cloudWatch.periods(bare, 0, clock.now() + 1, MINUTE)).toEqual([]);
    expect(cloudWatch.periods(metric, 0, clock.now() + 1, MINUTE)).toHaveLength(1);
  });

  test('points are kept for three hours', async () => {
    const { clock, cloudWatch } = store();
    for (let minute = 0; minute < 1000; minute++) {
      cloudWatch.put({ ...metric, value: minute });
      await clock.pass(MINUTE);
    }
    const kept = cloudWatch.periods(metric, 0, clock.now(), MINUTE);
    expect(kept.length).toBeGreaterThanOrEqual(180);
    expect(kept.length).toBeLessThan(180 + 64);
  });

  test('what is not implemented is refused by name', () => {
    const { clock, api } = store();
    const range = { StartTime: new Date(0), EndTime: clock.date() };
    const MetricDataQueries = [{ Id: 'a', Expression: 'SEARCH(x)' }];
    expect(() => api.GetMetricData({ ...range, MetricDataQueries })).toThrow(/no SEARCH/);
    const Metric = { Namespace: 'n', MetricName: 'm' };
    const percentile = [{ Id: 'a', MetricStat: { Metric, Period: 60, Stat: 'p99' } }];
    expect(() => api.GetMetricData({ ...range, MetricDataQueries: percentile })).toThrow(
      /no statistic 'p99'/,
    );
  });
});
