import type * as client from '@aws-sdk/client-cloudwatch';
import { ServiceError } from '../wire/contract.ts';
import {
  type CompositeAlarmSettings,
  type MetricAlarmSettings,
  readCompositeAlarm,
  readMetricAlarm,
} from './alarm-settings.ts';
import { type Alarm, type Alarms, isCompositeAlarm, isMetricAlarm } from './alarms.ts';
import { required } from './cloud-watch-request.ts';
import { refuseOthers, tagList } from './ec2-request.ts';
import { pageOf } from './paging.ts';

/** API: the most alarms of one DeleteAlarms, composite ones among them, and of one page. */
const MOST_DELETED = 100;
const MOST_COMPOSITES_DELETED = 1;
const MOST_ON_A_PAGE = 100;
const ON_A_PAGE = 50;

const STATES = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;

/** CloudWatch's operations on alarms. */
export function alarmsApi(alarms: Alarms) {
  return {
    PutMetricAlarm(input: client.PutMetricAlarmInput): object {
      alarms.put(readMetricAlarm(input), { actionsEnabled: input.ActionsEnabled, tags: tagMap(input.Tags) });
      return {};
    },

    PutCompositeAlarm(input: client.PutCompositeAlarmInput): object {
      alarms.put(readCompositeAlarm(input), {
        actionsEnabled: input.ActionsEnabled,
        tags: tagMap(input.Tags),
      });
      return {};
    },

    DeleteAlarms({ AlarmNames, ...rest }: client.DeleteAlarmsInput): object {
      refuseOthers('DeleteAlarms', rest);
      const names = required('AlarmNames', AlarmNames);
      const composites = names.filter(name => alarms.find(name)?.settings.kind === 'composite');
      if (names.length > MOST_DELETED || composites.length > MOST_COMPOSITES_DELETED)
        throw new ServiceError(
          'ValidationError',
          `At most ${MOST_DELETED} alarms, and at most ${MOST_COMPOSITES_DELETED} composite alarm, can be deleted at once.`,
        );
      alarms.delete(names);
      return {};
    },

    DescribeAlarms(input: client.DescribeAlarmsInput): client.DescribeAlarmsOutput {
      const {
        AlarmNames,
        AlarmNamePrefix,
        AlarmTypes,
        StateValue,
        ActionPrefix,
        MaxRecords,
        NextToken,
        ...rest
      } = input;
      refuseOthers('DescribeAlarms', rest);
      if (AlarmNames && AlarmNamePrefix !== undefined)
        throw new ServiceError('ValidationError', 'AlarmNames and AlarmNamePrefix exclude each other.');
      // API: without types, metric alarms only.
      const types = new Set<string>(AlarmTypes ?? ['MetricAlarm']);
      const found = (
        AlarmNames ? [...new Set(AlarmNames)].flatMap(name => alarms.find(name) ?? []) : alarms.all()
      )
        .filter(alarm => types.has(typeOf(alarm)))
        .filter(({ name }) => AlarmNamePrefix === undefined || name.startsWith(AlarmNamePrefix))
        .filter(({ state }) => StateValue === undefined || state.value === StateValue)
        .filter(({ settings: { actions } }) => {
          if (ActionPrefix === undefined) return true;
          return Object.values(actions).some(arns => arns.some(arn => arn.startsWith(ActionPrefix)));
        });
      const { items, nextToken } = pageOf(found, NextToken, pageSize(MaxRecords), 'InvalidNextToken');
      return {
        MetricAlarms: items.filter(isMetricAlarm).map(describeMetricAlarm),
        CompositeAlarms: items.filter(isCompositeAlarm).map(describeCompositeAlarm),
        ...(nextToken !== undefined && { NextToken: nextToken }),
      };
    },

    DescribeAlarmContributors({
      AlarmName,
      NextToken,
      ...rest
    }: client.DescribeAlarmContributorsInput): client.DescribeAlarmContributorsOutput {
      refuseOthers('DescribeAlarmContributors', rest);
      const alarm = alarms.find(required('AlarmName', AlarmName));
      if (!alarm) throw new ServiceError('ResourceNotFoundException', `Unknown alarm '${AlarmName}'.`, 404);
      const { items, nextToken } = pageOf(
        [...alarm.contributors.values()],
        NextToken,
        ON_A_PAGE,
        'InvalidNextToken',
      );
      return {
        AlarmContributors: items.map(({ id, attributes, state }) => ({
          ContributorId: id,
          ContributorAttributes: { ...attributes },
          StateReason: state.reason,
          StateTransitionedTimestamp: new Date(state.at),
        })),
        ...(nextToken !== undefined && { NextToken: nextToken }),
      };
    },

    DescribeAlarmHistory(input: client.DescribeAlarmHistoryInput): client.DescribeAlarmHistoryOutput {
      const { AlarmName, AlarmContributorId, AlarmTypes, HistoryItemType, ScanBy, ...given } = input;
      const { StartDate, EndDate, MaxRecords, NextToken, ...rest } = given;
      refuseOthers('DescribeAlarmHistory', rest);
      const types = new Set<string>(AlarmTypes ?? ['MetricAlarm']);
      const found = alarms.history.items.filter(
        item =>
          (AlarmName === undefined || item.AlarmName === AlarmName) &&
          (AlarmContributorId === undefined || item.AlarmContributorId === AlarmContributorId) &&
          types.has(item.AlarmType ?? '') &&
          (HistoryItemType === undefined || item.HistoryItemType === HistoryItemType) &&
          (StartDate === undefined || (item.Timestamp ?? StartDate) >= StartDate) &&
          (EndDate === undefined || (item.Timestamp ?? EndDate) <= EndDate),
      );
      const ordered = ScanBy === 'TimestampAscending' ? found : found.toReversed();
      const { items, nextToken } = pageOf(ordered, NextToken, pageSize(MaxRecords), 'InvalidNextToken');
      return { AlarmHistoryItems: items, ...(nextToken !== undefined && { NextToken: nextToken }) };
    },

    SetAlarmState(input: client.SetAlarmStateInput): object {
      const { AlarmName, StateValue, StateReason, StateReasonData, ...rest } = input;
      refuseOthers('SetAlarmState', rest);
      const value = STATES.find(state => state === StateValue);
      if (!value) throw new ServiceError('ValidationError', `The state '${StateValue}' is not valid.`);
      const reason = required('StateReason', StateReason);
      alarms.setState(required('AlarmName', AlarmName), value, { reason, data: StateReasonData });
      return {};
    },

    EnableAlarmActions({ AlarmNames }: client.EnableAlarmActionsInput): object {
      for (const name of required('AlarmNames', AlarmNames)) alarms.enableActions(name, true);
      return {};
    },

    DisableAlarmActions({ AlarmNames }: client.DisableAlarmActionsInput): object {
      for (const name of required('AlarmNames', AlarmNames)) alarms.enableActions(name, false);
      return {};
    },

    TagResource({ ResourceARN, Tags }: client.TagResourceInput): object {
      const alarm = alarmOfArn(alarms, ResourceARN);
      alarms.retag(alarm.name, new Map([...alarm.tags, ...tagMap(required('Tags', Tags))]));
      return {};
    },

    UntagResource({ ResourceARN, TagKeys }: client.UntagResourceInput): object {
      const alarm = alarmOfArn(alarms, ResourceARN);
      const gone = new Set(required('TagKeys', TagKeys));
      alarms.retag(alarm.name, new Map([...alarm.tags].filter(([key]) => !gone.has(key))));
      return {};
    },

    ListTagsForResource({ ResourceARN }: client.ListTagsForResourceInput): client.ListTagsForResourceOutput {
      return { Tags: tagList(alarmOfArn(alarms, ResourceARN).tags) };
    },
  };
}

