import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { HttpRequest } from '@smithy/types';
import { expect, test } from 'vitest';
import { readLog } from '../../functions/core/logs/read-log.ts';
import { createWorld } from '../../local/account/world.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { installProcessConnection } from '../../local/wire/process-connection.ts';

const world = createWorld();

const answer = (statusCode: number, body: Readable | Uint8Array) => ({
  response: { statusCode, headers: { 'content-type': 'application/x-amz-json-1.0' }, body },
});

/** Reads a log over a network on which S3 gives these answers, the last one for good, and the ledger is empty. */
async function reading(...given: readonly (() => ReturnType<typeof answer>)[]) {
  Object.assign(process.env, {
    AWS_REGION: world.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LEDGER_TABLE: 'Ledger',
  });
  installProcessConnection();
  let asked = 0;
  const transport = {
    handle: async ({ method }: HttpRequest) => {
      if (method === 'POST') return answer(200, Buffer.from('{}'));
      return (given[asked++] ?? given.at(-1) ?? (() => answer(500, Buffer.from(''))))();
    },
  };
  const end = '20261130T0905Z_10.0.0.200_a1b2c3d4.log.gz';
  const key = `health_check_log_111122223333_elasticloadbalancing_eu-west-1_app.web.50dc6c495c0c9188_${end}`;
  const caller = { kind: 'function', name: 'Tested' } as const;
  const log = runAs({ caller, world, transport, random: world.random }, () =>
    readLog({ bucket: 'logs', key }, 'invocation'),
  );
  return world.clock.runFor(
    log.then(
      read => read,
      (error: unknown) => error,
    ),
  );
}

test.each([
  ['by the network', Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
  ['by nobody knows what', new Error('socket hang up')],
])(
  'R-LOG: a connection that is broken %s while a file is read is an error that may go away',
  async (_, why) => {
    const broken = () =>
      answer(
        200,
        Readable.from(
          (async function* () {
            yield gzipSync('a line').subarray(0, 12);
            throw why;
          })(),
        ),
      );
    expect(await reading(broken)).toMatchObject({
      name: 'Unavailable',
      message: 's3:GetObject failed with Broken: Error: socket hang up',
    });
  },
);

test('R-THROTTLE: S3 may ask for fewer calls', async () => {
  const slow = () => answer(503, Buffer.from('<Error><Code>SlowDown</Code><Message>slow</Message></Error>'));
  expect(await reading(slow)).toMatchObject({ name: 'Throttled', code: 'SlowDown' });
});
