import type { PutMetricAlarmInput } from '@aws-sdk/client-cloudwatch';
import { describe, expect, test } from 'vitest';
import type { AlarmAction } from '../../local/account/alarm-messages.ts';
import { alarmsApi } from '../../local/account/alarm-operations.ts';
import { Alarms } from '../../local/account/alarms.ts';
import type { ServiceEvent } from '../../local/account/neighbours.ts';
import type { Physics } from '../../local/account/physics.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { account, failing } from './helpers/ec2-account.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:people';

function alarming(physics: Partial<Physics> = {}) {
  const all = account({ physics });
  const events: ServiceEvent[] = [];
  const actions: AlarmAction[] = [];
  const alarms = new Alarms(all.metrics, event => events.push(event));
  alarms.onAction(action => actions.push(action));
  const alarmApi = alarmsApi(alarms);
  const alarm = (AlarmName: string, settings: Partial<PutMetricAlarmInput>) =>
    alarmApi.PutMetricAlarm({
      AlarmName,
      Namespace: 'AWS/EC2',
      Statistic: 'Maximum',
      Period: 60,
      EvaluationPeriods: 3,
      Threshold: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      ...settings,
    });
  const put = (value: number, name = 'm') => all.metrics.put({ namespace: 'N', name, dimensions: {}, value });
  const minutes = (count: number) => all.seconds(count * 60);
  const state = (name: string) => alarms.get(name).state.value;
  /** The states that an alarm has entered, in order. */
  const entered = (name: string) =>
    all.world.journal.entries.flatMap(entry =>
      entry.type === 'alarm' && entry.alarm === name && entry.contributor === undefined ? [entry.state] : [],
    );
  return { ...all, alarms, alarmApi, alarm, put, minutes, state, entered, events, actions };
}

describe('a deployment under suppression', () => {
  const AGGREGATE = 'StatusCheckFailed_Application';

  test('R-MISSING, D21: only notBreaching takes the silence of the aggregate metric for a recovery', async () => {
    const all = alarming();
    const { alarm, alarmApi, api, entered, state, minutes } = all;
    const instance = all.launch();
    const check = all.createCheck();
    await minutes(5);
    const Dimensions = [{ Name: 'InstanceId', Value: instance.id }];
    for (const TreatMissingData of ['missing', 'ignore', 'notBreaching', 'breaching'])
      alarm(TreatMissingData, { MetricName: AGGREGATE, Dimensions, TreatMissingData });
    alarm('check', { MetricName: `${AGGREGATE}_${check}`, Dimensions });
    await minutes(6);
    instance.application.suffer(failing);
    await minutes(10);
    expect(['missing', 'ignore', 'notBreaching', 'breaching', 'check'].map(state)).toEqual(
      Array(5).fill('ALARM'),
    );

    api.EnableApplicationStatusCheckSuppression({ InstanceIds: [instance.id], DurationSeconds: 7200 });
    await minutes(20);
    // A false recovery: the application still fails, and each check's own metric says so.
    expect(['missing', 'ignore', 'notBreaching', 'breaching', 'check'].map(state)).toEqual([
      'INSUFFICIENT_DATA',
      'ALARM',
      'OK',
      'ALARM',
      'ALARM',
    ]);

    instance.application.suffer(undefined);
    await minutes(10);
    expect(state('check')).toBe('OK');
    api.DisableApplicationStatusCheckSuppression({ InstanceIds: [instance.id] });
    await minutes(20);
    expect(entered('missing')).toEqual(['OK', 'ALARM', 'INSUFFICIENT_DATA', 'OK']);
    expect(entered('ignore')).toEqual(['OK', 'ALARM', 'OK']);
    expect(alarmApi.DescribeAlarms({ StateValue: 'OK' }).MetricAlarms).toHaveLength(5);
  });

  test('R-MISSING: a healthy instance that is suppressed raises no alarm by missing or ignore, and one by breaching', async () => {
    const { alarm, api, launch, createCheck, minutes, state, actions } = alarming();
    const instance = launch();
    createCheck();
    await minutes(5);
    const Dimensions = [{ Name: 'InstanceId', Value: instance.id }];
    for (const TreatMissingData of ['missing', 'ignore', 'breaching'])
      alarm(TreatMissingData, {
        MetricName: AGGREGATE,
        Dimensions,
        TreatMissingData,
        AlarmActions: [`${TOPIC}-${TreatMissingData}`],
      });
    await minutes(10);
    api.EnableApplicationStatusCheckSuppression({ InstanceIds: [instance.id], DurationSeconds: 3600 });
    await minutes(90);
    expect(actions.map(({ arn }) => arn)).toEqual([`${TOPIC}-breaching`]);
    expect(['missing', 'ignore', 'breaching'].map(state)).toEqual(['OK', 'OK', 'OK']);
  });

  test('D21: one alarm over all instances names those that fail, and forgets one that is gone', async () => {
    const { alarms, alarmApi, launch, createCheck, minutes, events, ec2, actions } = alarming();
    const [sound, sick, lost] = [launch(), launch(), launch()];
    const check = createCheck();
    alarmApi.PutMetricAlarm({
      AlarmName: 'fleet',
      Metrics: [
        {
          Id: 'q1',
          Expression: `SELECT MAX("${AGGREGATE}_${check}") FROM SCHEMA("AWS/EC2", InstanceId) GROUP BY InstanceId`,
          Period: 60,
        },
      ],
      EvaluationPeriods: 2,
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
      AlarmActions: [TOPIC],
    });
    await minutes(6);
    expect(alarms.get('fleet').state.value).toBe('OK');
    sick.application.suffer(failing);
    lost.application.suffer(failing);
    await minutes(8);
    const inAlarm = () =>
      alarmApi
        .DescribeAlarmContributors({ AlarmName: 'fleet' })
        .AlarmContributors?.map(({ ContributorAttributes }) => ContributorAttributes?.InstanceId)
        .sort();
    expect(inAlarm()).toEqual([sick.id, lost.id].sort());
    expect(alarms.get('fleet').state.reason).toMatch(/^[12] out of 3 time series evaluated to ALARM$/);
    expect(actions).toHaveLength(2);
    ec2.terminate(lost.id);
    sick.application.suffer(undefined);
    await minutes(20);
    expect(inAlarm()).toEqual([]);
    expect(alarms.get('fleet').state.value).toBe('OK');
    const ofContributors = events.filter(event => event['detail-type'].includes('Contributor'));
    expect(ofContributors.map(({ detail }) => detail)).toMatchObject(
      Array(4).fill({ alarmName: 'fleet', alarmContributor: { attributes: {} } }),
    );
    expect(JSON.stringify(ofContributors)).not.toContain(sound.id);
    expect(JSON.stringify(ofContributors)).toContain('No data was returned for this contributor');
    ec2.terminate(sound.id);
    ec2.terminate(sick.id);
    await minutes(10);
    expect(alarms.get('fleet').state.value).toBe('INSUFFICIENT_DATA');
  });
});

