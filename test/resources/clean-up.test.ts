// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, expect, test, vi } from 'vitest';
import { descriptionOf } from '../../functions/core/domain/alarm-words.ts';
import { closeFor, reopen, requireOpen } from '../../functions/core/ledger/closing.ts';
import { alarmsApi } from '../../local/account/alarm-operations.ts';
import { readMetricAlarm } from '../../local/account/alarm-settings.ts';
import { OPT_IN } from '../../local/simulate/build-fleet.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { outcome, usual } from '../machine/helpers/bracket.ts';
import { unneededBy } from '../template/helpers/role-groups.ts';
import { customResources, type Stacks, stacks } from './helpers/stacks.ts';

/** The stack of Quiesce itself, as far as its clean-up is concerned. */
const own = (Force: boolean, more: Readonly<Record<string, unknown>> = {}) =>
  customResources({ CleanUp: { type: 'Custom::QuiesceCleanUp', Force, After: ['whatever'], ...more } });

let team: Stacks;
beforeEach(async () => {
  team = await stacks({}, 1, { ...usual, zones: ['eu-west-1a'] });
});

const suppressed = () =>
  team.bracket
    .ids()
    .filter(id => team.bracket.standing.account.checks.suppression(id)?.state === 'suppressed');
const alarms = () => [...team.bracket.standing.account.alarms.all()].map(({ name }) => name);

function putAlarm(AlarmName: string, AlarmDescription: string, tags: Readonly<Record<string, string>>): void {
  const watches = {
    Namespace: 'AWS/EC2',
    MetricName: 'StatusCheckFailed_Application',
    Statistic: 'Maximum' as const,
  };
  const rings = {
    Period: 60,
    EvaluationPeriods: 2,
    Threshold: 1,
    ComparisonOperator: 'GreaterThanThreshold' as const,
  };
  team.bracket.standing.account.alarms.put(
    readMetricAlarm({ AlarmName, AlarmDescription, ...watches, ...rings }),
    { tags: new Map(Object.entries(tags)) },
  );
}

test('D22: it refuses while a deployment is live, and when it is forced it undoes it, and whatever else is left', async () => {
  const stack = team.own;
  expect(await team.run(stack.create(own(false)))).toBe('CREATE_COMPLETE');
  const { bracket } = team;
  expect(outcome(await bracket.before())).toBe('SUCCEEDED');
  const [subject, another] = ['i-0123456789abcdef0', 'ours-by-name'];
  const ours = `quiesce/instance/${subject}/impaired`;
  putAlarm(ours, descriptionOf({ of: 'instance', instanceId: subject, what: 'impaired' }), OPT_IN);
  putAlarm(`quiesce/${another}`, 'Made by somebody else.', {});
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toBe(
    'RunInProgress: Run r is live. Delete the stack when it is over, or set its parameter ForceDeletion to true: then it is ended.',
  );
  expect([suppressed().length, alarms().includes(ours)]).toEqual([2, true]);
  // It is not deleted, so what comes next goes on as before.
  const next = { runId: 'next', fleet: { instanceIds: bracket.ids(2) }, policy: { leadSeconds: 3000 } };
  const run = bracket.startBefore(next);
  await bracket.reaches(run, 'Suppress');
  expect(run.status).toBe('RUNNING');
  expect(await team.run(stack.update(own(true)))).toBe('UPDATE_COMPLETE');
  const deleting = stack.delete();
  await bracket.clock.pass(10_000);
  expect(outcome(await bracket.before({ runId: 'late', fleet: { instanceIds: bracket.ids(3) } }))).toBe(
    'FAILED StackClosing',
  );
  expect(await team.run(deleting)).toBe('DELETE_COMPLETE');
  expect([suppressed(), bracket.ended('UndoRun')]).toEqual([
    [],
    ['FAILED StackDeleted', 'FAILED StackDeleted'],
  ]);
  expect([alarms().includes(ours), alarms().includes(`quiesce/${another}`)]).toEqual([false, true]);
  expect([team.unanswered, team.cloudFormation.custom.faults]).toEqual([[], []]);
  expect(await bracket.violations()).toEqual([]);
  // It knows no narrower permissions than these.
  expect(unneededBy('resources', bracket.stack).filter(one => one.startsWith('CleanUp'))).toEqual([]);
});

