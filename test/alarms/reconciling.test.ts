// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deleteOwnAlarms } from '../../functions/core/alarms/delete-alarms.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { type Watched, watched } from './helpers/watched.ts';

let fleet: Watched;
beforeAll(async () => {
  fleet = await watched();
  // The schedule's own reconciliation is over.
  await fleet.minutes(1);
});

afterAll(() => vi.unstubAllEnvs());

/** As long as a machine waits between two turns. */
const pause = (ms = 5_000) => fleet.bracket.clock.pass(ms);

/** One turn by this execution. */
async function turn(execution: string, startedAt = new Date(fleet.bracket.clock.now()), pauseMs?: number) {
  const { stack, clock } = fleet.bracket;
  await pause(pauseMs);
  const arn = stack.template.functions.get('ReconcileAlarmsFunction')?.arn ?? '';
  const alarms = {
    kept: 'Enabled',
    prefix: 'quiesce/',
    namespace: 'AWS/EC2',
    dimension: 'InstanceId',
    aggregateMissingData: 'missing',
    instancesPerGroup: 50,
    actionArn: stack.template.functions.get('TellOfAlarmFunction')?.arn ?? '',
  };
  const payload = { execution, startedAt: startedAt.toISOString(), optInTagValue: 'enabled', alarms };
  return clock.runFor(stack.lambda.invoke(arn, payload));
}

const forget = (name: string) => fleet.api.DeleteAlarms({ AlarmNames: [name] });

test('R-SERIAL: of two executions one changes the alarms, until it is done', async () => {
  forget('quiesce/group/web/failing');
  expect(await turn('a')).toMatchObject({ verdict: 'waiting', put: 1 });
  expect(await turn('b')).toMatchObject({ verdict: 'busy' });
  expect(await turn('a')).toMatchObject({ verdict: 'met', put: 0, alarms: 8 });
  expect(await turn('b')).toMatchObject({ verdict: 'met' });
});

test('R-OWN: an alarm of somebody else under a name of ours is not overwritten, and said', async () => {
  const name = 'quiesce/group/web/check-silent';
  forget(name);
  fleet.put(name);
  expect(await turn('a')).toMatchObject({ verdict: 'met', foreign: [name] });
  expect(fleet.account.alarms.find(name)?.settings.kind).toBe('metric');
  forget(name);
});

test('R-OWN: one of somebody else under a name that composite alarms ask for is left out there, and holds up none', async () => {
  const [first = '', second = ''] = fleet.bracket.ids();
  const name = `quiesce/instance/${first}/${fleet.checkId}/failed`;
  const [ours] = fleet.api.DescribeAlarms({ AlarmNames: [name] }).MetricAlarms ?? [];
  fleet.put(name);
  forget('quiesce/group/web/failing');
  expect(await turn('a')).toMatchObject({ verdict: 'waiting', put: 3, foreign: [name] });
  expect(await turn('a')).toMatchObject({ verdict: 'met', foreign: [name] });
  const asked = () => {
    const [alarm] =
      fleet.api.DescribeAlarms({ AlarmNames: ['quiesce/group/web/failing'], AlarmTypes: ['CompositeAlarm'] })
        .CompositeAlarms ?? [];
    return alarm?.AlarmRule;
  };
  expect(asked()).toBe(`ALARM("quiesce/instance/${second}/${fleet.checkId}/failed")`);
  fleet.put(name, { AlarmDescription: ours?.AlarmDescription });
  await fleet.minutes(5);
  expect(asked()).toContain(name);
});

test('an alarm that somebody has changed is made again what it should be', async () => {
  await fleet.minutes(5);
  const name = `quiesce/instance/${fleet.bracket.ids(0)[0]}/impaired`;
  const [ours] = fleet.api.DescribeAlarms({ AlarmNames: [name] }).MetricAlarms ?? [];
  const AlarmDescription = ours?.AlarmDescription;
  for (const settings of [
    {},
    { TreatMissingData: 'breaching' },
    { InsufficientDataActions: ['arn:aws:sns:eu-west-1:111122223333:people'] },
    { Statistic: 'Maximum' as const, ComparisonOperator: 'GreaterThanOrEqualToThreshold' as const },
  ]) {
    fleet.put(name, { AlarmDescription, ...settings });
    expect(await turn('a')).toMatchObject({ put: 1 });
    expect(await turn('a')).toMatchObject({ verdict: 'met' });
  }
});

