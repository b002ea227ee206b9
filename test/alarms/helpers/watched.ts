import type { PutMetricAlarmInput } from '@aws-sdk/client-cloudwatch';
import { alarmsApi } from '../../../local/account/alarm-operations.ts';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet } from '../../machine/helpers/bracket.ts';

export const MINUTE = 60_000;

/** Two instances with one included check, in a group that looks at nothing but EC2's status. */
export const pair: Fleet = {
  instances: 2,
  zones: ['eu-west-1a'],
  startUpSeconds: 20,
  alsoListensOn: [8080],
  autoScaling: { healthChecks: ['EC2'], suspended: ['HealthCheck', 'ReplaceUnhealthy'] },
  checks: [{ port: 8080 }],
};

/** A fleet whose alarms the stack keeps, when there has been time to make them. */
export class Watched {
  readonly bracket: Bracket;

  constructor(of: Bracket) {
    this.bracket = of;
  }

  get account() {
    return this.bracket.standing.account;
  }

  get api() {
    return alarmsApi(this.account.alarms);
  }

  get checks() {
    return ec2Api(this.account.checks);
  }

  get checkId(): string {
    return this.account.checks.registry.active()[0]?.id ?? 'no check';
  }

  /** The names of the alarms under the stack's prefix, without it, with their states. */
  get states(): Readonly<Record<string, string>> {
    const ours = this.account.alarms.all().filter(({ name }) => name.startsWith('quiesce/'));
    return Object.fromEntries(ours.map(({ name, state }) => [name.slice('quiesce/'.length), state.value]));
  }

  get told(): string[] {
    return this.bracket.stack.topics.published.map(({ subject }) => subject);
  }

  get lastMessage(): string {
    return this.bracket.stack.topics.published.at(-1)?.message ?? '';
  }

  minutes(count: number): Promise<void> {
    return this.bracket.clock.pass(count * MINUTE);
  }

  /** The application of the fleet's instance of this number answers 503 from now on; or again as it should. */
  fails(number: number, failing = true): void {
    this.bracket.standing.fleet.instances[number]?.application.suffer(
      failing ? () => ({ kind: 'responds', status: 503, afterMs: 20 }) : undefined,
    );
  }

  /** As a person does. */
  put(AlarmName: string, settings: Partial<PutMetricAlarmInput> = {}): void {
    this.api.PutMetricAlarm({
      AlarmName,
      Namespace: 'Mine',
      MetricName: 'm',
      Statistic: 'Sum',
      Period: 300,
      EvaluationPeriods: 1,
      Threshold: 5,
      ComparisonOperator: 'GreaterThanThreshold',
      ...settings,
    });
  }

  /** Calls that change alarms, in order. */
  get changes(): string[] {
    return this.bracket.sent
      .filter(({ service, action }) => service === 'cloudwatch' && /^(Put|Delete)/.test(action))
      .map(({ action }) => action);
  }
}

export const watched = async (fleet: Fleet = pair, settings: BracketSettings = {}): Promise<Watched> => {
  const parameters = { Alarms: 'Enabled', NotificationTopic: 'create', ...settings.parameters };
  const of = new Watched(await bracket(fleet, { ...settings, parameters }));
  await of.minutes(10);
  return of;
};