test('D22: so it does with the adoption of a check', async () => {
  const stack = team.own;
  await team.run(stack.create(own(false)));
  const adoption = team.bracket.start('PromoteCheck', {
    autoScalingGroupName: 'web',
    check: { id: team.createCheck() },
  });
  await team.bracket.reaches(adoption, 'ObserveSample');
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toContain('RunInProgress: A check is being adopted by web.');
  await team.run(stack.update(own(true)));
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(team.associations.filter(value => value.startsWith('i-'))).toEqual([]);
  expect(team.bracket.stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'))).toEqual([]);
});

test('D22: a retirement is waited for, unless the deletion is forced', async () => {
  const stack = team.own;
  await team.run(stack.create(own(false)));
  const { network } = team.bracket.standing.account.ec2;
  const [{ id } = { id: '' }] = [network.addSecurityGroup({ tags: OPT_IN })];
  team.createCheck(OPT_IN, id);
  const retirement = team.bracket.start('RetireCheck', { checkId: team.registry.active().at(-1)?.id });
  await team.bracket.clock.pass(60_000);
  expect([retirement.status, await team.run(stack.delete())]).toEqual(['RUNNING', 'DELETE_FAILED']);
  expect(stack.events.at(-1)?.reason).toContain('is being retired. Delete the stack when it is over');
  await team.run(stack.update(own(true)));
  expect([await team.run(stack.delete()), retirement.status]).toEqual(['DELETE_COMPLETE', 'RUNNING']);
});

test('D38: what a failed run keeps held for somebody to look at is given back, without force', async () => {
  const stack = team.own;
  await team.run(stack.create(own(false)));
  const { bracket } = team;
  await bracket.before({ policy: { readySeconds: 60, afterFailure: 'held', heldSeconds: 7200 } });
  bracket.standing.fleet.instances[1]?.application.stop();
  await bracket.after();
  bracket.standing.fleet.instances[1]?.application.start(0);
  expect(suppressed()).toEqual(bracket.ids(1));
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(suppressed()).toEqual([]);
  expect((await bracket.ledger()).filter(({ pk }) => pk.startsWith('instance#'))).toEqual([]);
});

test("D9: another stack's clean-up is refused, and its deletion ends nothing of ours", async () => {
  const { bracket } = team;
  expect(outcome(await bracket.before())).toBe('SUCCEEDED');
  const another = team.stack('another');
  expect(await team.run(another.create(own(true)))).toBe('ROLLBACK_COMPLETE');
  expect(another.events[0]?.reason).toBe(
    'InvalidRequest: Custom::QuiesceCleanUp is a resource of the stack of Quiesce alone.',
  );
  expect([bracket.ended('UndoRun'), suppressed().length]).toEqual([[], 2]);
  expect((await bracket.ledger()).map(({ pk }) => pk)).not.toContain('stack#closing');
});

test('R-PARTIAL: an alarm that somebody composed into theirs is named, and goes when it is free', async () => {
  const { bracket } = team;
  const stack = team.own;
  await team.run(stack.create(own(false, { ServiceTimeout: 600 })));
  const [subject] = ['i-0123456789abcdef0'];
  const ours = `quiesce/instance/${subject}/impaired`;
  putAlarm(ours, descriptionOf({ of: 'instance', instanceId: subject, what: 'impaired' }), OPT_IN);
  const api = alarmsApi(bracket.standing.account.alarms);
  api.PutCompositeAlarm({ AlarmName: 'theirs', AlarmRule: `ALARM("${ours}")` });
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toContain(`a composite alarm of somebody else's names ${ours}`);
  api.DeleteAlarms({ AlarmNames: ['theirs'] });
  expect([await team.run(stack.delete()), alarms().includes(ours)]).toEqual(['DELETE_COMPLETE', false]);
});

test('R-OWN: an alarm that a reconciliation in flight still makes is deleted too', async () => {
  const { bracket } = team;
  const stack = team.own;
  await team.run(stack.create(own(true)));
  expect(outcome(await bracket.before())).toBe('SUCCEEDED');
  const ours = () => alarms().filter(name => name.startsWith('quiesce/'));
  const put = (instanceId: string) => {
    const description = descriptionOf({ of: 'instance', instanceId, what: 'impaired' });
    putAlarm(`quiesce/instance/${instanceId}/impaired`, description, OPT_IN);
  };
  put('i-0123456789abcdef0');
  const deleting = stack.delete();
  // Whoever makes alarms is fenced when the first one goes, and its last act may take a minute from then on.
  while (ours().length > 0) await bracket.clock.pass(1_000);
  bracket.clock.after(50_000, () => put('i-0123456789abcdef1'));
  expect(await team.run(deleting)).toBe('DELETE_COMPLETE');
  await bracket.clock.pass(60_000);
  expect(ours()).toEqual([]);
});

test('D22: a refusal that dies halfway, and is decided again, leaves nothing open to what begins meanwhile', async () => {
  const { stack, standing, clock } = team.bracket;
  const { world } = standing.account;
  vi.stubEnv('LEDGER_TABLE', stack.template.tables.get('Ledger')?.name);
  const caller = { kind: 'operator', name: 'clean-up' } as const;
  const asProduct = <T>(act: () => Promise<T>) =>
    clock.runFor(runAs({ caller, world, random: world.random, transport: stack.wire.transport() }, act));
  const close = () => asProduct(() => closeFor('request', clock.now() / 1000 + 600));
  const closedAt = await close();
  await asProduct(reopen);
  await asProduct(requireOpen);
  await clock.pass(2_000);
  expect(await close()).toBeGreaterThan(closedAt);
  await expect(asProduct(requireOpen)).rejects.toMatchObject({ name: 'StackClosing' });
  vi.unstubAllEnvs();
});