describe('the state of an alarm', () => {
  test('a change is an event, an action, an entry of the history, and every minute a longer period moves on', async () => {
    const { alarm, put, minutes, events, actions, alarmApi, state } = alarming();
    const watched = { Namespace: 'N', MetricName: 'm', Statistic: 'Sum', Threshold: 10 } as const;
    alarm('slow', { ...watched, Period: 300, EvaluationPeriods: 1, AlarmActions: [TOPIC] });
    await minutes(2);
    put(12);
    await minutes(2);
    expect(state('slow')).toBe('ALARM');
    expect(events).toMatchObject([
      {
        source: 'aws.cloudwatch',
        'detail-type': 'CloudWatch Alarm State Change',
        resources: ['arn:aws:cloudwatch:eu-west-1:111122223333:alarm:slow'],
        detail: {
          alarmName: 'slow',
          previousState: { value: 'INSUFFICIENT_DATA', reason: 'Unchecked: Initial alarm creation' },
          state: {
            value: 'ALARM',
            reason:
              'Threshold Crossed: 1 out of the last 1 datapoints [12.0 (30/11/26 08:58:00)] was greater than or equal to the threshold (10.0) (minimum 1 datapoint for INSUFFICIENT_DATA -> ALARM transition).',
          },
          configuration: {
            metrics: [{ metricStat: { metric: { name: 'm', dimensions: {} }, stat: 'Sum' } }],
          },
        },
      },
    ]);
    expect(actions).toMatchObject([
      {
        arn: TOPIC,
        event: { source: 'aws.cloudwatch', alarmData: { alarmName: 'slow' } },
        notification: {
          subject: 'ALARM: "slow" in eu-west-1',
          message: { NewStateValue: 'ALARM', Trigger: { MetricName: 'm', Threshold: 10 } },
        },
      },
    ]);
    const history = alarmApi.DescribeAlarmHistory({ AlarmName: 'slow', ScanBy: 'TimestampAscending' });
    expect(history.AlarmHistoryItems?.map(({ HistorySummary }) => HistorySummary)).toEqual([
      'Alarm "slow" created',
      'Alarm updated from INSUFFICIENT_DATA to ALARM',
      `Successfully executed action ${TOPIC}`,
    ]);
  });

  test('an action that its target refuses is a failure in the history, and one that is disabled none', async () => {
    const { alarm, alarms, alarmApi, put, minutes } = alarming();
    alarms.onAction(() => {
      throw new ServiceError('AuthorizationError', 'not for you');
    });
    alarm('a', {
      Namespace: 'N',
      MetricName: 'm',
      AlarmActions: [TOPIC],
      OKActions: [TOPIC],
      EvaluationPeriods: 1,
    });
    put(5);
    await minutes(2);
    alarmApi.DisableAlarmActions({ AlarmNames: ['a'] });
    put(0);
    await minutes(2);
    const { AlarmHistoryItems } = alarmApi.DescribeAlarmHistory({
      AlarmName: 'a',
      HistoryItemType: 'Action',
    });
    expect(AlarmHistoryItems).toMatchObject([
      { HistorySummary: `Failed to execute action ${TOPIC}. Received error: "not for you"` },
    ]);
    alarmApi.EnableAlarmActions({ AlarmNames: ['a'] });
    expect(alarms.get('a').actionsEnabled).toBe(true);
  });

  test('a state that somebody sets acts, and lasts until the next evaluation finds the own one', async () => {
    const { alarm, alarmApi, put, minutes, state, actions, entered } = alarming();
    alarm('a', { Namespace: 'N', MetricName: 'm', AlarmActions: [TOPIC] });
    put(0);
    await minutes(2);
    alarmApi.SetAlarmState({ AlarmName: 'a', StateValue: 'ALARM', StateReason: 'a drill' });
    expect([state('a'), actions.length]).toEqual(['ALARM', 1]);
    await minutes(1);
    expect(entered('a')).toEqual(['OK', 'ALARM', 'OK']);
  });

  test('metric math is judged like a metric', async () => {
    const { alarm, put, minutes, state } = alarming();
    const stat = (Id: string) => ({
      Id,
      ReturnData: false,
      MetricStat: { Metric: { Namespace: 'N', MetricName: Id }, Period: 60, Stat: 'Sum' },
    });
    alarm('share', {
      Namespace: undefined,
      Statistic: undefined,
      Period: undefined,
      EvaluationPeriods: 1,
      Threshold: 50,
      Metrics: [{ Id: 'e1', Expression: '100 * FILL(m1, 0) / m2' }, stat('m1'), stat('m2')],
    });
    put(4, 'm2');
    await minutes(2);
    expect(state('share')).toBe('OK');
    put(3, 'm1');
    put(4, 'm2');
    await minutes(2);
    expect(state('share')).toBe('ALARM');
  });

  test('an alarm whose metric has been silent for its whole range is no longer evaluated', async () => {
    const { alarm, put, clock, minutes, state } = alarming();
    alarm('a', { Namespace: 'N', MetricName: 'm' });
    put(5);
    await minutes(10);
    expect(state('a')).toBe('INSUFFICIENT_DATA');
    await expect(clock.run(() => false)).rejects.toThrow(/no timer is set/);
  });
});

