import type {
  DeleteAlarmsCommandInput,
  DisableAlarmActionsCommandInput,
  EnableAlarmActionsCommandInput,
  ListTagsForResourceCommandInput,
  PutCompositeAlarmCommandInput,
  PutMetricAlarmCommandInput,
  PutMetricDataCommandInput,
  SetAlarmStateCommandInput,
  TagResourceCommandInput,
  UntagResourceCommandInput,
} from '@aws-sdk/client-cloudwatch';
import type { GetObjectCommandInput } from '@aws-sdk/client-s3';
import type {
  DescribeExecutionCommandInput,
  DescribeStateMachineCommandInput,
  GetExecutionHistoryCommandInput,
  ListExecutionsCommandInput,
  RedriveExecutionCommandInput,
  StartExecutionCommandInput,
  StopExecutionCommandInput,
} from '@aws-sdk/client-sfn';
import {
  type About,
  type ActionTable,
  type Concern,
  concern,
  EVERYTHING,
  onEverything,
  requestTags,
} from './resources.ts';

const alarm = (name: string | undefined, about: About, context: Concern['context'] = {}): Concern =>
  concern(about.arn('cloudwatch', `alarm:${name}`), context);

/** Tags on create need TagResource as well. */
const tagging = (
  { AlarmName, Tags = [] }: PutMetricAlarmCommandInput | PutCompositeAlarmCommandInput,
  about: About,
): readonly Concern[] =>
  Tags.length === 0
    ? []
    : [{ ...alarm(AlarmName, about, requestTags(Tags)), action: 'cloudwatch:TagResource' }];

const namedAlarms = (
  input: DeleteAlarmsCommandInput | EnableAlarmActionsCommandInput | DisableAlarmActionsCommandInput,
  about: About,
): readonly Concern[] => (input.AlarmNames ?? []).map(name => alarm(name, about));

/** Sources: aws-behaviour.md 1.5 and D18: alarms have no tag condition, composites and DescribeAlarms need `*`. */
export const CLOUDWATCH: ActionTable = {
  ...onEverything(
    'DescribeAlarmContributors',
    'DescribeAlarmHistory',
    'DescribeAlarms',
    'DescribeAlarmsForMetric',
    'GetMetricData',
    'GetMetricStatistics',
    'ListMetrics',
  ),
  PutMetricAlarm: (input: PutMetricAlarmCommandInput, about) => [
    alarm(input.AlarmName, about, { 'cloudwatch:AlarmActions': input.AlarmActions ?? [] }),
    ...tagging(input, about),
  ],
  PutCompositeAlarm: (input: PutCompositeAlarmCommandInput, about) => [
    ...EVERYTHING,
    ...tagging(input, about),
  ],
  DeleteAlarms: namedAlarms,
  EnableAlarmActions: namedAlarms,
  DisableAlarmActions: namedAlarms,
  SetAlarmState: (input: SetAlarmStateCommandInput, about) => [alarm(input.AlarmName, about)],
  PutMetricData: (input: PutMetricDataCommandInput) => [
    concern('*', { 'cloudwatch:namespace': listed(input.Namespace) }),
  ],
  TagResource: (input: TagResourceCommandInput) => [
    concern(input.ResourceARN ?? '', requestTags(input.Tags)),
  ],
  UntagResource: (input: UntagResourceCommandInput) => [
    concern(input.ResourceARN ?? '', { 'aws:TagKeys': input.TagKeys ?? [] }),
  ],
  ListTagsForResource: (input: ListTagsForResourceCommandInput) => [concern(input.ResourceARN ?? '')],
};

type NamesMachine =
  | StartExecutionCommandInput
  | DescribeStateMachineCommandInput
  | ListExecutionsCommandInput;

const machine = (input: NamesMachine): readonly Concern[] =>
  listed(input.stateMachineArn).map(arn => concern(arn));

type NamesExecution =
  | DescribeExecutionCommandInput
  | GetExecutionHistoryCommandInput
  | RedriveExecutionCommandInput
  | StopExecutionCommandInput;

const execution = (input: NamesExecution): readonly Concern[] =>
  listed(input.executionArn).map(arn => concern(arn));

/** Source: aws-behaviour.md 1.5. */
export const STATES: ActionTable = {
  ...onEverything('ListStateMachines', 'SendTaskFailure', 'SendTaskHeartbeat', 'SendTaskSuccess'),
  StartExecution: machine,
  DescribeStateMachine: machine,
  ListExecutions: machine,
  DescribeExecution: execution,
  GetExecutionHistory: execution,
  RedriveExecution: execution,
  StopExecution: execution,
};

/** Calls that Lambda, EventBridge and Step Functions make under a role without going through an SDK client here. */
export const LAMBDA: ActionTable = {
  Invoke: ({ FunctionName, Qualifier }: { FunctionName?: string; Qualifier?: string }, about) => {
    const named = FunctionName?.startsWith('arn:')
      ? FunctionName
      : about.arn('lambda', `function:${FunctionName}`);
    return [{ ...concern(Qualifier ? `${named}:${Qualifier}` : named), action: 'lambda:InvokeFunction' }];
  },
};

export const SQS: ActionTable = {
  SendMessage: ({ QueueUrl }: { QueueUrl?: string }, about) => [
    concern(about.arn('sqs', QueueUrl?.split('/').at(-1) ?? '')),
  ],
};

export const S3: ActionTable = {
  GetObject: ({ Bucket, Key }: GetObjectCommandInput, about) => [concern(about.object(Bucket, Key))],
};

/** Only the default bus is used. */
export const EVENTS: ActionTable = {
  PutEvents: (_input: object, about) => [concern(about.arn('events', 'event-bus/default'))],
};

export const SNS: ActionTable = {
  Publish: ({ TopicArn }: { TopicArn?: string }) => [concern(TopicArn ?? '')],
};

const listed = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value]);
