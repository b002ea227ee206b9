import { describe, expect, test } from 'vitest';
import { autoScalingActs } from '../../local/account/auto-scaling-acts.ts';
import { bracket, outcome, usual } from '../machine/helpers/bracket.ts';
import { held } from '../sweep/helpers/stopped.ts';
import { hooked, Scaled, scaled } from './helpers/launches.ts';

/** A run over the first two instances has its go-ahead; then Auto Scaling ends the first, which another hook keeps for two hours. */
async function losingOne(): Promise<Scaled> {
  const fleet = await scaled(hooked({}, { hooks: {} }));
  fleet.keepTerminations(7200);
  expect(outcome(await fleet.bracket.before())).toBe('SUCCEEDED');
  fleet.replace(fleet.bracket.ids(0)[0] ?? '');
  await fleet.pass(120);
  expect(fleet.path(fleet.bracket.ids(0)[0] ?? '').at(-1)).toBe('Terminating:Wait');
  return fleet;
}

const registered = ({ bracket }: Scaled): string[] =>
  bracket.actsOf('RegisterTargets').flatMap(({ input }) => JSON.stringify(input.Targets));

test('R-GONE: a member that Auto Scaling is ending is put back nowhere, and is not waited for', async () => {
  const fleet = await losingOne();
  const [leaving = '', staying = ''] = fleet.bracket.ids();
  // It does not even answer any more.
  fleet.bracket.standing.account.ec2.instance(leaving)?.application.stop();
  const after = await fleet.bracket.after();
  expect(outcome(after)).toBe('SUCCEEDED');
  expect(registered(fleet).join()).toContain(staying);
  expect(registered(fleet).join()).not.toContain(leaving);
  // It is suppressed no more, should it be retained.
  const released = fleet.bracket.entries('suppression').filter(({ instanceId }) => instanceId === leaving);
  expect(released.at(-1)?.state).toBe('released');
});

test('R-GONE: nor when the run is undone', async () => {
  const fleet = await losingOne();
  const [leaving = ''] = fleet.bracket.ids();
  const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
  await fleet.pass(10);
  fleet.bracket.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
  await fleet.pass(900);
  expect(registered(fleet).join()).not.toContain(leaving);
  const keys = (await fleet.bracket.ledger()).map(({ pk }) => pk);
  expect(keys).not.toContain(`instance#${leaving}`);
});

test('R-GONE, D4: nor is its group held for as long as its target drains', async () => {
  const attributes = { 'deregistration_delay.timeout_seconds': '3600' };
  const fleet = await scaled(
    hooked({ targetGroups: [{ name: 'web', port: 8080, attributes }] }, { hooks: {} }),
  );
  await fleet.bracket.before({ traffic: 'leave' });
  fleet.replace(fleet.bracket.ids(0)[0] ?? '');
  await fleet.pass(60);
  const began = fleet.bracket.clock.now();
  const after = await fleet.bracket.after();
  expect(outcome(after), after.cause).toBe('SUCCEEDED');
  expect(fleet.bracket.clock.now() - began).toBeLessThan(900_000);
});

test('R-GONE: nor when only a target group that Auto Scaling does not know shows that it fails', async () => {
  const attributes = { 'deregistration_delay.timeout_seconds': '30' };
  const fleet = await scaled(
    hooked(
      { checks: [], targetGroups: [{ name: 'web', port: 8080, attached: false, attributes }] },
      { hooks: {}, healthChecks: ['EC2'] },
    ),
  );
  fleet.keepTerminations(7200);
  const policy = { discover: 'vpc', minHealthyPercent: 0, readySeconds: 120 };
  expect(outcome(await fleet.bracket.before({ policy }))).toBe('SUCCEEDED');
  const [leaving = ''] = fleet.bracket.ids();
  const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
  await fleet.bracket.reaches(after, 'ObserveInService');
  fleet.bracket.standing.account.ec2.instance(leaving)?.application.stop();
  fleet.replace(leaving);
  await fleet.bracket.end(after);
  expect(outcome(after), after.cause).toBe('SUCCEEDED');
});