describe('composite alarms', () => {
  test('a composite follows the alarms of its rule at once, and they cannot go before it', () => {
    const { alarm, alarmApi, state, actions, events } = alarming();
    alarm('a', { Namespace: 'N', MetricName: 'm' });
    alarm('b', { Namespace: 'N', MetricName: 'm' });
    alarmApi.PutCompositeAlarm({
      AlarmName: 'both',
      AlarmRule: 'ALARM(a) AND ALARM(b)',
      AlarmActions: [TOPIC],
    });
    alarmApi.PutCompositeAlarm({ AlarmName: 'top', AlarmRule: 'NOT OK(both)' });
    expect([state('both'), state('top')]).toEqual(['OK', 'OK']);
    for (const AlarmName of ['a', 'b'])
      alarmApi.SetAlarmState({ AlarmName, StateValue: 'ALARM', StateReason: 'a drill' });
    expect([state('both'), state('top')]).toEqual(['ALARM', 'ALARM']);
    expect(actions).toHaveLength(1);
    expect(events.at(-2)?.detail).toMatchObject({
      alarmName: 'both',
      configuration: { alarmRule: 'ALARM(a) AND ALARM(b)' },
    });
    const remove = (...AlarmNames: string[]) => alarmApi.DeleteAlarms({ AlarmNames });
    expect(() => remove('a', 'b')).toThrow(/composite alarm\(s\) depending on it: both/);
    expect(() => remove('both', 'top')).toThrow(/at most 1 composite/);
    remove('top');
    remove('both');
    remove('a', 'b');
    expect(alarmApi.DescribeAlarms({}).MetricAlarms).toEqual([]);
  });

  test('a rule that names what does not exist, or the composite itself, is refused', () => {
    const { alarm, alarmApi } = alarming();
    const compose = (AlarmName: string, AlarmRule: string) =>
      alarmApi.PutCompositeAlarm({ AlarmName, AlarmRule });
    expect(() => compose('c', 'ALARM(a)')).toThrow(/'a', which does not exist/);
    alarm('a', { Namespace: 'N', MetricName: 'm' });
    compose('c', 'ALARM(a)');
    compose('d', 'ALARM(c)');
    expect(() => compose('c', 'ALARM(d)')).toThrow(/circles/);
    expect(() => compose('a', 'ALARM(d)')).toThrow(/another type/);
  });
});

