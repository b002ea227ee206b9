import { expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { hooked, scaled } from './helpers/launches.ts';

test('D3, R-HOOK: an instance is let into service when each check has passed twice, under heartbeats', async () => {
  const fleet = await scaled();
  fleet.scaleTo(5);
  await fleet.pass(420);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.path(launched)).toEqual(['Pending', 'Pending:Wait', 'Pending:Proceed', 'InService']);
  // Two intervals until the check passes, and another evaluation of it, which shows up to a minute late.
  expect(fleet.secondsIn(launched, 'Pending:Wait')).toBeGreaterThan(120);
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED']);
  expect(fleet.completed).toEqual(['CONTINUE']);
  const beats = fleet.bracket.actsOf('RecordLifecycleActionHeartbeat').map(({ at }) => at);
  const gaps = beats.slice(1).map((at, index) => (at - (beats[index] ?? at)) / 1000);
  expect(Math.max(...gaps)).toBeLessThan(30);
  expect(await fleet.bracket.violations()).toEqual([]);
});

test.each([
  ['without a check', hooked({ checks: [] })],
  ['whose only check is excluded', hooked({ checks: [{ port: 8080, aggregation: 'excluded' }] })],
])('D3: an instance %s is let into service at once', async (_, shape) => {
  const fleet = await scaled(shape);
  fleet.scaleTo(5);
  await fleet.pass(120);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.path(launched).at(-1)).toBe('InService');
  expect(fleet.secondsIn(launched, 'Pending:Wait')).toBeLessThan(5);
});

const soonSpent = { DefaultPolicy: '{"readySeconds":60}' };

test('D1: an instance that is not ready in its budget is let into service all the same, and the execution fails', async () => {
  const fleet = await scaled(hooked({ startUpSeconds: 3600 }), { parameters: soonSpent });
  fleet.scaleTo(5);
  await fleet.pass(600);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.path(launched)).toContain('InService');
  expect(fleet.executions('InstanceLaunch').map(outcome)).toContain('FAILED BudgetSpent');
  expect(fleet.executions('InstanceLaunch')[0]?.cause).toMatch(/ready in its budget: check asc-.*fails/);
});

test('D1: it is abandoned only where the stack says so', async () => {
  const parameters = { ...soonSpent, LaunchNotReady: 'ABANDON' };
  const fleet = await scaled(hooked({ startUpSeconds: 3600 }), { parameters });
  fleet.scaleTo(5);
  await fleet.pass(600);
  expect(fleet.completed).toEqual(['ABANDON']);
  expect(fleet.path(fleet.newcomers[0] ?? '')).not.toContain('InService');
});

test('D1: a failure of ours lets the instance into service, and ends as that failure', async () => {
  const denied = new ServiceError('UnauthorizedOperation', 'no', 403);
  const fleet = await scaled(hooked(), {
    gates: () => [
      {
        before(call) {
          if (call.action === 'DescribeApplicationStatusCheckAssociations') throw denied;
        },
      },
    ],
  });
  fleet.scaleTo(5);
  await fleet.pass(120);
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['FAILED AccessDenied']);
  expect(fleet.path(fleet.newcomers[0] ?? '').at(-1)).toBe('InService');
});

test('R-IDEMP, R-HOOK: an event that comes twice has one owner', async () => {
  const fleet = await scaled(hooked(), { deliveries: () => [500, 900] });
  fleet.scaleTo(5);
  await fleet.pass(420);
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  expect(fleet.executions('InstanceLaunch').map(one => fleet.bracket.path(one).at(-1))).toEqual([
    'Done',
    'LeftAlone',
  ]);
  expect(fleet.completed).toEqual(['CONTINUE']);
});

test('D19: the hooks of a group that has not opted in are left to end by themselves', async () => {
  const fleet = await scaled(hooked({ optedIn: ['instances'] }));
  fleet.scaleTo(5);
  await fleet.pass(120);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.secondsIn(launched, 'Pending:Wait')).toBe(60);
  expect(fleet.bracket.acts).toEqual([]);
  expect(fleet.executions('InstanceLaunch').map(one => fleet.bracket.path(one).at(-1))).toEqual([
    'LeftAlone',
  ]);
});

test('R-GONE, R-HOOK: an instance that vanishes in its launch, or an action that is over, is not waited for', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }));
  fleet.scaleTo(6);
  await fleet.pass(90);
  const [vanishing = '', withdrawn = ''] = fleet.newcomers;
  fleet.bracket.standing.account.ec2.terminate(vanishing);
  fleet.replace(withdrawn);
  await fleet.pass(60);
  expect(fleet.executions('InstanceLaunch').slice(0, 2).map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  expect(fleet.completed).toEqual(['ABANDON']);
  await fleet.pass(600);
  expect(fleet.group.inService).toHaveLength(6);
});

test('D3: what is let in and does not get into service is reported', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 }, suspended: ['AddToLoadBalancer'] }), {
    parameters: soonSpent,
  });
  fleet.scaleTo(5);
  await fleet.pass(900);
  const [execution] = fleet.executions('InstanceLaunch');
  expect(execution && outcome(execution)).toBe('FAILED BudgetSpent');
  expect(execution?.cause).toContain('of web is not registered');
  expect(fleet.path(fleet.newcomers[0] ?? '').at(-1)).toBe('InService');
});

test('R-GONE: what is being ended before it gets into service is waited for no longer', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 }, suspended: ['AddToLoadBalancer'] }));
  fleet.scaleTo(5);
  await fleet.pass(300);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.path(launched).at(-1)).toBe('InService');
  fleet.keepTerminations(3600);
  fleet.replace(launched);
  await fleet.pass(60);
  expect(fleet.path(launched).at(-1)).toBe('Terminating:Wait');
  expect(fleet.executions('InstanceLaunch').slice(0, 1).map(outcome)).toEqual(['SUCCEEDED']);
});

test('R-LIFECYCLE: what goes into a warm pool goes at once, and what leaves it has to be ready', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 }, others: ['Warmed:Stopped'] }));
  const warm = [...fleet.group.members.values()].find(({ lifecycle }) => lifecycle === 'Warmed:Stopped');
  fleet.scaleTo(5);
  await fleet.pass(420);
  const leaving = warm?.instanceId ?? '';
  expect(fleet.path(leaving).at(-1)).toBe('InService');
  expect(fleet.secondsIn(leaving, 'Pending:Wait')).toBeGreaterThan(100);
  const [filling = ''] = fleet.newcomers.filter(id => id !== leaving);
  expect(fleet.path(filling).at(-1)).toBe('Warmed:Stopped');
  expect(fleet.secondsIn(filling, 'Warmed:Pending:Wait')).toBeLessThan(5);
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
});
