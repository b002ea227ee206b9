import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, bracket, type Fleet, outcome, type Sent, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

/** The targets of some calls, each with its group, in a fixed order. */
const targetsOf = (calls: readonly Sent[]): string[] =>
  calls
    .flatMap(({ input }) => {
      const targets = Array.isArray(input.Targets) ? input.Targets : [];
      return targets.map(target => JSON.stringify([input.TargetGroupArn, target]));
    })
    .sort();

const statesOf = (of: Bracket, ...numbers: number[]) =>
  of.standing.fleet.targetGroups.flatMap(group =>
    of
      .ids(...numbers)
      .flatMap(id => {
        const instance = of.standing.account.ec2.instance(id);
        return instance ? of.standing.account.loadBalancing.statesOf(group.arn, instance) : [];
      })
      .map(({ state }) => state),
  );

const manifold: Fleet = {
  ...usual,
  autoScaling: null,
  targetGroups: [
    { name: 'web', port: 8080, alsoOnPorts: [8081] },
    { name: 'addresses', port: 9090, targetType: 'ip' },
    { name: 'spare', port: 7070, served: false },
  ],
};

describe('targets', () => {
  test('R-EXACT: are taken out on every port of every group, and on nothing else', async () => {
    const run = await bracket(manifold);
    await run.before();
    const out = targetsOf(run.actsOf('DeregisterTargets'));
    expect(out).toHaveLength(2 * 4);
    for (const target of out) expect(target).toMatch(/"Port":(8080|8081|9090|7070)/);
    expect(statesOf(run, 0, 1)).toEqual([]);
    expect(statesOf(run, 2, 3)).toHaveLength(2 * 4);
  });

  test.each([
    ['waited for by a run that moves traffic', 'drain', []],
    ['left to him by a run that leaves traffic', 'leave', ['draining']],
  ])(
    'R-STATE: that somebody else is taking out are %s, and put back by neither',
    async (_, traffic, states) => {
      const [web] = usual.targetGroups ?? [];
      const attributes = { 'deregistration_delay.timeout_seconds': '900' };
      const run = await bracket({
        ...usual,
        autoScaling: null,
        targetGroups: [{ ...web, name: 'web', port: 8080, attributes }],
      });
      const [arn = ''] = run.standing.fleet.targetGroups.map(group => group.arn);
      const [first = ''] = run.ids(0);
      run.standing.account.loadBalancing.deregister(arn, [{ id: first, port: 8080 }]);
      expect(outcome(await run.before({ traffic, fleet: { instanceIds: [first] } }))).toBe('SUCCEEDED');
      expect(statesOf(run, 0)).toEqual(states);
      expect(outcome(await run.after())).toBe('SUCCEEDED');
      expect(run.actsOf('RegisterTargets')).toEqual([]);
    },
  );

  test('R-REREG: are put back exactly as they were listed, and seen in service', async () => {
    const run = await bracket(manifold);
    await run.before();
    const after = await run.after();
    expect(after.status, after.cause).toBe('SUCCEEDED');
    expect(targetsOf(run.actsOf('RegisterTargets'))).toEqual(targetsOf(run.actsOf('DeregisterTargets')));
    expect(new Set(statesOf(run))).toEqual(new Set(['healthy', 'unused']));
    expect(await run.violations()).toEqual([]);
  });

  test('D27: the zone is sent for addresses, and not for instances', async () => {
    const run = await bracket(manifold);
    await run.before();
    await run.after();
    for (const target of targetsOf([...run.actsOf('DeregisterTargets'), ...run.actsOf('RegisterTargets')]))
      expect(target.includes('AvailabilityZone')).toBe(target.includes('targetgroup/addresses'));
  });

  test('R-STATE: the go-ahead waits for the whole drain, as described', async () => {
    const run = await bracket({ ...usual, targetGroups: [{ name: 'web', port: 8080 }] });
    const before = await run.before();
    expect(run.enteredAt(before, 'GoAhead') - run.enteredAt(before, 'Drain')).toBeGreaterThanOrEqual(300_000);
    expect(statesOf(run, 0, 1)).toEqual([]);
  });

  test('R-UNDO: are in the ledger before the first of them is taken out', async () => {
    const run = await bracket();
    await run.before();
    const out = run.sent.findIndex(({ action }) => action === 'DeregisterTargets');
    const recorded = run.sent
      .slice(0, out)
      .filter(({ action, input }) => action === 'UpdateItem' && /memberships/.test(JSON.stringify(input)));
    for (const id of run.ids(0, 1))
      expect(recorded.some(({ input }) => JSON.stringify(input).includes(`instance#${id}`))).toBe(true);
  });
});