describe('the operations on alarms', () => {
  test('R-PAGE: alarms come in pages, and composite ones only when they are asked for', () => {
    const { alarm, alarmApi } = alarming();
    for (const name of ['x-1', 'x-2', 'x-3', 'y']) alarm(name, { Namespace: 'N', MetricName: 'm' });
    alarmApi.PutCompositeAlarm({ AlarmName: 'x-0', AlarmRule: 'ALARM(y)' });
    const first = alarmApi.DescribeAlarms({ AlarmNamePrefix: 'x-', MaxRecords: 2 });
    const second = alarmApi.DescribeAlarms({
      AlarmNamePrefix: 'x-',
      MaxRecords: 2,
      NextToken: first.NextToken,
    });
    expect([first, second].map(page => page.MetricAlarms?.map(({ AlarmName }) => AlarmName))).toEqual([
      ['x-1', 'x-2'],
      ['x-3'],
    ]);
    expect(second.NextToken).toBeUndefined();
    const all = alarmApi.DescribeAlarms({
      AlarmNamePrefix: 'x-',
      AlarmTypes: ['CompositeAlarm', 'MetricAlarm'],
    });
    expect([all.CompositeAlarms?.length, all.MetricAlarms?.length]).toEqual([1, 3]);
    expect(alarmApi.DescribeAlarms({ AlarmNames: ['y', 'none'] }).MetricAlarms).toMatchObject([
      { AlarmName: 'y', DatapointsToAlarm: 3, TreatMissingData: 'missing', StateValue: 'INSUFFICIENT_DATA' },
    ]);
  });

  test('an alarm that is put again keeps its state and its tags', async () => {
    const { alarm, alarmApi, alarms, put, minutes } = alarming();
    alarm('a', { Namespace: 'N', MetricName: 'm', Tags: [{ Key: 'owner', Value: 'quiesce' }] });
    put(5);
    await minutes(4);
    alarm('a', { Namespace: 'N', MetricName: 'm', Threshold: 2, Tags: [{ Key: 'owner', Value: 'other' }] });
    const ResourceARN = alarms.get('a').arn;
    expect(alarms.get('a').state.value).toBe('ALARM');
    alarmApi.TagResource({ ResourceARN, Tags: [{ Key: 'run', Value: 'r-1' }] });
    alarmApi.UntagResource({ ResourceARN, TagKeys: ['none'] });
    expect(alarmApi.ListTagsForResource({ ResourceARN }).Tags).toEqual([
      { Key: 'owner', Value: 'quiesce' },
      { Key: 'run', Value: 'r-1' },
    ]);
  });

  test('R-CHUNK: a hundred alarms can be deleted at once, and none when one of them does not exist', () => {
    const { alarm, alarmApi, alarms } = alarming();
    alarm('a', { Namespace: 'N', MetricName: 'm' });
    const AlarmNames = Array.from({ length: 101 }, (_, index) => `a${index}`);
    expect(() => alarmApi.DeleteAlarms({ AlarmNames })).toThrow(/At most 100/);
    expect(() => alarmApi.DeleteAlarms({ AlarmNames: ['a', 'none'] })).toThrow(/Unknown alarm 'none'/);
    expect(alarms.all()).toHaveLength(1);
  });

  test.each<[string, Partial<PutMetricAlarmInput>]>([
    ['DatapointsToAlarm', { DatapointsToAlarm: 4 }],
    ['multiple of 60', { Period: 90 }],
    ['86400', { Period: 3600, EvaluationPeriods: 25 }],
    ['TreatMissingData', { TreatMissingData: 'none' }],
    ['does not implement ExtendedStatistic', { ExtendedStatistic: 'p99' }],
    ['does not compare by LessThanLowerThreshold', { ComparisonOperator: 'LessThanLowerThreshold' }],
    ['At most|at most 5 actions', { AlarmActions: Array(6).fill(TOPIC) }],
    [
      'together with a single metric',
      { Metrics: [{ Id: 'q', Expression: 'SELECT MAX(m) FROM x', Period: 60 }] },
    ],
  ])('a setting is refused: %s', (message, settings) => {
    const { alarm } = alarming();
    expect(() => alarm('a', { MetricName: 'm', ...settings })).toThrow(new RegExp(message));
  });
});
