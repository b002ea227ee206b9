import { describe, expect, test } from 'vitest';
import { DESCRIBES_AT_ONCE } from '../../functions/core/limits.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { hooked, type Scaled, scaled } from './helpers/launches.ts';

const delay = (seconds: number) => ({
  attributes: { 'deregistration_delay.timeout_seconds': String(seconds) },
});

const foreign = hooked({
  targetGroups: [
    { name: 'web', port: 8080, alsoOnPorts: [9090], ...delay(30) },
    { name: 'admin', port: 8081, attached: false, ...delay(120) },
    { name: 'addresses', port: 8080, targetType: 'ip', ...delay(60) },
  ],
});

/** The targets of an instance that are registered or still drain. */
function targetsOf({ bracket }: Scaled, instanceId: string): string[] {
  const { ec2, loadBalancing } = bracket.standing.account;
  const instance = ec2.instance(instanceId);
  if (!instance) return [];
  return bracket.standing.fleet.targetGroups.flatMap(group =>
    loadBalancing
      .statesOf(group.arn, instance)
      .filter(({ state }) => state !== 'unused')
      .map(({ target, state }) => `${group.name}:${target.port} ${state}`),
  );
}

const instanceState = ({ bracket }: Scaled, instanceId: string): string =>
  bracket.standing.account.ec2.instance(instanceId)?.state ?? 'terminated';

test('D3: what Auto Scaling does not know of is drained before the instance goes', async () => {
  const fleet = await scaled(foreign);
  const [leaving = ''] = fleet.bracket.ids(0);
  fleet.replace(leaving);
  await fleet.pass(45);
  expect(fleet.path(leaving).at(-1)).toBe('Terminating:Wait');
  expect(targetsOf(fleet, leaving)).toEqual([
    'web:9090 draining',
    'admin:8081 draining',
    'addresses:8080 draining',
  ]);
  await fleet.pass(90);
  expect(instanceState(fleet, leaving)).toBe('running');
  await fleet.pass(60);
  expect(instanceState(fleet, leaving)).toBe('terminated');
  expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['SUCCEEDED']);
  // Seconds after the longest delay, and not at the end of a time-out.
  expect(fleet.secondsIn(leaving, 'Terminating:Wait')).toBeLessThan(120 + 30);
});

test('R-STATE: what somebody has deregistered just before is drained too', async () => {
  const [web, admin] = foreign.targetGroups ?? [];
  const fleet = await scaled({ ...foreign, targetGroups: [web, admin].flatMap(group => group ?? []) });
  const { account, fleet: built } = fleet.bracket.standing;
  const [leaving = ''] = fleet.bracket.ids(0);
  const targets = [
    [built.targetGroups[0]?.arn ?? '', 9090],
    [built.targetGroups[1]?.arn ?? '', 8081],
  ] as const;
  for (const [arn, port] of targets) account.loadBalancing.deregister(arn, [{ id: leaving, port }]);
  fleet.replace(leaving);
  await fleet.pass(100);
  expect(targetsOf(fleet, leaving)).toEqual(['admin:8081 draining']);
  expect(instanceState(fleet, leaving)).toBe('running');
});

