import '../../local/clock/lambda-globals.ts';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { setTimeout as nodeSetTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, gzipSync } from 'node:zlib';
import * as ec2 from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import { installLambdaGlobals } from '../../local/clock/lambda-globals.ts';
import { type Caller, ServiceError } from '../../local/wire/contract.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { createWire } from '../../local/wire/wire.ts';

const caller: Caller = { kind: 'function', name: 'Observe' };

/** Runs `handler` as a function's, in virtual time. `answers` are what DescribeInstances gives, in this order. */
async function inLambda<T>(
  handler: (client: ec2.EC2Client) => Promise<T>,
  { seed = 1, errors = [] }: { readonly seed?: number; readonly errors?: readonly ServiceError[] } = {},
) {
  const world = createWorld({ seed });
  const left = [...errors];
  const { transport } = createWire({
    clock: world.clock,
    gates: [],
    services: [
      {
        name: 'ec2',
        client: ec2,
        protocol: { kind: 'ec2-query', version: '2016-11-15' },
        operations: {
          DescribeInstances() {
            const error = left.shift();
            if (error) throw error;
            return { Reservations: [] };
          },
        },
      },
    ],
  });
  const wire = transport(caller);
  const client = new ec2.EC2Client({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    requestHandler: wire,
  });
  const startedAt = world.clock.now();
  const invocation = { caller, world, transport: wire, random: world.random.fork('Observe') };
  const result = await world.clock.runFor(runAs(invocation, () => handler(client)));
  return { result, startedAt, passedMs: world.clock.now() - startedAt };
}

test('R-THROTTLE: the SDK sleeps its back-off in virtual time, the same on the same seed', async () => {
  const throttled = () =>
    inLambda(client => client.send(new ec2.DescribeInstancesCommand({})), {
      errors: [1, 2].map(() => new ServiceError('RequestLimitExceeded', 'Request limit exceeded.', 503)),
    });
  const began = performance.now();
  const first = await throttled();
  expect(performance.now() - began).toBeLessThan(100);
  expect(first.result.Reservations).toEqual([]);
  // At most 1 s and then 2 s, with full jitter: the SDK's delays for throttles.
  expect(first.passedMs).toBeGreaterThan(0);
  expect(first.passedMs).toBeLessThanOrEqual(3000);
  expect((await throttled()).passedMs).toBe(first.passedMs);
});

test('inside an invocation every way to the date gives virtual time, and outside the real one', async () => {
  const { result, startedAt } = await inLambda(async () => {
    await sleep(60_000);
    return [Date.now(), Date.parse(new Date().toISOString()), Date.parse(Date()), new Date(0).valueOf()];
  });
  const then = startedAt + 60_000;
  expect(result).toEqual([then, then, then, 0]);
  expect(Math.abs(Date.now() - performance.timeOrigin - performance.now())).toBeLessThan(1000);
  expect(new Date()).toBeInstanceOf(Date);
  expect(new Date().constructor).toBe(Date);
});

test('timers of every kind fire in virtual time, in order, and can be cleared', async () => {
  const { result, passedMs } = await inLambda(async () => {
    const fired: string[] = [];
    setTimeout(() => fired.push('never'), 500).close();
    clearTimeout(setTimeout(() => fired.push('never'), 500));
    const timer = setTimeout(label => fired.push(label), 2000, 'global');
    timer.unref();
    nodeSetTimeout(() => fired.push('node:timers'), 1000);
    const ticks = setInterval(() => fired.push('tick'), 900);
    setTimeout(() => clearInterval(ticks), 2000);
    const given: string = await sleep(3000, 'slept');
    return [...fired, given];
  });
  expect(result).toEqual(['tick', 'node:timers', 'tick', 'global', 'slept']);
  expect(passedMs).toBe(3000);
});

test('a timer calls back inside the invocation that set it', async () => {
  const { result, startedAt } = await inLambda(
    () => new Promise<number>(resolve => setTimeout(() => resolve(Date.now()), 7000)),
  );
  expect(result).toBe(startedAt + 7000);
});

test('a sleep ends early when its signal aborts, and AbortSignal.timeout aborts in virtual time', async () => {
  const { result, passedMs } = await inLambda(() =>
    sleep(60_000, undefined, { signal: AbortSignal.timeout(5000) }).catch((error: unknown) => error),
  );
  expect(result).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: { name: 'TimeoutError' } });
  expect(passedMs).toBe(5000);
});

test('random numbers and UUIDs inside an invocation come from the seed', async () => {
  const draw = (seed: number) =>
    inLambda(async () => [Math.random(), crypto.randomUUID()] as const, { seed }).then(
      ({ result }) => result,
    );
  const [number, uuid] = await draw(5);
  expect(await draw(5)).toEqual([number, uuid]);
  expect(await draw(6)).not.toEqual([number, uuid]);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(crypto.randomUUID()).not.toBe(crypto.randomUUID());
});

test('time stands still while a file is read', async () => {
  const { result } = await inLambda(async () => {
    const elsewhere = sleep(1);
    const before = Date.now();
    await readFile(import.meta.filename);
    const after = Date.now();
    await elsewhere;
    return after - before;
  });
  expect(result).toBe(0);
});

test.each([
  ['whole', gzipSync(Buffer.alloc(500_000)), 500_000],
  ['broken', Buffer.from('not compressed'), 'incorrect header check'],
])('time stands still while a %s stream is decompressed', async (_, bytes, read) => {
  const { result } = await inLambda(async () => {
    const elsewhere = sleep(1);
    const before = Date.now();
    const gunzip = createGunzip();
    gunzip.end(bytes);
    const said = await buffer(gunzip).then(
      ({ length }) => length,
      (error: Error) => error.message,
    );
    const after = Date.now();
    await elsewhere;
    return { said, tookMs: after - before };
  });
  expect(result).toEqual({ said: read, tookMs: 0 });
});

test('installing twice changes nothing', () => {
  const installed = [Date, setTimeout, Math.random];
  installLambdaGlobals();
  expect([Date, setTimeout, Math.random]).toEqual(installed);
});