test('R-UNDO: a target that is registered after the plan is taken out with the others, and put back', async () => {
  let isNew = true;
  const run = await bracket(
    { ...usual, instances: 6, autoScaling: null, alsoListensOn: [8081] },
    {
      gates: ({ loadBalancing }) => [
        {
          before({ action, caller }, { TargetGroupArn }) {
            if (!isNew || caller.name !== 'DeregisterFunction' || action !== 'DescribeTargetHealth') return;
            isNew = false;
            loadBalancing.register(String(TargetGroupArn), [{ id: String(run.ids(0)[0]), port: 8081 }]);
          },
        },
      ],
    },
  );
  expect(outcome(await run.before())).toBe('SUCCEEDED');
  expect(statesOf(run, 0, 1)).toEqual([]);
  const [group] = run.standing.fleet.targetGroups;
  await run.after();
  const { loadBalancing } = run.standing.account;
  expect(loadBalancing.registered(group?.arn ?? '').map(({ port }) => port)).toContain(8081);
  expect(await run.violations()).toEqual([]);
});

describe('D36: what is not where it was put, is put there again:', () => {
  test('a target that somebody registers during its drain', async () => {
    const run = await bracket({ ...usual, autoScaling: null });
    const before = run.startBefore();
    await run.clock.pass(MINUTE / 2);
    const { account, fleet } = run.standing;
    for (const { arn } of fleet.targetGroups)
      account.loadBalancing.register(arn, [{ id: String(run.ids(0)[0]), port: 8080 }]);
    await run.end(before);
    expect(outcome(before)).toBe('SUCCEEDED');
    expect(run.actsOf('DeregisterTargets')).toHaveLength(2);
    expect(statesOf(run, 0, 1)).toEqual([]);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test.for(['DeregisterTargets', 'RegisterTargets'] as const)(
    'a target that was refused in the first %s',
    async action => {
      let refused = 0;
      const run = await bracket(
        { ...usual, autoScaling: null },
        {
          gates: () => [
            {
              before: (call, input) => {
                if (call.action !== action || !JSON.stringify(input).includes(String(run.ids(0)[0]))) return;
                // The batch, and then the one target alone.
                if (refused < 2) {
                  refused++;
                  throw new ServiceError('InvalidTarget', 'The target is not valid');
                }
              },
            },
          ],
        },
      );
      expect(outcome(await run.before())).toBe('SUCCEEDED');
      expect(outcome(await run.after())).toBe('SUCCEEDED');
      expect(refused).toBe(2);
      expect(await run.violations()).toEqual([]);
    },
  );
});

describe('R-NOTINUSE: an answer that no waiting changes is taken as one', () => {
  test('a group that no load balancer uses is left, and joined again', async () => {
    const run = await bracket({
      ...usual,
      autoScaling: { healthChecks: ['EC2'] },
      targetGroups: [{ name: 'spare', port: 7070, served: false }],
    });
    await run.before({ fleet: { instanceIds: run.ids() } });
    expect(statesOf(run)).toEqual([]);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(statesOf(run)).toEqual(Array(4).fill('unused'));
    expect(await run.violations()).toEqual([]);
  });

  test('a target that keeps its connections though it is unhealthy is registered, so it is taken out', async () => {
    const run = await bracket({
      ...usual,
      autoScaling: null,
      loadBalancer: { type: 'network', crossZone: true },
      targetGroups: [
        {
          name: 'web',
          port: 8080,
          attributes: {
            'deregistration_delay.timeout_seconds': '60',
            'target_health_state.unhealthy.connection_termination.enabled': 'false',
            'target_health_state.unhealthy.draining_interval_seconds': '3600',
          },
        },
      ],
    });
    run.standing.fleet.instances[0]?.application.stop();
    await run.clock.pass(5 * MINUTE);
    expect(statesOf(run, 0)).toEqual(['unhealthy.draining']);
    expect(outcome(await run.before())).toBe('SUCCEEDED');
    expect(statesOf(run, 0, 1)).toEqual([]);
    run.standing.fleet.instances[0]?.application.start(0);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });
});

describe('R-GUARD', () => {
  test('a floor that does not permit is waited for, and the run goes on when it does', async () => {
    const run = await bracket({ ...usual, autoScaling: null, broken: [3] });
    const before = run.startBefore();
    await run.clock.pass(5 * MINUTE);
    expect(run.actsOf('DeregisterTargets')).toEqual([]);
    run.standing.fleet.instances[3]?.application.suffer(undefined);
    await run.end(before);
    expect(before.status).toBe('SUCCEEDED');
    expect(run.path(before).filter(state => state === 'WaitForFloor').length).toBeGreaterThan(20);
    await run.after();
    expect(await run.violations()).toEqual([]);
  });
});

test('R-UNDO: what was in no target group is not taken out of one that it comes into meanwhile', async () => {
  let isOut = true;
  const run = await bracket(
    { ...usual, instances: 6, autoScaling: null },
    {
      gates: ({ loadBalancing }) => [
        {
          before({ action, caller }, { TargetGroupArn }) {
            if (!isOut || caller.name !== 'DeregisterFunction' || action !== 'DescribeTargetHealth') return;
            isOut = false;
            loadBalancing.register(String(TargetGroupArn), [{ id: String(run.ids(1)[0]), port: 8080 }]);
          },
        },
      ],
    },
  );
  const { account, fleet } = run.standing;
  for (const { arn } of fleet.targetGroups)
    account.loadBalancing.deregister(arn, [{ id: String(run.ids(1)[0]), port: 8080 }]);
  await run.clock.pass(2 * MINUTE);
  expect(outcome(await run.before())).toBe('SUCCEEDED');
  expect(run.actsOf('DeregisterTargets').map(({ input }) => input.Targets)).toMatchObject([
    run.ids(0).map(Id => ({ Id })),
  ]);
});

test('D44: a target is found by whichever address of its instance it is registered with', async () => {
  const run = await bracket({
    ...usual,
    instances: 2,
    autoScaling: null,
    targetGroups: [{ name: 'addresses', port: 8080, targetType: 'ip' }],
  });
  const { account, fleet } = run.standing;
  const [like] = fleet.instances;
  if (!like) throw new Error('a fleet has instances');
  const { subnetId, securityGroupIds } = like;
  const tags = Object.fromEntries(like.tags);
  const many = account.ec2.launch({ subnetId, securityGroupIds, tags, startUpSeconds: 0, extraAddresses: 1 });
  const id = String(many.privateAddresses[1]);
  for (const { arn } of fleet.targetGroups) account.loadBalancing.register(arn, [{ id, port: 8080 }]);
  await run.clock.pass(3 * MINUTE);
  expect(outcome(await run.before({ fleet: { instanceIds: [many.id] } }))).toBe('SUCCEEDED');
  const [out] = run.actsOf('DeregisterTargets');
  expect(out?.input.Targets).toMatchObject([{ Id: id }]);
});

test('D6: where each zone counts for itself, the others of its zone count with it', async () => {
  const run = await bracket({ ...usual, autoScaling: null, loadBalancer: { type: 'network' } });
  const one = { fleet: { instanceIds: run.ids(0) } };
  expect(outcome(await run.before(one))).toBe('SUCCEEDED');
  const both = await run.before({ runId: 'zone', fleet: { instanceIds: run.ids(2) } });
  expect(outcome(both)).toMatch(/^FAILED (BelowFloor|BudgetSpent)$/);
});

test('R-GUARD: what the run has out already belongs to the group when it takes the rest out again', async () => {
  const run = await bracket({ ...usual, instances: 8, autoScaling: null });
  const before = run.startBefore({ fleet: { instanceIds: run.ids(0, 1, 2, 3) } });
  await run.reaches(before, 'Drain');
  const { account, fleet } = run.standing;
  for (const { arn } of fleet.targetGroups)
    account.loadBalancing.register(arn, [{ id: String(run.ids(0)[0]), port: 8080 }]);
  const others = fleet.instances[7]?.application;
  others?.stop();
  await run.clock.pass(5 * MINUTE);
  // Of eight, five are registered, and four of them healthy: one more out would leave three.
  expect(run.actsOf('DeregisterTargets')).toHaveLength(1);
  others?.start(0);
  await run.end(before);
  expect(outcome(before)).toBe('SUCCEEDED');
  expect(run.actsOf('DeregisterTargets')).toHaveLength(2);
});

describe('R-LIFECYCLE: what is not in service is left alone', () => {
  test('D30: also in a state that nobody knows', async () => {
    const run = await bracket();
    const [first] = run.standing.account.autoScaling.group('web').members.values();
    if (!first) throw new Error('the group has no members');
    Object.assign(first, { lifecycle: 'Hibernating:Deeply' });
    const before = await run.before();
    expect(before.status).toBe('SUCCEEDED');
    for (const { input } of run.acts) expect(JSON.stringify(input)).not.toContain(first.instanceId);
    const planned = run.stack.lambda.logs.find(({ line }) => line.includes('run.planned'));
    expect(JSON.parse(planned?.line ?? '{}')).toMatchObject({ suppressing: 1, draining: 1, bystanders: 1 });
  });
});

describe('R-GONE', () => {
  test('a run whose instances are all terminated succeeds, and leaves nothing', async () => {
    const run = await bracket({ ...usual, autoScaling: null });
    await run.before();
    for (const id of run.ids(0, 1)) run.standing.account.ec2.terminate(id);
    await run.clock.pass(5 * MINUTE);
    const after = await run.after();
    expect(after.status, after.cause).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('a target group that is deleted meanwhile has nothing to be put back into', async () => {
    let deleted: string | undefined;
    const run = await bracket(manifold, {
      gates: () => [
        {
          before: (_, { TargetGroupArn }) => {
            if (deleted !== undefined && TargetGroupArn === deleted)
              throw new ServiceError('TargetGroupNotFound', `Target groups '${deleted}' not found`);
          },
        },
      ],
    });
    await run.before();
    deleted = run.standing.fleet.targetGroups.find(group => group.name === 'addresses')?.arn;
    const after = await run.after();
    expect(after.status, after.cause).toBe('SUCCEEDED');
  });
});

describe('D37', () => {
  test('a fleet that is all unhealthy may be taken out, whatever the floor', async () => {
    const run = await bracket({ ...usual, autoScaling: null, broken: true });
    expect(outcome(await run.before({ fleet: { instanceIds: run.ids() } }))).toBe('SUCCEEDED');
    for (const instance of run.standing.fleet.instances) instance.application.suffer(undefined);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('an emergency lifts lead and floors, and is said in the plan', async () => {
    const run = await bracket();
    const emergency = { reason: 'the certificate has expired', until: '2030-01-01T00:00:00Z' };
    const before = await run.before({ fleet: { instanceIds: run.ids() }, emergency });
    expect(before.status).toBe('SUCCEEDED');
    expect(run.enteredAt(before, 'GoAhead') - before.startedAt).toBeLessThan(90_000);
    const planned = run.stack.lambda.logs.find(({ line }) => line.includes('run.planned'));
    expect(planned?.line).toContain(
      'Emergency: the lead and the floors are lifted (the certificate has expired)',
    );
  });

  test('an emergency that is over lifts nothing', async () => {
    const run = await bracket();
    const emergency = { reason: 'it was', until: '2020-01-01T00:00:00Z' };
    expect((await run.before({ fleet: { instanceIds: run.ids() }, emergency })).error).toBe('BelowFloor');
  });
});