describe('R-HOOK: a termination is never kept', () => {
  const atOnce = async (fleet: Scaled, leaving: string) => {
    fleet.replace(leaving);
    await fleet.pass(120);
    expect(fleet.path(leaving)).toContain('Terminating:Proceed');
    expect(fleet.secondsIn(leaving, 'Terminating:Wait')).toBeLessThan(5);
    expect(fleet.bracket.actsOf('DeregisterTargets')).toEqual([]);
  };

  test('when no further target group has the instance', async () => {
    const fleet = await scaled();
    await atOnce(fleet, fleet.bracket.ids(0)[0] ?? '');
  });

  test('when it is in no target group at all', async () => {
    const fleet = await scaled(hooked({ targetGroups: [] }));
    await atOnce(fleet, fleet.bracket.ids(0)[0] ?? '');
  });

  test('when it leaves from Standby', async () => {
    const fleet = await scaled(hooked({}, { others: ['Standby'] }));
    const standby = [...fleet.group.members.values()].find(({ lifecycle }) => lifecycle === 'Standby');
    await atOnce(fleet, standby?.instanceId ?? '');
  });

  test('when it is gone already', async () => {
    const fleet = await scaled(foreign);
    const [leaving = ''] = fleet.bracket.ids(0);
    fleet.bracket.standing.account.ec2.terminate(leaving);
    await fleet.pass(300);
    expect(fleet.path(leaving).at(-1)).toBe('Terminated');
    expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['SUCCEEDED']);
  });

  test('D19: for longer than its own time-out, where the group has not opted in', async () => {
    const fleet = await scaled({ ...foreign, optedIn: ['instances', 'targetGroups'] });
    const [leaving = ''] = fleet.bracket.ids(0);
    fleet.replace(leaving);
    await fleet.pass(120);
    expect(fleet.secondsIn(leaving, 'Terminating:Wait')).toBe(60);
    expect(fleet.bracket.acts).toEqual([]);
  });

  test('D19: by a target group that has not opted in', async () => {
    const fleet = await scaled({ ...foreign, optedIn: ['instances', 'autoScalingGroup'] });
    await atOnce(fleet, fleet.bracket.ids(0)[0] ?? '');
  });

  test('by what somebody else has ended, such as its time-out', async () => {
    const fleet = await scaled(foreign);
    const [leaving = ''] = fleet.bracket.ids(0);
    fleet.replace(leaving);
    await fleet.pass(50);
    const { hooks } = fleet.bracket.standing.account.autoScaling;
    const ref = { hookName: 'quiesce-terminate', token: undefined, instanceId: leaving };
    hooks.complete(fleet.group, ref, 'CONTINUE');
    await fleet.pass(60);
    expect(
      fleet.executions('InstanceTermination').map(one => [outcome(one), fleet.bracket.path(one).at(-1)]),
    ).toEqual([['SUCCEEDED', 'LeftAlone']]);
    expect(fleet.completed).toEqual([]);
  });

  test.each(['DescribeTargetGroups', 'DeregisterTargets'])('by a failure of %s', async action => {
    const fleet = await scaled(foreign, {
      gates: () => [
        {
          before(call) {
            if (call.action === action && call.caller.name.startsWith('Instance'))
              throw new ServiceError('AccessDenied', 'no', 403);
          },
        },
      ],
    });
    const [leaving = ''] = fleet.bracket.ids(0);
    fleet.replace(leaving);
    await fleet.pass(120);
    expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['FAILED AccessDenied']);
    expect(instanceState(fleet, leaving)).toBe('terminated');
  });

  test('by targets that somebody registers again and again', async () => {
    const fleet = await scaled(foreign);
    const [leaving = ''] = fleet.bracket.ids(0);
    fleet.replace(leaving);
    const { loadBalancing } = fleet.bracket.standing.account;
    const admin = fleet.bracket.standing.fleet.targetGroups[1];
    const again = fleet.bracket.clock.every(15_000, () => {
      if (instanceState(fleet, leaving) === 'running')
        loadBalancing.register(admin?.arn ?? '', [{ id: leaving, port: 8081 }]);
    });
    await fleet.pass(420);
    again.cancel();
    expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['FAILED BudgetSpent']);
    expect(instanceState(fleet, leaving)).toBe('terminated');
    // ABANDON would skip the hooks of others. The other one is of the instance that is launched instead.
    expect(fleet.completed).toEqual(['CONTINUE', 'CONTINUE']);
  });
});

test('R-LIFECYCLE: what goes into the warm pool stays in the target groups that it comes back to', async () => {
  const fleet = await scaled(foreign);
  const [pooled = ''] = fleet.bracket.ids(0);
  const member = fleet.group.members.get(pooled);
  if (!member) throw new Error(`${pooled} is no member`);
  const { hooks } = fleet.bracket.standing.account.autoScaling;
  const to = { origin: 'AutoScalingGroup', destination: 'WarmPool' } as const;
  fleet.group.move(member, 'Warmed:Pending:Wait');
  await fleet.bracket.clock.runFor(
    hooks.wait(fleet.group, member, 'autoscaling:EC2_INSTANCE_TERMINATING', to),
  );
  await fleet.pass(30);
  expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['SUCCEEDED']);
  expect(fleet.completed).toEqual(['CONTINUE']);
  expect(fleet.bracket.actsOf('DeregisterTargets')).toEqual([]);
});

test("R-GONE: an instance that is gone while it is attended is not waited for: its address may be another one's", async () => {
  const fleet = await scaled(foreign);
  const [leaving = ''] = fleet.bracket.ids(0);
  fleet.replace(leaving);
  await fleet.pass(110);
  const { ec2, loadBalancing } = fleet.bracket.standing.account;
  const [id = ''] = ec2.instance(leaving)?.privateAddresses ?? [];
  expect(targetsOf(fleet, leaving)).toEqual(['admin:8081 draining']);
  const before = fleet.bracket.actsOf('DeregisterTargets').length;
  loadBalancing.register(fleet.bracket.standing.fleet.targetGroups[2]?.arn ?? '', [{ id, port: 8080 }]);
  ec2.terminate(leaving);
  await fleet.pass(60);
  expect(fleet.bracket.actsOf('DeregisterTargets')).toHaveLength(before);
  expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['SUCCEEDED']);
});

test('D10: the target groups of a VPC are not all read at the same time', async () => {
  let inFlight = 0;
  let most = 0;
  const others = Array.from({ length: 12 }, (_, n) => ({
    name: `t${n}`,
    port: 9000 + n,
    attached: false,
    ...delay(30),
  }));
  const fleet = await scaled(
    hooked({ targetGroups: [{ name: 'web', port: 8080, ...delay(30) }, ...others] }),
    {
      gates: account => [
        {
          async around({ action, caller }, input, perform) {
            if (action !== 'DescribeTargetHealth' || caller.name !== 'InstanceTerminationFunction')
              return perform(input);
            most = Math.max(most, ++inFlight);
            await account.world.clock.sleep(100);
            const answer = await perform(input);
            inFlight--;
            return answer;
          },
        },
      ],
    },
  );
  const [leaving = ''] = fleet.bracket.ids(0);
  fleet.replace(leaving);
  await fleet.pass(120);
  expect(fleet.executions('InstanceTermination').map(outcome)).toEqual(['SUCCEEDED']);
  expect(most).toBe(DESCRIBES_AT_ONCE);
});