test('R-GONE: an instance that was deployed to before, and that Auto Scaling is ending, holds nobody up', async () => {
  const run = await bracket({ ...usual, autoScaling: { healthChecks: ['EC2', 'ELB'] } });
  const fleet = new Scaled(run);
  const policy = { deploymentSeconds: 14_400 };
  await run.before({ runId: 'fleet', fleet: { instanceIds: run.ids() }, traffic: 'leave', policy });
  const hookedTo = (n: number) => ({
    runId: `d-0123456.${n}`,
    fleet: { instanceIds: run.ids(n) },
    observer: 'd-0123456',
    policy: { readySeconds: 120, waitSeconds: 60 },
  });
  await run.before(hookedTo(0));
  expect(outcome(await run.after({ runId: 'd-0123456.0' }))).toBe('SUCCEEDED');
  fleet.keepTerminations(7200);
  fleet.replace(run.ids(0)[0] ?? '');
  await fleet.pass(120);
  run.standing.fleet.instances[0]?.application.stop();
  await fleet.pass(180);
  const next = await run.before(hookedTo(1));
  expect(outcome(next), next.cause).toBe('SUCCEEDED');
});

/** Since its go-ahead the first instance of a run is in this state. */
async function setAside(state: 'Standby' | 'Terminating:Retained' | 'Warmed:Stopped'): Promise<Scaled> {
  const fleet = await scaled(hooked({}, { hooks: {} }));
  expect(outcome(await fleet.bracket.before())).toBe('SUCCEEDED');
  const { account } = fleet.bracket.standing;
  const [InstanceId = ''] = fleet.bracket.ids();
  const member = fleet.group.members.get(InstanceId);
  if (!member) throw new Error(`${InstanceId} is in no group`);
  if (state === 'Standby')
    autoScalingActs(account.autoScaling).EnterStandby({
      AutoScalingGroupName: 'web',
      InstanceIds: [InstanceId],
      ShouldDecrementDesiredCapacity: true,
    });
  else {
    fleet.group.desiredCapacity--;
    fleet.group.move(member, state);
    if (state === 'Warmed:Stopped') account.ec2.stop(InstanceId);
  }
  await fleet.pass(120);
  return fleet;
}

describe.each(['Standby', 'Terminating:Retained', 'Warmed:Stopped'] as const)(
  'R-LIFECYCLE: a member that is %s since the go-ahead',
  state => {
    /** It is in no target group, and nothing of the run is left. */
    async function expectLeftAlone(fleet: Scaled): Promise<void> {
      const [aside = '', other = ''] = fleet.bracket.ids();
      expect(registered(fleet).join()).toContain(other);
      expect(registered(fleet).join()).not.toContain(aside);
      expect(await held(fleet.bracket)).toEqual([]);
      expect([...fleet.group.suspended.keys()]).toEqual([]);
      expect(fleet.bracket.standing.account.checks.overall(aside).status).not.toBe('suppressed');
      expect(fleet.path(aside).at(-1)).toBe(state);
    }

    test('is not put into traffic, and holds up nobody', async () => {
      const fleet = await setAside(state);
      const after = await fleet.bracket.after();
      expect(outcome(after), after.cause).toBe('SUCCEEDED');
      await expectLeftAlone(fleet);
    });

    test('nor by an undo', async () => {
      const fleet = await setAside(state);
      const after = fleet.bracket.start('AfterDeploy', { runId: 'r' });
      await fleet.pass(5);
      fleet.bracket.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
      await fleet.pass(900);
      await expectLeftAlone(fleet);
    });
  },
);

test.each([1, 2])(
  'R-GONE: %s members that are terminated, and have lost their tags, keep nobody suppressed',
  async count => {
    const fleet = await scaled(hooked({}, { hooks: {} }));
    const instanceIds = fleet.bracket.ids(0, 1);
    await fleet.bracket.before({ fleet: { instanceIds } });
    for (const id of instanceIds.slice(0, count)) {
      fleet.replace(id);
      await fleet.pass(120);
      fleet.bracket.standing.account.ec2.tag(id, { quiesce: 'no more' });
    }
    const after = await fleet.bracket.after();
    expect(outcome(after), after.cause).toBe('SUCCEEDED');
    expect(await held(fleet.bracket)).toEqual([]);
  },
);
