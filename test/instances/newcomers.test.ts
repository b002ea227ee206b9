import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { fencedWhileJoining, hooked, type Scaled, scaled } from './helpers/launches.ts';

const suppressions = (fleet: Scaled, instanceId: string): string[] =>
  fleet.bracket
    .entries('suppression')
    .filter(entry => entry.instanceId === instanceId)
    .map(({ state }) => state);

/** A run over the first two instances has its go-ahead, and the group grows by one. */
async function grown(policy: Readonly<Record<string, unknown>>, launchHook = 60): Promise<Scaled> {
  const fleet = await scaled(hooked({}, { hooks: { launch: launchHook } }));
  const before = await fleet.bracket.before({ policy: { deploymentSeconds: 1800, ...policy } });
  expect(outcome(before)).toBe('SUCCEEDED');
  fleet.scaleTo(5);
  return fleet;
}

describe('D1: an instance that is launched during a deployment reaches InService', () => {
  test('suppressed with the fleet and released with it, when it joins the run', async () => {
    const fleet = await grown({ launches: 'join' });
    await fleet.pass(480);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(suppressions(fleet, launched)).toEqual(['spreading', 'suppressed']);
    // Nothing of it reaches Auto Scaling until the run has ended.
    fleet.bracket.standing.account.ec2.instance(launched)?.application.stop();
    await fleet.pass(600);
    expect(fleet.path(launched).at(-1)).toBe('InService');
    fleet.bracket.standing.account.ec2.instance(launched)?.application.start(5);
    expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
    expect(suppressions(fleet, launched).at(-1)).toBe('released');
    expect(await fleet.bracket.violations()).toEqual([]);
  });

  test('when the run has ended, where launches wait for it', async () => {
    const fleet = await grown({ launches: 'wait' });
    await fleet.pass(900);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('Pending:Wait');
    const after = await fleet.bracket.after();
    await fleet.pass(60);
    expect(fleet.path(launched).at(-1)).toBe('InService');
    const proceeded = fleet.bracket
      .entries('lifecycle')
      .find(({ instanceId, state }) => instanceId === launched && state === 'InService');
    expect(proceeded?.at).toBeGreaterThan(fleet.bracket.enteredAt(after, 'Succeed'));
    expect(await fleet.bracket.violations()).toEqual([]);
  });

  test("at the end of the hook's own time, where the run lasts longer", async () => {
    const fleet = await grown({ launches: 'wait', deploymentSeconds: 7200 }, 30);
    await fleet.pass(3100);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.secondsIn(launched, 'Pending:Wait')).toBeGreaterThan(2900);
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED']);
    expect(fleet.completed).toEqual(['CONTINUE']);
  });

  test.each([
    ['launches are ignored', { launches: 'ignore' }],
    ['the run is over listed instances', {}],
  ])('as soon as it is ready, and unsuppressed, where %s', async (_, policy) => {
    const fleet = await grown(policy);
    await fleet.pass(480);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(suppressions(fleet, launched)).toEqual([]);
  });
});

test('R-UNDO: a run that fails releases what has joined it', async () => {
  const fleet = await grown({ launches: 'join' });
  await fleet.pass(480);
  const [launched = ''] = fleet.newcomers;
  const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
  await fleet.pass(30);
  fleet.bracket.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
  await fleet.pass(900);
  expect(suppressions(fleet, launched).at(-1)).toBe('released');
  expect(await fleet.bracket.violations()).toEqual([]);
});

test.each(['before its record', 'after its claim'] as const)(
  'D5: a run that is fenced while an instance joins it, %s names it, is left at once, and nothing is done in its name',
  async moment => {
    const fleet = await fencedWhileJoining(moment);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(suppressions(fleet, launched)).toEqual([]);
    const keys = (await fleet.bracket.ledger()).map(({ pk }) => pk);
    expect(keys).not.toContain(`instance#${launched}`);
  },
);

