import { describe, expect, test } from 'vitest';
import type { Gate } from '../../local/wire/contract.ts';
import type { Fleet } from '../machine/helpers/bracket.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { hooked, type Scaled, scaled } from './helpers/launches.ts';

const ENABLE = 'EnableApplicationStatusCheckSuppression';

const suppressions = (fleet: Scaled, instanceId: string): string[] =>
  fleet.bracket
    .entries('suppression')
    .filter(entry => entry.instanceId === instanceId)
    .map(({ state }) => state);

/** EC2 names what is launched under UnsuccessfulResults, whoever asks for it, and does what it is asked for the others. */
const refusing = (first: ReadonlySet<string>): Gate => ({
  async around(call, input, perform) {
    if (call.action !== ENABLE) return perform(input);
    const ids = [input.InstanceIds].flat().map(String);
    const bad = ids.filter(id => !first.has(id));
    const good = ids.filter(id => first.has(id));
    const UnsuccessfulResults = bad.map(InstanceId => ({ InstanceId, Reason: 'IncorrectInstanceState' }));
    if (good.length === 0) return { SuccessfulResults: [], UnsuccessfulResults };
    return { ...(await perform({ ...input, InstanceIds: good })), UnsuccessfulResults };
  },
});

describe('D1: what is launched during a run, and cannot be suppressed with it, is let in when it is ready', () => {
  test('D19: without the opt-in tag it is not touched, and the run ends well', async () => {
    const fleet = await scaled(hooked());
    // The group carries the tag without propagating it: its first instances were tagged by hand.
    Object.assign(fleet.group.settings.launchSpec, { tags: {} });
    const before = await fleet.bracket.before({
      fleet: { autoScalingGroupName: 'web' },
      traffic: 'leave',
    });
    expect(outcome(before)).toBe('SUCCEEDED');
    fleet.scaleTo(5);
    await fleet.pass(420);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(suppressions(fleet, launched)).toEqual([]);
    expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
    expect(await fleet.bracket.violations()).toEqual([]);
  });

  test('R-PARTIAL: where EC2 refuses it, in the budget of a lead; and nothing fails that lengthens its suppression', async () => {
    const first = new Set<string>();
    const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }), { gates: () => [refusing(first)] });
    for (const id of fleet.bracket.ids()) first.add(id);
    const policy = { launches: 'join', deploymentSeconds: 300, readySeconds: 120 };
    expect(outcome(await fleet.bracket.before({ policy }))).toBe('SUCCEEDED');
    fleet.scaleTo(5);
    await fleet.pass(900);
    const [launched = ''] = fleet.newcomers;
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(fleet.secondsIn(launched, 'Pending:Wait')).toBeLessThan(700);
    await fleet.pass(800);
    // After-deploy finds that the suppressions end too early by now, and lengthens them.
    expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
  });

  test('D36: where somebody lifts its suppression, it is suppressed anew', async () => {
    const fleet = await scaled(hooked({ startUpSeconds: 400 }, { hooks: { launch: 60 } }));
    const policy = { launches: 'join', deploymentSeconds: 3600 };
    expect(outcome(await fleet.bracket.before({ policy }))).toBe('SUCCEEDED');
    fleet.scaleTo(5);
    await fleet.pass(330);
    const [launched = ''] = fleet.newcomers;
    expect(suppressions(fleet, launched).at(-1)).toBe('suppressed');
    fleet.bracket.liftByHand([launched]);
    await fleet.pass(600);
    expect(fleet.path(launched).at(-1)).toBe('InService');
    expect(suppressions(fleet, launched).slice(-2)).toEqual(['spreading', 'suppressed']);
  });
});

test('D13: one whose checks are all excluded is suppressed for the one that is promoted, and not waited for', async () => {
  const excluded: Partial<Fleet> = { checks: [{ port: 8080, graceSeconds: 1, aggregation: 'excluded' }] };
  const fleet = await scaled(hooked(excluded));
  expect(outcome(await fleet.bracket.before({ policy: { launches: 'join' } }))).toBe('SUCCEEDED');
  fleet.scaleTo(5);
  await fleet.pass(120);
  const [launched = ''] = fleet.newcomers;
  expect(fleet.path(launched).at(-1)).toBe('InService');
  const enabled = fleet.bracket.actsOf(ENABLE).map(({ input }) => String(input.InstanceIds));
  expect(enabled).toContain(launched);
  expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
  expect(await fleet.bracket.violations()).toEqual([]);
});

test('R-UNDO: a release does not overtake a suppression on its way, also when every member is gone', async () => {
  let onItsWay = false;
  const alone = hooked({ targetGroups: [] }, { hooks: { launch: 60 }, minSize: 0, healthChecks: ['EC2'] });
  const fleet = await scaled(alone, {
    gates: account => [
      {
        async around(call, input, perform) {
          if (call.action === ENABLE && call.caller.name === 'InstanceLaunchFunction') {
            onItsWay = true;
            await account.world.clock.sleep(45_000);
          }
          return perform(input);
        },
      },
    ],
  });
  const policy = { launches: 'join', deploymentSeconds: 3600 };
  expect(outcome(await fleet.bracket.before({ policy }))).toBe('SUCCEEDED');
  for (const id of fleet.bracket.ids(0, 1)) fleet.replace(id);
  while (!onItsWay) await fleet.pass(1);
  expect(outcome(await fleet.bracket.after())).toBe('SUCCEEDED');
  await fleet.pass(600);
  for (const id of fleet.newcomers)
    expect(fleet.bracket.standing.account.checks.overall(id).status).toBe('ok');
  expect(await fleet.bracket.violations()).toEqual([]);
});

test('R-UNDO: an instance that is joining a run when its after-deploy begins is suppressed no more, and is left with it', async () => {
  let resume = async () => {};
  const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }), {
    gates: () => [
      {
        async after({ action, caller }, input) {
          const isClaim = JSON.stringify(input.Key ?? '').includes('instance#');
          if (isClaim && action === 'UpdateItem' && caller.name === 'InstanceLaunchFunction') await resume();
        },
      },
    ],
  });
  const { bracket: run } = fleet;
  expect(outcome(await run.before({ policy: { launches: 'join', deploymentSeconds: 3600 } }))).toBe(
    'SUCCEEDED',
  );
  const afters: ReturnType<typeof run.start>[] = [];
  resume = async () => {
    afters.push(run.start('AfterDeploy', { runId: 'r' }));
    await run.standing.account.world.clock.sleep(30_000);
  };
  fleet.scaleTo(5);
  await fleet.pass(120);
  const [launched = ''] = fleet.newcomers;
  for (const after of afters) await run.end(after);
  expect(afters.map(outcome)).toEqual(['SUCCEEDED']);
  expect(suppressions(fleet, launched)).toEqual([]);
  expect(await run.violations()).toEqual([]);
});
