import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import type {
  DeployedAlarm,
  DeployedFunction,
  DeployedTemplate,
} from '../../local/stack/deployed-template.ts';
import { readTemplate } from '../../local/stack/template.ts';
import { brokenTemplate, product, templatePath } from './helpers/product.ts';
import { invocationsOf, object } from './helpers/states.ts';

const deployedWith = (parameters: Readonly<Record<string, string>>) =>
  readTemplate({ world: createWorld(), path: templatePath, parameters });

const metricAlarms = ({ alarms }: DeployedTemplate) =>
  alarms.flatMap(alarm => (alarm.kind === 'metric' ? [alarm] : []));

/** `AWS/States ExecutionsFailed StateMachineArn=arn...`, of every metric that an alarm reads. */
function watchedBy({ input }: Extract<DeployedAlarm, { kind: 'metric' }>): string[] {
  const single = input.MetricName ? [input] : [];
  const all = [...single, ...(input.Metrics ?? []).flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])];
  return all.map(({ Namespace, MetricName, Dimensions = [] }) =>
    [Namespace, MetricName, ...Dimensions.map(({ Name, Value }) => `${Name}=${Value}`)].join(' '),
  );
}

/** Functions that AWS invokes and does not wait for: those that no machine calls and no URL leads to. */
function asynchronous({ functions, machines }: DeployedTemplate): DeployedFunction[] {
  const called = new Set(
    [...machines.values()].flatMap(({ definition }) =>
      invocationsOf(definition).map(([, { Arguments }]) => String(object(Arguments).FunctionName)),
    ),
  );
  return [...functions.values()].filter(({ versionArn, url }) => !url && !called.has(versionArn ?? ''));
}

/** What comes again by itself within a minute, and has an alarm on its absence instead. */
const RENEWED: ReadonlySet<string> = new Set(['ViewZonesSchedule', 'ViewZonesFunction']);

const WITH_ALL = {
  NotificationTopic: 'create',
  Alarms: 'Enabled',
  ZoneView: 'Enabled',
  InterfaceWatch: 'Enabled',
};

/** What can get lost without anybody hearing of it (D14, R-LOOP). */
function unguarded(template: DeployedTemplate): string[] {
  const queues = new Set([...template.queues.values()].map(({ arn }) => arn));
  const targets = [...template.rules.values()].flatMap(({ logicalId, targets }) =>
    targets.flatMap(({ deadLetterArn = '', maximumRetryAttempts, maximumEventAgeSeconds }) => [
      ...(queues.has(deadLetterArn) || RENEWED.has(logicalId)
        ? []
        : [`${logicalId} has no dead-letter queue`]),
      // EventBridge's own defaults, which nobody has thought about: 185 attempts in a day.
      ...(maximumRetryAttempts < 185 && maximumEventAgeSeconds < 86_400
        ? []
        : [`${logicalId} has no retry policy`]),
    ]),
  );
  const functions = asynchronous(template).flatMap(({ logicalId, asynchronous }) => [
    ...(queues.has(asynchronous.onFailure ?? '') || RENEWED.has(logicalId)
      ? []
      : [`${logicalId} has no on-failure destination`]),
    // Lambda's own default is six hours.
    ...(asynchronous.maximumEventAgeSeconds < 21_600 ? [] : [`${logicalId} has no maximum event age`]),
  ]);
  return [...targets, ...functions];
}

const isKept = ({ logicalId }: { readonly logicalId: string }): boolean => !RENEWED.has(logicalId);

/** What can fail without an alarm (R-ALARM-ON-US). */
function unwatched(template: DeployedTemplate): string[] {
  const { queues, machines, rules, functions } = template;
  const watched = new Set(metricAlarms(template).flatMap(watchedBy));
  const wanted = [
    ...[...queues.values()].flatMap(({ name }) => [
      `AWS/SQS ApproximateNumberOfMessagesVisible QueueName=${name}`,
      `AWS/SQS ApproximateAgeOfOldestMessage QueueName=${name}`,
    ]),
    ...[...machines.values()].flatMap(({ arn }) =>
      ['Failed', 'TimedOut', 'Aborted'].map(how => `AWS/States Executions${how} StateMachineArn=${arn}`),
    ),
    ...[...rules.values()]
      .filter(isKept)
      .flatMap(({ name }) =>
        ['FailedInvocations', 'InvocationsFailedToBeSentToDlq'].map(
          what => `AWS/Events ${what} RuleName=${name}`,
        ),
      ),
    ...asynchronous(template)
      .filter(isKept)
      .flatMap(({ name }) =>
        ['Errors', 'Throttles', 'AsyncEventsDropped', 'DestinationDeliveryFailures'].map(
          what => `AWS/Lambda ${what} FunctionName=${name}`,
        ),
      ),
    ...[...functions.values()]
      .filter(({ url }) => url)
      .flatMap(({ name }) => ['Errors', 'Throttles'].map(what => `AWS/Lambda ${what} FunctionName=${name}`)),
  ];
  return wanted.filter(what => !watched.has(what));
}

