import { describe, expect, test } from 'vitest';
import { type Bracket, type BracketSettings, bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;
const DEPLOYMENT = 'd-0123456';

/** A fleet with a run over all of it that has its go-ahead: what a pipeline starts around a deployment. */
async function covered(policy: object = {}, settings: BracketSettings = {}): Promise<Bracket> {
  const fleet = await bracket({ ...usual, autoScaling: { healthChecks: ['EC2', 'ELB'] } }, settings);
  const cover = await fleet.before({
    runId: 'fleet',
    fleet: { instanceIds: fleet.ids() },
    traffic: 'leave',
    policy: { deploymentSeconds: 14_400, ...policy },
  });
  expect(outcome(cover)).toBe('SUCCEEDED');
  return fleet;
}

/** A run that a hook of the deployment begins on one instance. */
const hooked = (fleet: Bracket, instance: number, observer = DEPLOYMENT) => ({
  runId: `${observer}.${instance}`,
  fleet: { instanceIds: fleet.ids(instance) },
  observer,
});

const afterOf = (fleet: Bracket, instance: number) =>
  fleet.start('AfterDeploy', { runId: `${DEPLOYMENT}.${instance}` });

/** An act is repeated until it shows. */
const disabled = (fleet: Bracket) => [
  ...new Set(
    fleet.actsOf('DisableApplicationStatusCheckSuppression').flatMap(({ input }) => input.InstanceIds),
  ),
];

const seconds = (fleet: Bracket) => Math.floor(fleet.clock.now() / 1000);

describe('inside a run over the whole fleet', () => {
  test('D17: an instance is left to it in service, and it proves the instance twice before it releases any', async () => {
    const fleet = await covered();
    const before = await fleet.before(hooked(fleet, 0));
    expect(fleet.enteredAt(before, 'LeadOver') - fleet.enteredAt(before, 'Lead')).toBeLessThan(5_000);
    const [after] = await fleet.end(afterOf(fleet, 0));
    expect(outcome(after)).toBe('SUCCEEDED');
    const path = fleet.path(after);
    expect(path).toEqual(expect.arrayContaining(['Register', 'ObserveInService', 'HandOver']));
    for (const state of ['ObserveReady', 'ObserveEvidence', 'Release']) expect(path).not.toContain(state);
    expect(disabled(fleet)).toEqual([]);
    const last = await fleet.after({ runId: 'fleet' });
    expect(outcome(last)).toBe('SUCCEEDED');
    // R-AGREE: two evaluations of each check, one a minute.
    const proven = fleet.enteredAt(last, 'Release') - fleet.enteredAt(after, 'HandOver');
    expect(proven).toBeGreaterThan(MINUTE);
    expect(disabled(fleet).sort()).toEqual(fleet.ids().sort());
    expect(await fleet.violations()).toEqual([]);
  });

  test('D4: what only the run inside holds is resumed by it, at once', async () => {
    const fleet = await covered({ autoScaling: 'none' });
    expect(outcome(await fleet.before(hooked(fleet, 0)))).toBe('SUCCEEDED');
    const [after] = await fleet.end(afterOf(fleet, 0));
    expect(outcome(after)).toBe('SUCCEEDED');
    expect(fleet.actsOf('SuspendProcesses')).toHaveLength(1);
    expect(fleet.actsOf('ResumeProcesses')).toHaveLength(1);
  });

  test('D17: no other instance is touched while one that was deployed to does not pass its checks', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    await fleet.end(afterOf(fleet, 0));
    const application = fleet.standing.fleet.instances[0]?.application;
    // The load balancer asks for another path.
    application?.suffer(({ path }) =>
      path === '/health' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
    );
    const next = fleet.startBefore(hooked(fleet, 1));
    // By another deployment, a rollback for example, it may be repaired (D2).
    const rollback = fleet.startBefore(hooked(fleet, 2, 'd-7654321'));
    await fleet.clock.pass(10 * MINUTE);
    expect([outcome(next), outcome(rollback)]).toEqual(['RUNNING', 'SUCCEEDED']);
    application?.suffer(undefined);
    await fleet.end(next);
    expect(outcome(next)).toBe('SUCCEEDED');
    await fleet.end(afterOf(fleet, 1), fleet.start('AfterDeploy', { runId: 'd-7654321.2' }));
    await fleet.after({ runId: 'fleet' });
    expect(await fleet.violations()).toEqual([]);
  });

  test('D17: an instance that never passes ends the deployment at the next one, by name', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    await fleet.end(afterOf(fleet, 0));
    fleet.standing.fleet.instances[0]?.application.suffer(({ path }) =>
      path === '/health' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
    );
    const policy = { readySeconds: 120, waitSeconds: 60 };
    const next = await fleet.before({ ...hooked(fleet, 1), policy });
    expect(outcome(next)).toBe('FAILED BudgetSpent');
    expect(next.cause).toContain(`${fleet.ids(0)[0]}: check`);
    // The failed run has put its instance back and left the suppression to the run over the fleet.
    expect(disabled(fleet)).toEqual([]);
    fleet.standing.fleet.instances[0]?.application.suffer(undefined);
    expect(outcome(await fleet.after({ runId: 'fleet' }))).toBe('SUCCEEDED');
    expect(await fleet.violations()).toEqual([]);
  });

  test('R-GONE: an instance that was deployed to and is terminated holds up nobody', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    await fleet.end(afterOf(fleet, 0));
    fleet.standing.account.ec2.terminate(fleet.ids(0)[0] ?? '');
    expect(outcome(await fleet.before(hooked(fleet, 1)))).toBe('SUCCEEDED');
  });
});

