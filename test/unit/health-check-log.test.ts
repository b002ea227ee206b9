import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHealthCheckLine } from '../../functions/core/domain/health-check-line.ts';
import { logFileOf } from '../../functions/core/domain/load-balancer-log.ts';
import { LogDamaged } from '../../functions/core/errors.ts';
import { decompress } from '../../functions/core/logs/decompress.ts';
import { linesOf } from '../../functions/core/logs/lines.ts';

const PASSED = 'http 2026-11-30T09:00:01.250000Z 0.019584011 10.0.1.20:80 web PASS 200 -';
const FAILED = 'http 2026-11-30T09:00:06.000000Z 5.000000000 10.0.1.20:80 web FAIL - RequestTimedOut';

test('a line tells when which target was checked, for how long, and how it ended', () => {
  expect(readHealthCheckLine(PASSED)).toEqual({
    at: Date.UTC(2026, 10, 30, 9, 0, 1, 250),
    latencySeconds: 0.019584011,
    target: '10.0.1.20:80',
    targetGroup: 'web',
    passed: true,
    statusCode: 200,
    reason: null,
  });
  expect(readHealthCheckLine(FAILED)).toMatchObject({ passed: false, statusCode: null, reason: 'TimedOut' });
});

test('R-LOG: unknown trailing fields are ignored, - is null, a field may be quoted', () => {
  expect(readHealthCheckLine(`${PASSED} app/web/50dc6c495c0c9188 "10.0.0.7 more`)).toEqual(
    readHealthCheckLine(PASSED),
  );
  expect(readHealthCheckLine(PASSED.replace('web', '"web"'))).toEqual(readHealthCheckLine(PASSED));
  expect(readHealthCheckLine(PASSED.replace('web', 'targetgroup/web/73e2d6bc24d8a067'))).toEqual(
    readHealthCheckLine(PASSED),
  );
  expect(readHealthCheckLine('http 2026-11-30T09:00:01Z - - web FAIL')).toMatchObject({
    latencySeconds: null,
    target: null,
    reason: 'other',
  });
  expect(readHealthCheckLine(FAILED.replace('RequestTimedOut', 'NewlyInvented'))?.reason).toBe('other');
});

test.each([
  ['nothing', ''],
  ['too few fields', 'http 2026-11-30T09:00:01Z 0.1 10.0.1.20:80 web'],
  ['a time that is none', PASSED.replace('2026-11-30T09:00:01.250000Z', 'yesterday')],
  ['a latency that is none', PASSED.replace('0.019584011', '-1')],
  ['a status code that is none', PASSED.replace('200', 'OK')],
  ['another status', PASSED.replace('PASS', 'MAYBE')],
  ['no target group', PASSED.replace('web', '-')],
  ['a target group that cannot be one', PASSED.replace('web', 'w'.repeat(33))],
  ['a target that cannot be one', PASSED.replace('10.0.1.20', '1'.repeat(65))],
  ['a time of another form', PASSED.replace('2026-11-30T09:00:01.250000Z', '1')],
  ['a latency of another form', PASSED.replace('0.019584011', '0x10')],
  ['a status code of another form', PASSED.replace('200', '1e9')],
  ['a quote that does not end', PASSED.replace('web', '"web')],
])('R-LOG: a line with %s is a bad one', (_, line) => {
  expect(readHealthCheckLine(line)).toBeUndefined();
});

test('R-LOG: whatever a line holds, it is read or bad, and never more', () => {
  const near = fc
    .array(fc.oneof(fc.constantFrom(...PASSED.split(' '), '"', '-', ''), fc.string()))
    .map(fields => fields.join(' '));
  fc.assert(
    fc.property(fc.oneof(near, fc.string({ unit: 'binary' })), line => {
      const read = readHealthCheckLine(line);
      expect(read === undefined || (read.targetGroup !== '' && Number.isFinite(read.at))).toBe(true);
    }),
  );
});

const key = (name: string) => `logs/AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/11/30/${name}`;
const END =
  '111122223333_elasticloadbalancing_eu-west-1_app.web.50dc6c495c0c9188_20261130T0905Z_10.0.0.7_a1b2c3d4.log.gz';

test('R-LOG: a file is told by its key from its siblings', () => {
  expect(logFileOf(key(`health_check_log_${END}`))).toEqual({
    kind: 'health-check',
    tag: '2026-11-30T09:05Z-a1b2c3d4',
    loadBalancer: 'app.web.50dc6c495c0c9188',
    node: '10.0.0.7',
    endsAt: Date.UTC(2026, 10, 30, 9, 5),
  });
  expect(logFileOf(key(`conn_log_${END}`)).kind).toBe('connection');
  expect(logFileOf(key(END)).kind).toBe('access');
  expect(logFileOf('logs/AWSLogs/111122223333/ELBAccessLogTestFile').kind).toBe('test');
  expect(logFileOf('logs/photo.jpg').kind).toBe('unknown');
  expect(logFileOf(key(`health_check_log_${END.replace('20261130', '99991399')}`)).kind).toBe('unknown');
});

async function* chunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let from = 0, n = 0; from < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function read(bytes: Uint8Array, sizes: readonly number[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const some of linesOf(chunks(bytes, sizes))) lines.push(...some);
  return lines;
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });

test('R-LOG: lines are the same however the bytes arrive, whatever the bytes are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), sizes, async (bytes, cuts) => {
      const lines = Buffer.from(bytes).toString('latin1').split('\n');
      expect(await read(bytes, cuts)).toEqual(lines.at(-1) === '' ? lines.slice(0, -1) : lines);
    }),
  );
});

test.each([1, 1000, 20_000, 1_000_000])(
  'a line that is too long is one bad line, in chunks of %i bytes',
  async size => {
    const long = `${PASSED}\n${'x'.repeat(50_000)}\n${FAILED}\n${'y'.repeat(50_000)}`;
    expect(await read(Buffer.from(long), [size])).toEqual([PASSED, '', FAILED, '']);
  },
);

test('a compressed file that is not decompressed has only bad lines', async () => {
  const lines = await read(gzipSync(PASSED.repeat(50)), [64]);
  expect(lines.filter(line => readHealthCheckLine(line))).toEqual([]);
});

test('R-LOG: a compressed file that is cut or changed anywhere is read, or damaged, and nothing else', async () => {
  const whole = gzipSync(`${PASSED}\n${FAILED}\n`.repeat(40));
  const cut = fc.nat(whole.length).map(length => whole.subarray(0, length));
  const changed = fc
    .tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }))
    .map(([place, by]) => Buffer.from(whole).fill((whole[place] ?? 0) ^ by, place, place + 1));
  await fc.assert(
    fc.asyncProperty(fc.oneof(cut, changed, fc.uint8Array()), async bytes => {
      const reading = decompress(Readable.from([bytes]), async some => {
        for await (const lines of linesOf(some)) lines.map(readHealthCheckLine);
      });
      const error = await reading.then(
        () => undefined,
        (why: unknown) => why,
      );
      expect(error === undefined || error instanceof LogDamaged).toBe(true);
    }),
  );
});
