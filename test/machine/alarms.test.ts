import { expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, bracket, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const parameters = { NotificationTopic: 'create' };
const fleet = { ...usual, instances: 2 };

/** The alarms that people have been told of, without the stack's name. */
const rung = (run: Bracket) => [
  ...new Set(run.stack.topics.published.flatMap(({ subject }) => /"quiesce-(\w+)"/.exec(subject)?.[1] ?? [])),
];

/** One instance, so that one other stays in traffic. */
const first = (run: Bracket) => ({ fleet: { instanceIds: run.ids(0) } });

test('R-ALARM-ON-US: nothing rings of a run that succeeds, nor of a day without any', async () => {
  const run = await bracket(fleet, { parameters });
  await run.before(first(run));
  await run.after();
  await run.clock.pass(26 * HOUR);
  expect(rung(run)).toEqual([]);
});

test('R-ALARM-ON-US: a refused run, a failed one and an undo ring each by their machine', async () => {
  const run = await bracket(fleet, { parameters });
  await run.before({ fleet: { instanceIds: ['i-0123456789abcdef0'] } });
  await run.clock.pass(10 * MINUTE);
  expect(rung(run)).toEqual(['BeforeDeployAlarm']);
  await run.before({ runId: 's', ...first(run) });
  run.standing.fleet.instances[0]?.application.stop();
  await run.after({ runId: 's' });
  await run.clock.pass(10 * MINUTE);
  expect(rung(run)).toEqual(['BeforeDeployAlarm', 'AfterDeployAlarm']);
});

test('R-ALARM-ON-US: a go-ahead that no success follows rings half a day later', async () => {
  const run = await bracket(fleet, { parameters });
  await run.before(first(run));
  await run.clock.pass(11 * HOUR);
  expect(rung(run)).toEqual(['UndoRunAlarm']);
  await run.clock.pass(8 * HOUR);
  expect(rung(run)).toEqual(['UndoRunAlarm', 'SuccessMissingAlarm']);
});

test('D14: an event that a function fails on is kept, and rings', async () => {
  const run = await bracket(fleet, {
    parameters,
    gates: () => [
      {
        before: ({ caller }) => {
          if (caller.name === 'SweepFunction') throw new ServiceError('AccessDeniedException', 'no');
        },
      },
    ],
  });
  await run.clock.pass(40 * MINUTE);
  expect(rung(run).sort()).toEqual(['LostEventsAlarm', 'SweepFunctionAlarm', 'SweepMissingAlarm']);
});