test('D14, R-LOOP: whatever cannot be delivered or handled is kept, and not tried for ever', () => {
  expect(unguarded(product)).toEqual([]);
  const broken = (passage: string, replacement: string) =>
    unguarded(brokenTemplate(passage, replacement).read());
  const schedule =
    'MaximumEventAgeInSeconds: 300\n          DeadLetterConfig:\n            Arn: !GetAtt LostEvents.Arn';
  expect(broken(schedule, 'MaximumEventAgeInSeconds: 300')).toEqual([
    'BeginAlarmsChecks has no dead-letter queue',
  ]);
  expect(
    broken(
      'MaximumEventAgeInSeconds: 300\n          DeadLetterConfig',
      'MaximumEventAgeInSeconds: 86400\n          DeadLetterConfig',
    ),
  ).toEqual(['BeginAlarmsChecks has no retry policy']);
});

test('R-ALARM-ON-US: everything that can fail has an alarm', () => {
  expect(asynchronous(product).map(({ logicalId }) => logicalId)).toEqual(
    expect.arrayContaining(['LifecycleHookFunction', 'SettleFunction', 'SweepFunction']),
  );
  expect(unwatched(product)).toEqual([]);
  const { read } = brokenTemplate('MetricName: ExecutionsAborted', 'MetricName: ExecutionsStarted');
  expect(unwatched(read())).toEqual([
    expect.stringMatching(/^AWS\/States ExecutionsAborted .*:quiesce-InstanceTermination$/),
  ]);
});

test('R-MISSING: each alarm says what missing data means, and why it rings', () => {
  for (const { logicalId, input } of metricAlarms(deployedWith(WITH_ALL))) {
    const { TreatMissingData, AlarmDescription = '', AlarmActions, InsufficientDataActions } = input;
    const silenceIsNews = ['SweepMissingAlarm', 'ViewMissingAlarm'].includes(logicalId);
    expect([logicalId, TreatMissingData, InsufficientDataActions]).toEqual(
      silenceIsNews ? [logicalId, 'missing', AlarmActions] : [logicalId, 'notBreaching', undefined],
    );
    expect(AlarmDescription.length, logicalId).toBeGreaterThan(20);
  }
});

test('R-ALARM-ON-US: the view of the zones has alarms where it runs, one of them on its absence, and none where it does not', () => {
  const named = (parameters: Readonly<Record<string, string>>) =>
    metricAlarms(deployedWith(parameters)).map(({ logicalId }) => logicalId);
  const without = new Set(named({}));
  expect(
    named({ ZoneView: 'Enabled' })
      .filter(name => !without.has(name))
      .sort(),
  ).toEqual([
    'AllTargetsAlarm',
    'ErrorsWhileDrainingAlarm',
    'OneTargetAlarm',
    'OneZoneAlarm',
    'SeveralTargetsAlarm',
    'ShallowCheckAlarm',
    'ViewMissingAlarm',
  ]);
});

test('alarms and notifications go to the topic that is given, to one of our own, or nowhere', () => {
  const topicsOf = (parameters: Readonly<Record<string, string>>) => {
    const template = deployedWith(parameters);
    const called = new Set(metricAlarms(template).map(({ input }) => String(input.AlarmActions ?? 'nobody')));
    return { called: [...called], made: [...template.inert.keys()].filter(name => name === 'Notifications') };
  };
  const given = 'arn:aws:sns:eu-west-1:111122223333:operations';
  expect(topicsOf({})).toEqual({ called: ['nobody'], made: [] });
  expect(topicsOf({ NotificationTopic: given })).toEqual({ called: [given], made: [] });
  const own = 'arn:aws:sns:eu-west-1:111122223333:quiesce-Notifications';
  expect(topicsOf({ NotificationTopic: 'create' })).toEqual({ called: [own], made: ['Notifications'] });
  expect(() => deployedWith({ NotificationTopic: 'operations' })).toThrow('NotificationTopic');
});
