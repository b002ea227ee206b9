import type { Context } from 'aws-lambda';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { InvalidRequest, ObservationPending, RunEnded } from '../../functions/core/errors.ts';
import { logEvents } from '../../functions/core/log-events.ts';
import { say, step } from '../../functions/core/step.ts';

const context: Context = {
  awsRequestId: 'request-1',
  callbackWaitsForEmptyEventLoop: false,
  functionName: 'quiesce-plan',
  functionVersion: '7',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:quiesce-plan:7',
  logGroupName: '/aws/lambda/quiesce-plan',
  logStreamName: 'stream',
  memoryLimitInMB: '512',
  done: () => {},
  fail: () => {},
  getRemainingTimeInMillis: () => 60_000,
  succeed: () => {},
};

const payload = z.object({ runId: z.string() });

/** Runs a step over `act` as Lambda would, and answers with how it ended and what it logged. */
async function run(act: (given: { runId: string }) => Promise<unknown>, given: unknown) {
  // Powertools keeps a console of its own over these streams.
  const streams = [process.stdout, process.stderr].map(stream =>
    vi.spyOn(stream, 'write').mockReturnValue(true),
  );
  const ended = await step(payload, act)(given, context).then(
    answer => ({ answer }),
    (error: unknown) => ({ error }),
  );
  const lines = streams.flatMap(stream => stream.mock.calls.map(([text]) => JSON.parse(String(text))));
  for (const stream of streams) stream.mockRestore();
  return { ...ended, lines };
}

test('a step reads its payload, does one thing and answers with it', async () => {
  const { lines, ...ended } = await run(async ({ runId }) => ({ did: runId }), { runId: 'r', more: 1 });
  expect(ended).toEqual({ answer: { did: 'r' } });
  expect(lines).toEqual([]);
});

test('R-LOG: a log line bears its event, its details and the function that said it', async () => {
  const { lines } = await run(async ({ runId }) => say(logEvents.runPlanned, { runId, draining: 3 }), {
    runId: 'r',
  });
  expect(lines).toMatchObject([
    {
      level: 'INFO',
      message: 'run.planned',
      event: 'run.planned',
      runId: 'r',
      draining: 3,
      function_name: 'quiesce-plan',
      function_request_id: 'request-1',
    },
  ]);
});

describe('R-SWALLOW: every error is logged once and thrown on, so that retriers, Catch and alarms see it', () => {
  test.each([
    ['a refusal', new RunEnded('Run r has ended.'), 'step.refused', 'RunEnded'],
    ['a failure', new TypeError('a fault of ours'), 'step.failed', 'TypeError'],
  ])('%s', async (_, thrown, event, name) => {
    const { lines, ...ended } = await run(() => Promise.reject(thrown), { runId: 'r' });
    expect(ended).toEqual({ error: thrown });
    expect(lines).toMatchObject([
      { level: 'ERROR', event, message: event, error: { name, message: thrown.message } },
    ]);
  });

  test('D10: a read that another run is making is waited for: said as news, not as an error', async () => {
    const pending = new ObservationPending('Another run is just reading targets: what it sees is used.');
    const { lines, ...ended } = await run(() => Promise.reject(pending), { runId: 'r' });
    expect(ended).toEqual({ error: pending });
    expect(lines).toMatchObject([
      { level: 'INFO', event: 'observation.pending', reason: pending.message, function_name: 'quiesce-plan' },
    ]);
  });

  test('a payload that is not one', async () => {
    let acted = false;
    const act = async () => {
      acted = true;
    };
    const { lines, ...ended } = await run(act, { runId: 7 });
    expect(ended).toEqual({ error: expect.any(InvalidRequest) });
    expect(lines).toMatchObject([{ event: 'step.refused', error: { name: 'InvalidRequest' } }]);
    expect(acted).toBe(false);
  });
});

test('every transition has a word of its own in the log', () => {
  const words = Object.values(logEvents);
  expect(new Set(words).size).toBe(words.length);
});