const typeOf = ({ settings }: Alarm): client.AlarmType =>
  settings.kind === 'metric' ? 'MetricAlarm' : 'CompositeAlarm';

const tagMap = (tags: readonly client.Tag[] = []): ReadonlyMap<string, string> =>
  new Map(tags.map(({ Key, Value }) => [Key ?? '', Value ?? '']));

function alarmOfArn(alarms: Alarms, arn: string | undefined): Alarm {
  const alarm = alarms.all().find(candidate => candidate.arn === required('ResourceARN', arn));
  if (!alarm) throw new ServiceError('ResourceNotFoundException', `There is no resource ${arn}.`, 404);
  return alarm;
}

function pageSize(asked: number | undefined): number {
  if (asked !== undefined && (asked < 1 || asked > MOST_ON_A_PAGE))
    throw new ServiceError('ValidationError', `MaxRecords must be from 1 to ${MOST_ON_A_PAGE}.`);
  return asked ?? ON_A_PAGE;
}

function describeMetricAlarm(alarm: Alarm<MetricAlarmSettings>): client.MetricAlarm {
  const { settings } = alarm;
  const { Tags: _tags, ...input } = settings.input;
  return {
    ...input,
    ...describedState(alarm),
    EvaluationPeriods: settings.evaluationPeriods,
    DatapointsToAlarm: settings.datapointsToAlarm,
    TreatMissingData: settings.treatMissingData,
  };
}

function describeCompositeAlarm(alarm: Alarm<CompositeAlarmSettings>): client.CompositeAlarm {
  const { Tags: _tags, ...input } = alarm.settings.input;
  return { ...input, ...describedState(alarm) };
}

function describedState({ arn, actionsEnabled, settings, configuredAt, state }: Alarm) {
  const { OK, ALARM, INSUFFICIENT_DATA } = settings.actions;
  return {
    AlarmArn: arn,
    ActionsEnabled: actionsEnabled,
    OKActions: [...OK],
    AlarmActions: [...ALARM],
    InsufficientDataActions: [...INSUFFICIENT_DATA],
    AlarmConfigurationUpdatedTimestamp: new Date(configuredAt),
    StateValue: state.value,
    StateReason: state.reason,
    ...(state.data !== undefined && { StateReasonData: state.data }),
    StateUpdatedTimestamp: new Date(state.at),
    StateTransitionedTimestamp: new Date(state.at),
  };
}