describe('D17, R-AGREE: a run proves and releases by itself when the run around it', () => {
  test('has ended before its own deployment has', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    expect(outcome(await fleet.after({ runId: 'fleet' }))).toBe('SUCCEEDED');
    expect(disabled(fleet).sort()).toEqual(fleet.ids(1, 2, 3).sort());
    const [after] = await fleet.end(afterOf(fleet, 0));
    expect(fleet.path(after)).toEqual(
      expect.arrayContaining(['ObserveReady', 'Register', 'ObserveEvidence', 'Release', 'ObserveReleased']),
    );
    expect(fleet.path(after)).not.toContain('HandOver');
    expect(disabled(fleet).sort()).toEqual(fleet.ids().sort());
    expect(await fleet.violations()).toEqual([]);
  });

  test('ends while it puts its instance into service', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    const after = afterOf(fleet, 0);
    await fleet.clock.pass(3_000);
    expect(fleet.path(after)).toContain('Register');
    const last = fleet.start('AfterDeploy', { runId: 'fleet' });
    await fleet.end(after, last);
    expect([outcome(after), outcome(last)]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(fleet.path(after)).toEqual(expect.arrayContaining(['HandOver', 'ObserveEvidence', 'Release']));
    expect(fleet.enteredAt(after, 'Release') - fleet.enteredAt(after, 'Register')).toBeGreaterThan(MINUTE);
    expect(await fleet.violations()).toEqual([]);
  });

  test('fails: its undo leaves the suppression to the run that still needs it, and the next has a lead of its own', async () => {
    const fleet = await covered();
    await fleet.before(hooked(fleet, 0));
    const last = fleet.start('AfterDeploy', { runId: 'fleet' });
    await fleet.clock.pass(5_000);
    fleet.stack.executions.stop(last.arn, 'Operator.Stopped', 'by a person');
    await fleet.clock.pass(10 * MINUTE);
    expect(disabled(fleet).sort()).toEqual(fleet.ids(1, 2, 3).sort());
    const [after] = await fleet.end(afterOf(fleet, 0));
    expect(fleet.path(after)).toEqual(expect.arrayContaining(['ObserveReady', 'ObserveEvidence', 'Release']));
    const next = await fleet.before(hooked(fleet, 1));
    expect(fleet.enteredAt(next, 'GoAhead') - fleet.enteredAt(next, 'Lead')).toBeGreaterThan(3 * MINUTE);
    await fleet.end(afterOf(fleet, 1));
    expect(await fleet.violations()).toEqual([]);
  });

  test('may be over sooner than it needs', async () => {
    const fleet = await covered({ deploymentSeconds: 60 });
    const before = await fleet.before(hooked(fleet, 0));
    const [after] = await fleet.end(afterOf(fleet, 0));
    expect([outcome(before), outcome(after)]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(fleet.path(after)).not.toContain('HandOver');
    expect(fleet.path(after)).toContain('ObserveEvidence');
    await fleet.after({ runId: 'fleet' });
    expect(await fleet.violations()).toEqual([]);
  });
});

test('R-AGREE: an earlier end that is told of the deployment is no evidence of what was deployed to later', async () => {
  const fleet = await covered();
  const told = seconds(fleet);
  await fleet.before(hooked(fleet, 0));
  await fleet.clock.pass(10 * MINUTE);
  const [after] = await fleet.end(afterOf(fleet, 0));
  const deployedAt = new Date(told * 1000).toISOString();
  const last = await fleet.after({ runId: 'fleet', deployedAt });
  expect(fleet.enteredAt(last, 'Release') - fleet.enteredAt(after, 'Resume')).toBeGreaterThan(2 * MINUTE);
  expect(await fleet.violations()).toEqual([]);
});

test('D17: what is left to a run whose after-deploy has begun meanwhile is proven from then on', async () => {
  let begin: (() => void) | undefined;
  const fleet = await covered(
    { readySeconds: 120 },
    {
      gates: ({ world: { clock } }) => [
        {
          before: async (_call, { UpdateExpression }) => {
            if (!begin || !/deployed = :deployed/.test(String(UpdateExpression))) return;
            begin();
            begin = undefined;
            await clock.sleep(8_000);
          },
        },
      ],
    },
  );
  await fleet.before(hooked(fleet, 0));
  const deployedAt = new Date(fleet.clock.now() - 20 * MINUTE).toISOString();
  const [instance] = fleet.standing.fleet.instances;
  instance?.application.suffer(({ path }) =>
    path === '/health' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
  );
  const lasts: ReturnType<typeof fleet.start>[] = [];
  begin = () => lasts.push(fleet.start('AfterDeploy', { runId: 'fleet', deployedAt }));
  await fleet.end(afterOf(fleet, 0));
  await fleet.end(...lasts);
  expect(lasts.map(outcome)).toEqual(['FAILED BudgetSpent']);
});
