import { describe, expect, test } from 'vitest';
import { ATTENDANCE_SECONDS } from '../../functions/core/limits.ts';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { hooked, scaled } from './helpers/launches.ts';

const abandoning = { DefaultPolicy: '{"readySeconds":60}', LaunchNotReady: 'ABANDON' };

test.each([1, 2])(
  'R-EVENTUAL: a launch that EC2 does not describe in its first reads (%i) is neither let in unproven nor abandoned',
  async lagging => {
    let reads = 0;
    const fleet = await scaled(hooked({ startUpSeconds: 60 }), {
      parameters: abandoning,
      gates: () => [
        {
          async around(call, input, perform) {
            const answer = await perform(input);
            if (call.action !== 'DescribeInstances' || call.caller.name !== 'InstanceLaunchFunction')
              return answer;
            return ++reads <= lagging ? { Reservations: [] } : answer;
          },
        },
      ],
    });
    fleet.scaleTo(5);
    await fleet.pass(420);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.completed).toEqual(['CONTINUE']);
    expect(fleet.secondsIn(launched, 'Pending:Wait')).toBeGreaterThan(100);
  },
);

test('R-EVENTUAL: nor one that a later turn does not find', async () => {
  let from = Number.POSITIVE_INFINITY;
  const fleet = await scaled(hooked({ startUpSeconds: 60 }), {
    parameters: abandoning,
    gates: account => [
      {
        async around(call, input, perform) {
          const answer = await perform(input);
          const isLate = account.world.clock.now() >= from && account.world.clock.now() < from + 30_000;
          return isLate && call.action === 'DescribeInstances' ? { Reservations: [] } : answer;
        },
      },
    ],
  });
  fleet.scaleTo(5);
  await fleet.pass(60);
  from = fleet.bracket.clock.now();
  await fleet.pass(420);
  expect(fleet.completed).toEqual(['CONTINUE']);
});

describe('D20: a check that keeps a launch', () => {
  test.each(['demoted', 'deleted'])('and is %s meanwhile is not waited for', async how => {
    const fleet = await scaled(hooked({ startUpSeconds: 36_000 }), { parameters: abandoning });
    fleet.scaleTo(5);
    await fleet.pass(90);
    const [ApplicationStatusCheckId = ''] = fleet.bracket.standing.fleet.checkIds;
    const api = ec2Api(fleet.bracket.standing.account.checks);
    if (how === 'demoted')
      api.ModifyApplicationStatusCheck({ ApplicationStatusCheckId, Aggregation: 'excluded' });
    else api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId });
    await fleet.pass(120);
    expect(fleet.completed[0]).toBe('CONTINUE');
    expect(fleet.path(fleet.newcomers[0] ?? '')).toContain('InService');
  });
});

test('R-BUDGET: an instance that waited for a run is not abandoned for one failed evaluation at its end', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 300 } }), { parameters: abandoning });
  const policy = { launches: 'wait', deploymentSeconds: 3600 };
  expect(outcome(await fleet.bracket.before({ policy }))).toBe('SUCCEEDED');
  fleet.scaleTo(5);
  await fleet.pass(900);
  const [launched = ''] = fleet.newcomers;
  const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
  await fleet.bracket.reaches(after, 'Release');
  await fleet.pass(30);
  const application = fleet.bracket.standing.account.ec2.instance(launched)?.application;
  application?.suffer(({ path }) =>
    path === '/health' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
  );
  await fleet.bracket.end(after);
  application?.suffer(undefined);
  await fleet.pass(300);
  expect(fleet.completed).toEqual(['CONTINUE']);
});

test('R-HOOK: the second execution of an event that came twice leaves the action to the first, also when it would fail', async () => {
  let begun = 0;
  const fleet = await scaled(hooked({ startUpSeconds: 60 }), {
    deliveries: () => [500, 3000],
    gates: () => [
      {
        before({ action }) {
          if (action === 'DescribeLifecycleHooks' && ++begun > 1)
            throw new ServiceError('InternalFailure', 'no', 400);
        },
      },
    ],
  });
  fleet.scaleTo(5);
  await fleet.pass(420);
  expect(fleet.secondsIn(fleet.newcomers[0] ?? '', 'Pending:Wait')).toBeGreaterThan(100);
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
});

test.each([1800, 43_200])(
  "D15: attendance and watch of a launch end before their machine's time-out, with readySeconds %i",
  async readySeconds => {
    const fleet = await scaled(hooked({}, { hooks: { launch: 300 } }), {
      parameters: { DefaultPolicy: JSON.stringify({ readySeconds }) },
    });
    fleet.scaleTo(5);
    await fleet.pass(60);
    const events = fleet.executions('InstanceLaunch')[0]?.history.events() ?? [];
    const exited = events.flatMap(({ stateExitedEventDetails: details }) => details ?? []);
    const begun = exited.find(({ name }) => name === 'Begin');
    const { actionDeadline, inServiceSeconds } = JSON.parse(begun?.output ?? '{}');
    const openedAt = fleet.bracket.clock.now() / 1000 - 60;
    expect(actionDeadline - openedAt + inServiceSeconds).toBeLessThan(ATTENDANCE_SECONDS + 60);
    expect(inServiceSeconds).toBe(Math.min(readySeconds, 3600));
  },
);
