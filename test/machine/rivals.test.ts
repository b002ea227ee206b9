import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { recordObserverOf } from '../sweep/helpers/stopped.ts';
import { bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

test('D7: two runs at the same moment do not both count the same healthy targets', async () => {
  const both = await bracket();
  const first = both.startBefore();
  const second = both.startBefore({ runId: 'other', fleet: { instanceIds: both.ids(2, 3) } });
  await both.clock.pass(5 * MINUTE);
  expect([first.status, second.status].sort()).toEqual(['RUNNING', 'SUCCEEDED']);
  const runs = first.status === 'SUCCEEDED' ? ['r', 'other'] : ['other', 'r'];
  await both.after({ runId: runs[0] });
  await both.end(first, second);
  expect([first.status, second.status]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  await both.after({ runId: runs[1] });
  expect(await both.violations()).toEqual([]);
});

test('D7: a target that its group did not take back yet is out, for the floors of every other run', async () => {
  let refusals = 3;
  const both = await bracket(
    { ...usual, instances: 3, autoScaling: null },
    {
      gates: () => [
        {
          before: ({ action }) => {
            if (action === 'RegisterTargets' && refusals-- > 0)
              throw new ServiceError('InvalidTarget', 'The target is not valid');
          },
        },
      ],
    },
  );
  await both.before({ fleet: { instanceIds: both.ids(0) } });
  const other = both.startBefore({ runId: 'other', fleet: { instanceIds: both.ids(1) } });
  await both.clock.pass(4 * MINUTE);
  await both.after();
  await both.end(other);
  expect(refusals).toBeLessThan(1);
  expect(other.status).toBe('SUCCEEDED');
  await both.after({ runId: 'other' });
  expect(await both.violations()).toEqual([]);
});

describe('two runs that move the traffic of one instance', () => {
  test('the second is refused, naming the first', async () => {
    const both = await bracket();
    const first = both.startBefore();
    await both.clock.pass(100_000);
    const acts = both.acts.length;
    const second = await both.before({ runId: 'other', fleet: { instanceIds: both.ids(1) } });
    expect(outcome(second)).toBe('FAILED RunInProgress');
    expect(second.cause).toMatch(new RegExp(`Run r is live on ${both.ids(1)[0]} .*queue: true`));
    expect(both.acts).toHaveLength(acts);
    await both.end(first);
    await both.after();
    expect(await both.violations()).toEqual([]);
  });

  test('the second is refused also when there is nothing but the traffic', async () => {
    const both = await bracket({ ...usual, checks: [], autoScaling: { healthChecks: ['EC2'] } });
    await both.before();
    const second = await both.before({ runId: 'other' });
    expect(outcome(second)).toBe('FAILED RunInProgress');
    await both.after();
    expect(await both.violations()).toEqual([]);
  });

  test('with queue the second waits for its turn, but no longer than its policy says', async () => {
    const both = await bracket();
    await both.before();
    const patient = both.startBefore({ runId: 'patient', queue: true, policy: { waitSeconds: 3600 } });
    const hasty = await both.before({ runId: 'hasty', queue: true, policy: { waitSeconds: 300 } });
    expect(outcome(hasty)).toBe('FAILED RunInProgress');
    expect(hasty.cause).toContain('with a longer policy.waitSeconds');
    await both.after();
    await both.end(patient);
    expect(patient.status).toBe('SUCCEEDED');
    await both.after({ runId: 'patient' });
    expect(await both.violations()).toEqual([]);
  });
});

test('D2, D4: a run that takes the traffic of a failed one over has its hold too, until it has put the targets back', async () => {
  let refuses = false;
  const both = await bracket(usual, {
    gates: () => [
      {
        before: ({ action }) => {
          if (refuses && action === 'EnableApplicationStatusCheckSuppression')
            throw new ServiceError('InvalidParameterValue', 'Not for so long.');
        },
      },
    ],
  });
  await both.before({ policy: { readySeconds: 60 } });
  for (const instance of both.standing.fleet.instances.slice(0, 2)) instance.application.stop();
  const after = both.start('AfterDeploy', { runId: 'r' });
  while (!both.path(after).includes('LetActsEnd')) await both.clock.pass(1_000);
  refuses = true;
  const rollback = await both.before({ runId: 'rollback' });
  expect(outcome(rollback)).toBe('FAILED SuppressionRefused');
  await both.end(after);
  const resumed = both.actsOf('ResumeProcesses').map(({ at }) => at);
  const putBack = both.actsOf('RegisterTargets').map(({ at }) => at);
  expect(Math.min(...resumed)).toBeGreaterThan(Math.min(...putBack));
});

test('D2, R-BUDGET: the undo of a failed run does not wait for targets that another run has taken over', async () => {
  const both = await bracket({ ...usual, instances: 2 });
  const fleet = { instanceIds: both.ids(0) };
  await both.before({ fleet, policy: { readySeconds: 60 } });
  both.standing.fleet.instances[0]?.application.stop();
  const after = both.start('AfterDeploy', { runId: 'r' });
  await both.reaches(after, 'LetActsEnd');
  const rollback = both.startBefore({ runId: 'rollback', fleet });
  await both.clock.pass(5 * MINUTE);
  expect([after, rollback].map(outcome)).toEqual(['FAILED BudgetSpent', 'SUCCEEDED']);
  // Nor does it put them back under that one.
  expect(both.actsOf('RegisterTargets')).toEqual([]);
});

test('R-SERIAL: of two runs that begin on the same instances at the same moment one goes on', async () => {
  const both = await bracket({ ...usual, instances: 16 });
  const fleet = { instanceIds: both.ids(0, 1, 2, 3, 4, 5, 6, 7) };
  const runs = ['first', 'second', 'third'].map(runId => both.startBefore({ runId, fleet }));
  await both.end(...runs);
  expect(runs.map(outcome).sort()).toEqual(['FAILED RunInProgress', 'FAILED RunInProgress', 'SUCCEEDED']);
  const winner = ['first', 'second', 'third'].find((_, index) => runs[index]?.status === 'SUCCEEDED');
  await both.after({ runId: winner });
  expect(await both.violations()).toEqual([]);
});

test('D35: an instance that another run keeps in Standby is waited for: it is in service again before the go-ahead', async () => {
  const both = await bracket({ ...usual, instances: 6 });
  const first = { fleet: { instanceIds: both.ids(0) }, policy: { autoScaling: 'standby' } };
  expect((await both.before(first)).status).toBe('SUCCEEDED');
  const fleet = { instanceIds: both.ids(0, 1) };
  expect(outcome(await both.before({ runId: 'hasty', fleet, traffic: 'leave' }))).toBe(
    'FAILED RunInProgress',
  );
  const patient = both.startBefore({ runId: 'patient', fleet, queue: true, policy: { waitSeconds: 3600 } });
  await both.clock.pass(5 * MINUTE);
  expect((await both.after()).status).toBe('SUCCEEDED');
  await both.end(patient);
  expect(patient.status, patient.cause).toBe('SUCCEEDED');
  for (const id of both.ids(0, 1)) expect(both.standing.account.checks.overall(id).status).toBe('suppressed');
  expect((await both.after({ runId: 'patient' })).status).toBe('SUCCEEDED');
  expect(await both.violations()).toEqual([]);
});

test('D10: no run of a deployment plans by what was listed before another had put its targets back', async () => {
  const all = await bracket({ ...usual, checks: [], autoScaling: null });
  const [first = '', second = ''] = all.ids();
  const observer = 'd-1';
  await all.before({ fleet: { instanceIds: [first] } });
  all.startBefore({ runId: 'reader', fleet: { instanceIds: [second] }, observer });
  await all.clock.pass(2000);
  await all.after();
  const again = await all.before({ runId: 'again', fleet: { instanceIds: [first] }, observer });
  expect(outcome(again)).toBe('SUCCEEDED');
  await all.after({ runId: 'reader' });
  await all.after({ runId: 'again' });
  expect(await all.violations()).toEqual([]);
});

test('D2, D7: what a run has taken over is out, for the floors of every other run, before it acts itself', async () => {
  let isBusy = true;
  const all = await bracket(
    { ...usual, instances: 3, autoScaling: null },
    {
      gates: () => [
        {
          before: ({ action, caller }, { Key }) => {
            const isIts = JSON.stringify(Key ?? '').includes('run#rollback');
            if (isBusy && isIts && action === 'UpdateItem' && caller.name === 'DeregisterFunction')
              throw new ServiceError('ProvisionedThroughputExceededException', 'too many');
          },
        },
      ],
    },
  );
  const [first = '', second = ''] = all.ids();
  await all.before({ fleet: { instanceIds: [first] }, policy: { readySeconds: 60 } });
  all.standing.fleet.instances[0]?.application.stop();
  const after = all.start('AfterDeploy', { runId: 'r' });
  await all.reaches(after, 'LetActsEnd');
  const rollback = all.startBefore({ runId: 'rollback', fleet: { instanceIds: [first] } });
  await all.end(after);
  const other = all.startBefore({ runId: 'other', fleet: { instanceIds: [second] } });
  await all.clock.pass(20_000);
  isBusy = false;
  all.standing.fleet.instances[0]?.application.start(10);
  await all.end(rollback);
  await all.after({ runId: 'rollback' });
  await all.end(other);
  await all.after({ runId: 'other' });
  expect([rollback, other].map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  expect(await all.violations()).toEqual([]);
});

test('D10, D39: no run takes what one of ours had suppressed for somebody else’s, by what was seen before', async () => {
  let isBusy = false;
  const all = await bracket(
    { ...usual, autoScaling: null },
    {
      gates: () => [
        {
          before: ({ action, caller }, input) => {
            const isIt = JSON.stringify(input).includes(`instance#${first}`);
            if (isBusy && isIt && action === 'BatchGetItem' && caller.name === 'PlanFunction')
              throw new ServiceError('ProvisionedThroughputExceededException', 'too many');
          },
        },
      ],
    },
  );
  const [first = '', second = ''] = all.ids();
  const observer = 'd-1';
  await all.before({ fleet: { instanceIds: [first] } });
  await recordObserverOf(all, observer, [first, second]);
  const after = all.start('AfterDeploy', { runId: 'r' });
  await all.reaches(after, 'Release');
  await all.clock.pass(90_000);
  isBusy = true;
  // The reads of this one are for both of them, and the other one cannot read the ledger for a while.
  const reader = all.startBefore({ runId: 'reader', fleet: { instanceIds: [second] }, observer });
  const again = all.startBefore({ runId: 'again', fleet: { instanceIds: [first] }, observer });
  await all.end(after);
  isBusy = false;
  await all.end(reader, again);
  expect([after, reader, again].map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  await all.after({ runId: 'reader' });
  await all.after({ runId: 'again' });
  expect(await all.violations()).toEqual([]);
});
