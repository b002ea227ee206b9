import { expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, type BracketSettings, bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;
const parameters = { NotificationTopic: 'create' };

/** Without what alarms publish. */
const notifications = (run: Bracket) =>
  run.stack.topics.published.filter(({ subject }) => subject.startsWith('Quiesce: '));

const published = (run: Bracket) => notifications(run).map(({ subject }) => subject);

/** A run whose application never answers again. */
async function failing(settings: BracketSettings = {}, policy: object = {}) {
  const run = await bracket({ ...usual, instances: 2 }, { parameters, ...settings });
  await run.before({ fleet: { instanceIds: run.ids(0) }, policy: { readySeconds: 60, ...policy } });
  run.standing.fleet.instances[0]?.application.stop();
  const after = await run.after();
  await run.clock.pass(MINUTE);
  return { run, after };
}

const undo = async (run: Bracket, from: string, more: object = {}) => {
  const undoing = run.stack.startExecution('UndoRun', {
    input: { runId: 'r', error: 'BudgetSpent', cause: 'again', from, ...more },
  });
  await run.end(undoing);
  await run.clock.pass(MINUTE);
  return undoing;
};

test('R-ALARM-ON-US: people are told once of a run that failed, by SNS and by an event', async () => {
  const { run, after } = await failing();
  expect(outcome(after)).toBe('FAILED BudgetSpent');
  expect(published(run)).toEqual(['Quiesce: run r failed and is undone']);
  expect(notifications(run)[0]?.message).toContain('quiesce status r');
  expect(run.announced).toEqual([{ type: 'Quiesce Run Failed', runId: 'r' }]);
  await undo(run, after.arn);
  expect(published(run)).toHaveLength(1);
  expect(run.announced).toHaveLength(1);
});

test('D38: people are told when a hold begins and when it is given back', async () => {
  const { run, after } = await failing({}, { afterFailure: 'held' });
  expect(notifications(run)[0]?.message).toContain('aws elbv2 register-targets');
  await undo(run, after.arn, { giveBack: true });
  expect(published(run)).toEqual([
    'Quiesce: run r failed and holds instances',
    'Quiesce: run r has given back what it held',
  ]);
  expect(await run.violations()).toEqual([]);
});

test('R-FAIL: a notification that cannot be sent neither hides the error nor stops the undo, and is sent later', async () => {
  let denied = true;
  const { run, after } = await failing({
    gates: () => [
      {
        before: ({ service, action }) => {
          if (denied && service === 'sns' && action === 'Publish')
            throw new ServiceError('AuthorizationError', 'not now', 403);
        },
      },
    ],
  });
  expect(outcome(after)).toBe('FAILED BudgetSpent');
  await run.clock.pass(20 * MINUTE);
  expect(published(run)).toEqual([]);
  expect(run.ended('TellPeople')).toEqual(['FAILED SNS.AuthorizationError']);
  denied = false;
  await undo(run, after.arn);
  expect(published(run)).toEqual(['Quiesce: run r failed and is undone']);
  expect(await run.violations()).toEqual([]);
});

test('R-FAIL: nor does one that cannot even be begun', async () => {
  const { run, after } = await failing({
    gates: () => [
      {
        before: ({ service, caller }) => {
          if (service === 'states' && caller.kind === 'machine')
            throw new ServiceError('AccessDeniedException', 'no');
        },
      },
    ],
  });
  expect(outcome(after)).toBe('FAILED BudgetSpent');
  expect(run.ended('TellPeople')).toEqual([]);
  expect(await run.violations()).toEqual([]);
});

test('people are told of a run whose machine was stopped, and of an undo that could not finish', async () => {
  let denied = true;
  const run = await bracket(
    { ...usual, instances: 2 },
    {
      parameters,
      gates: () => [
        {
          before: ({ action }) => {
            if (denied && action === 'RegisterTargets') throw new ServiceError('AccessDenied', 'no', 403);
          },
        },
      ],
    },
  );
  const before = run.startBefore({ fleet: { instanceIds: run.ids(0) } });
  await run.clock.pass(2 * MINUTE);
  run.stack.executions.stop(before.arn, 'Operator.Stopped', 'by a person');
  await run.clock.pass(10 * MINUTE);
  expect(published(run)).toEqual(['Quiesce: run r failed and is NOT fully undone']);
  expect(notifications(run)[0]?.message).toContain(run.ids(0)[0]);
  denied = false;
  await undo(run, run.latest('UndoRun'));
  expect(published(run).at(-1)).toBe('Quiesce: run r failed and is undone');
  expect(await run.violations()).toEqual([]);
});

test('nobody is told of a run that was refused before it did anything', async () => {
  const run = await bracket({ ...usual, instances: 2 }, { parameters });
  expect(outcome(await run.before({ fleet: { instanceIds: ['i-0123456789abcdef0'] } }))).toBe(
    'FAILED InstanceUnknown',
  );
  await run.clock.pass(MINUTE);
  expect(published(run)).toEqual([]);
});