test('R-BUDGET: a reconciliation that does not come to its end says so', async () => {
  forget('quiesce/group/web/failing');
  const longAgo = new Date(fleet.bracket.clock.now() - 3_000_000);
  await expect(turn('a', longAgo)).rejects.toMatchObject({ error: 'AlarmsUnreconciled' });
});

test('D42: the pace of the account holds over everything that changes alarms', async () => {
  const { bracket } = fleet;
  await fleet.minutes(5);
  const at = bracket.sent
    .filter(({ service, action }) => service === 'cloudwatch' && /^(Put|Delete)/.test(action))
    .map(call => call.at);
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
});

test('D42: a turn that comes too early is kept for later', async () => {
  await fleet.minutes(5);
  forget('quiesce/group/web/failing');
  forget('quiesce/group/web/check-silent');
  expect(await turn('a')).toMatchObject({ put: 2 });
  forget('quiesce/group/web/failing');
  expect(await turn('a', undefined, 0)).toMatchObject({ verdict: 'waiting', put: 0 });
  expect(await turn('a')).toMatchObject({ put: 1 });
  expect(await turn('a')).toMatchObject({ verdict: 'met' });
});

/** As a function of the product would, in the stack's own ledger. */
async function deleteAll() {
  await pause();
  const { stack, clock } = fleet.bracket;
  const { world } = fleet.account;
  vi.stubEnv('LEDGER_TABLE', stack.template.tables.get('Ledger')?.name);
  const caller = { kind: 'operator', name: 'clean-up' } as const;
  const transport = stack.wire.transport();
  return clock.runFor(
    runAs({ caller, world, random: world.random, transport }, () => deleteOwnAlarms('quiesce/')),
  );
}

test('R-PARTIAL: what composite alarms of others name stays, and nothing else', async () => {
  const held = `quiesce/instance/${fleet.bracket.ids(0)[0]}/impaired`;
  fleet.api.PutCompositeAlarm({ AlarmName: 'mine', AlarmRule: `ALARM("${held}")` });
  fleet.checks.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: fleet.checkId });
  await fleet.minutes(7);
  expect(Object.keys(fleet.states)).toEqual([held.slice('quiesce/'.length)]);
  expect(await turn('a')).toMatchObject({ verdict: 'met', kept: [held] });
  expect(await deleteAll()).toMatchObject({ deleted: 0, left: 1, waitSeconds: 0, kept: [held] });
  fleet.api.DeleteAlarms({ AlarmNames: ['mine'] });
  expect(await deleteAll()).toMatchObject({ deleted: 1, left: 0, waitSeconds: 0, kept: [] });
  expect(await deleteAll()).toMatchObject({ deleted: 0, left: 0, waitSeconds: 0 });
  // Nobody makes them again while the stack is deleted.
  expect(await turn('a')).toMatchObject({ verdict: 'busy' });
});

test('R-THROTTLE, R-IDEMP: what CloudWatch refuses for a while, or does without saying so, is tried again', async () => {
  let throttled = 10;
  let lost = 4;
  const gate: Gate = {
    before: ({ action }) => {
      if (action === 'PutMetricAlarm' && throttled-- > 0)
        throw new ServiceError('ThrottlingException', 'Rate exceeded', 400);
    },
    after: ({ action }) => {
      if (action === 'PutCompositeAlarm' && lost-- > 0)
        throw new ServiceError('InternalServiceError', 'lost', 500);
    },
  };
  const refused = await watched(undefined, { gates: () => [gate] });
  await refused.minutes(5);
  expect([throttled <= 0, lost <= 0]).toEqual([true, true]);
  expect(Object.values(refused.states)).toEqual(Array(8).fill('OK'));
  expect(new Set(refused.bracket.ended('ReconcileAlarms'))).toEqual(new Set(['SUCCEEDED']));
});