test('D39: an instance that a person has suppressed while it was launched is not joined to a run', async () => {
  const fleet = await scaled(hooked({ startUpSeconds: 1200 }, { hooks: { launch: 60 } }));
  fleet.scaleTo(5);
  await fleet.pass(60);
  const [launched = ''] = fleet.newcomers;
  fleet.bracket.suppressByHand([launched], 7200);
  await fleet.pass(300);
  await fleet.bracket.before({ policy: { launches: 'join' } });
  await fleet.pass(1200);
  expect(fleet.path(launched).at(-1)).toBe('InService');
  const byLaunches = fleet.bracket
    .actsOf('EnableApplicationStatusCheckSuppression')
    .filter(({ caller }) => caller.name === 'InstanceLaunchFunction');
  expect(byLaunches).toEqual([]);
  expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
  expect(suppressions(fleet, launched).at(-1)).toBe('suppressed');
});

test('R-TTL: an instance that joins two runs is suppressed for as long as the longer one has it', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }), {
    physics: { secondEnable: 'replaces' },
  });
  const { bracket } = fleet;
  const join = (runId: string, number: number, deploymentSeconds: number) =>
    bracket.startBefore({
      runId,
      fleet: { instanceIds: bracket.ids(number) },
      traffic: 'leave',
      policy: { launches: 'join', deploymentSeconds },
    });
  await bracket.end(join('long', 0, 7200), join('short', 1, 600));
  fleet.scaleTo(5);
  await fleet.pass(300);
  const untilOf = (instanceId = '') =>
    bracket.standing.account.checks.suppression(instanceId)?.resumesAt ?? 0;
  // Each is enabled for whole seconds; the shorter run needs two hours less.
  expect(untilOf(fleet.newcomers[0])).toBeGreaterThan(untilOf(bracket.ids(0)[0]) - 60_000);
});

test('R-PARTIAL: where EC2 does not suppress it, a joined instance waits, and the result of the hook decides in the end', async () => {
  const fleet = await scaled(hooked({}, { hooks: { launch: 30 } }), {
    gates: () => [
      {
        before({ action, caller }) {
          if (
            action === 'EnableApplicationStatusCheckSuppression' &&
            caller.name === 'InstanceLaunchFunction'
          )
            throw new ServiceError('InvalidParameterValue', 'not this one');
        },
      },
    ],
  });
  await fleet.bracket.before({ policy: { deploymentSeconds: 7200, launches: 'join' } });
  fleet.scaleTo(5);
  await fleet.pass(3100);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.executions('InstanceLaunch').map(outcome)).toEqual(['SUCCEEDED']);
  expect(fleet.completed).toEqual(['CONTINUE']);
  expect(fleet.path(launched).at(-1)).toBe('InService');
});

test('R-TTL: a joined instance that is launched before the go-ahead has a suppression of its own, and the lead stays', async () => {
  const fleet = await scaled();
  const before = fleet.bracket.startBefore({
    fleet: { autoScalingGroupName: 'web' },
    traffic: 'leave',
  });
  await fleet.pass(20);
  fleet.scaleTo(5);
  const startedAt = fleet.bracket.clock.now();
  await fleet.bracket.end(before);
  expect(outcome(before)).toBe('SUCCEEDED');
  expect((fleet.bracket.clock.now() - startedAt) / 1000).toBeLessThan(300);
  await fleet.pass(300);
  const [launched = ''] = fleet.newcomers;
  expect(suppressions(fleet, launched)).toEqual(['spreading', 'suppressed']);
  const [enabled] = fleet.bracket
    .actsOf('EnableApplicationStatusCheckSuppression')
    .filter(({ input }) => String(input.InstanceIds) === launched);
  expect(enabled?.input.DurationSeconds).toBeGreaterThan(3600);
  expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
  expect(await fleet.bracket.violations()).toEqual([]);
});
