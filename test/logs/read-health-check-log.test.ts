import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import type { Bracket } from '../machine/helpers/bracket.ts';
import { unneededBy } from '../template/helpers/role-groups.ts';
import { logged, measured, said, sumOf, unwatched } from './helpers/logged.ts';

const key = (name: string, end: string) =>
  `AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/11/30/${name}111122223333_elasticloadbalancing_eu-west-1_app.web.50dc6c495c0c9188_${end}_10.0.0.200_a1b2c3d4.log.gz`;

/** The end of a period that is over now. */
const ended = (run: Bracket, agoMinutes = 5) =>
  `${new Date(run.clock.now() - agoMinutes * 60_000).toISOString().slice(0, 16).replaceAll(/[-:]/g, '')}Z`;

const line = (at: string, rest: string) => `http 2026-11-30T${at}.000000Z ${rest}`;
const PASSES = '0.02 10.0.0.9:80 web PASS 200 -';

describe('a fleet whose second instance answers 503 for six minutes', async () => {
  const { run, fleet, period } = await logged();
  const began = run.clock.now();
  fleet[1]?.application.suffer(() => ({ kind: 'responds', status: 503, afterMs: 20 }));
  await run.clock.pass(360_000);
  fleet[1]?.application.suffer(undefined);
  await period();
  await period();

  test('R-LOG: checks are counted by target group, zone and reason, and never by target', () => {
    // Every 10 s each of two nodes checks each of two targets in a zone: three periods, the first of them in part.
    const inZone = (az: string) => sumOf(run, { metric: 'health_check_total', target_group: 'web', az });
    expect(inZone('eu-west-1a')).toBe(inZone('eu-west-1b'));
    expect(inZone('eu-west-1b')).toBeGreaterThan(4 * 3 * 30);
    const failures = measured(run).filter(({ metric }) => metric === 'health_check_failure_total');
    expect(new Set(failures.map(({ az, reason }) => `${az} ${reason}`))).toEqual(
      new Set(['eu-west-1b TargetError']),
    );
    expect(sumOf(run, { metric: 'health_check_failure_total' })).toBe(2 * 36);
    const byNode = (node_az: string) =>
      sumOf(run, { metric: 'health_check_node_failure_total', target_group: 'web', node_az });
    expect(['eu-west-1a', 'eu-west-1b'].map(byNode)).toEqual([36, 36]);
    expect(
      Math.max(
        ...measured(run).flatMap(datum =>
          datum.metric === 'health_check_latency_seconds' ? Number([datum.value].flat()[0]) : [],
        ),
      ),
    ).toBe(0.02);
  });

  test("each node's first failure and first recovery of a target is told once, with its reason", () => {
    const told = said(run).filter(({ event }) => event.startsWith('target.'));
    const { privateAddresses, id } = fleet[1] ?? {};
    const about = {
      group: 'web',
      target: `${privateAddresses?.[0]}:8080`,
      instanceId: id,
      zone: 'eu-west-1b',
    };
    const nodes = Array.from(run.standing.account.ec2.network.interfaces.values()).filter(
      ({ owner }) => owner.kind === 'requester',
    );
    const ofNode = (node: string, nodeZone: string) => [
      expect.objectContaining({
        event: 'target.failed',
        ...about,
        node,
        nodeZone,
        reason: 'TargetError',
        statusCode: 503,
      }),
      expect.objectContaining({
        event: 'target.recovered',
        ...about,
        node,
        nodeZone,
        failedSeconds: 360,
        statusCode: 200,
      }),
    ];
    const by = (node: string) => told.filter(line => line.node === node);
    expect(told).toHaveLength(4);
    expect(nodes.map(({ subnet }) => subnet.zone)).toEqual(['eu-west-1a', 'eu-west-1b']);
    for (const { addresses, subnet } of nodes)
      expect(by(addresses[0])).toEqual(ofNode(addresses[0], subnet.zone));
    const failedAt = Date.parse(String(told[0]?.at));
    expect(failedAt - began).toBeLessThan(10_000);
  });

  test('a file is one line of the log, with what it had', () => {
    const reads = said(run).filter(({ event }) => event === 'health-check-log.read');
    expect(reads).toContainEqual(
      expect.objectContaining({ lines: 120, badLines: 0, failing: 1, changes: 1 }),
    );
    expect(reads.at(-1)).toMatchObject({ failing: 0 });
    expect(reads.length).toBe(sumOf(run, { metric: 'health_check_log_total', kind: 'health-check' }));
  });
});

test('R-LOG, R-IDEMP: a file that is delivered twice counts once', async () => {
  const twice = { deliveries: () => [500, 500, 90_000] };
  const { run, period } = await logged(unwatched, twice);
  await period();
  expect(sumOf(run, { metric: 'health_check_log_total', kind: 'health-check' })).toBe(4);
  expect(sumOf(run, { metric: 'health_check_log_total', kind: 'twice' })).toBe(8);
  // Two periods: the first began when logs were switched on.
  const once = await logged();
  await once.period();
  const total = { metric: 'health_check_total' };
  expect(sumOf(run, total)).toBe(sumOf(once.run, total));
});

test('R-LOG: sibling files are passed over knowingly and counted, and so is one that comes too late to know', async () => {
  const { run, bucket, storage } = await logged();
  const before = said(run).length;
  const end = ended(run);
  const put = (name: string) => storage.put(bucket, name, gzipSync(line('09:01:00', PASSES)));
  for (const sort of ['conn_log_', '']) put(key(sort, end));
  put('AWSLogs/111122223333/ELBAccessLogTestFile');
  put('holiday.jpg');
  put(key('health_check_log_', ended(run, 181)));
  await run.clock.pass(5_000);
  expect(
    said(run)
      .slice(before)
      .map(({ event, kind }) => [event, kind]),
  ).toEqual(
    ['connection', 'access', 'test', 'unknown', 'late'].map(kind => ['health-check-log.skipped', kind]),
  );
  expect(sumOf(run, { metric: 'health_check_log_total', kind: 'connection' })).toBe(1);
});

test('R-LOG: bad lines are counted and the others read; an earlier file changes nothing that is known', async () => {
  const { run, bucket, storage } = await logged();
  const put = (end: string, ...lines: readonly string[]) =>
    storage.put(bucket, key('health_check_log_', end), gzipSync(lines.join('\n')));
  const slower = PASSES.replace('0.02 10.0.0.9', '0.3 10.0.0.8');
  put(
    ended(run, 5),
    line('09:06:00', PASSES),
    line('09:06:00', slower),
    'no line',
    line('09:06:10', '- - web FAIL - TimedOut'),
  );
  await run.clock.pass(5_000);
  put(ended(run, 10), line('09:01:00', '- - web PASS - -'));
  await run.clock.pass(5_000);
  const ofFile = said(run).filter(({ loadBalancer }) => loadBalancer === 'app.web.50dc6c495c0c9188');
  expect(ofFile).toMatchObject([
    { event: 'target.failed', target: '-', zone: 'unknown', reason: 'TimedOut' },
    { event: 'health-check-log.read', lines: 4, badLines: 1, failing: 1 },
    { event: 'health-check-log.read', lines: 1, badLines: 0, failing: 1, changes: 0 },
  ]);
  expect(sumOf(run, { metric: 'health_check_bad_line_total' })).toBe(1);
  expect(sumOf(run, { metric: 'health_check_total', az: 'unknown' })).toBe(4);
});

describe('R-LOG: a file that cannot be read is a clear error, kept in the queue, and an alarm', () => {
  const WHOLE = gzipSync(line('09:01:00', PASSES).repeat(2000));
  test.each([
    [
      'is encrypted with a key of somebody else',
      'aws:kms',
      WHOLE,
      'LogUnreadable',
      'it is encrypted with a key that this role may not use',
    ],
    ['is gone', 'AES256', undefined, 'LogUnreadable', 'it is gone, or a policy'],
    [
      'ends before its end',
      'AES256',
      WHOLE.subarray(0, WHOLE.length / 2),
      'LogDamaged',
      'not a whole one (Z_BUF_ERROR)',
    ],
    ['is not compressed', 'AES256', Buffer.from(PASSES), 'LogDamaged', 'no gzip file'],
  ] as const)('it %s', async (_, encryption, bytes, error, why) => {
    const { run, bucket, storage } = await logged();
    bucket.encryption = encryption;
    const name = key('health_check_log_', ended(run));
    storage.put(bucket, name, bytes ?? WHOLE);
    if (!bytes) bucket.objects.delete(name);
    await run.clock.pass(2_000);
    expect(said(run).at(-1)).toMatchObject({
      event: 'step.refused',
      error: { name: error, message: expect.stringContaining(why) },
    });
    const rang = new Set<string>();
    for (let minute = 0; minute < 10; minute++) {
      await run.clock.pass(60_000);
      for (const { name, state } of run.standing.account.alarms.all())
        if (state.value === 'ALARM') rang.add(name);
    }
    expect([...rang]).toContain('quiesce-ReadHealthCheckLogFunctionAlarm');
    const [lost] = run.stack.queues.messages(run.stack.template.queues.get('LostEvents')?.arn ?? '');
    expect(JSON.parse(lost?.body ?? '{}')).toMatchObject({
      requestContext: { approximateInvokeCount: 3 },
      requestPayload: { detail: { object: { key: name } } },
      responsePayload: { errorType: error },
    });
    expect(unneededBy('logs', run.stack)).toEqual([]);
  });

  test('its bucket is gone', async () => {
    const { run } = await logged();
    run.stack.events.put({
      source: 'aws.s3',
      'detail-type': 'Object Created',
      detail: {
        bucket: { name: 'quiesce-logs-111122223333-eu-west-1' },
        object: { key: key('health_check_log_', ended(run)) },
      },
    });
    Reflect.set(run.standing.account.storage, 'bucket', () => {
      throw new ServiceError('NoSuchBucket', 'The specified bucket does not exist', 404);
    });
    await run.clock.pass(5_000);
    expect(said(run).at(-1)).toMatchObject({
      error: { message: expect.stringContaining('there is no such bucket any more') },
    });
  });
});

test('a ledger that others change each time is an error that is tried again', async () => {
  let refused = 0;
  const { run } = await logged(unwatched, {
    gates: () => [
      {
        before({ action, caller }, input) {
          if (action !== 'UpdateItem' || caller.name !== 'ReadHealthCheckLogFunction') return;
          if (!JSON.stringify(input).includes('revision') || refused >= 10) return;
          refused++;
          throw new ServiceError('ConditionalCheckFailedException', 'no');
        },
      },
    ],
  });
  await run.clock.pass(120_000);
  expect(said(run).filter(({ event }) => event === 'step.failed')).toMatchObject([
    { error: { name: 'Unavailable', message: expect.stringContaining('came first') } },
    { error: { name: 'Unavailable' } },
  ]);
  expect(sumOf(run, { metric: 'health_check_log_total', kind: 'health-check' })).toBe(2);
});

/** What has become of the function's write of a node's record, of whatever file comes first. */
const COUNTED = { metric: 'health_check_log_total', kind: 'health-check' };

test('R-IDEMP: a write whose answer is lost is known again, and the file is counted and told', async () => {
  let lost = 0;
  const { run, fleet } = await logged(unwatched, {
    gates: () => [
      {
        after({ action, caller }, input) {
          if (action !== 'UpdateItem' || caller.name !== 'ReadHealthCheckLogFunction') return;
          if (JSON.stringify(input).includes('revision') && lost++ < 1)
            throw new ServiceError('InternalServerError', 'lost', 500);
        },
      },
    ],
  });
  fleet[1]?.application.suffer(() => ({ kind: 'responds', status: 503, afterMs: 20 }));
  await run.clock.pass(200_000);
  expect(lost).toBeGreaterThan(0);
  expect([sumOf(run, COUNTED), sumOf(run, { ...COUNTED, kind: 'twice' })]).toEqual([4, 0]);
});

test('R-IDEMP: an invocation that dies after its write is tried again, and counts its file', async () => {
  const owners = new Map<string, number>();
  const { run } = await logged(unwatched, {
    dies: ({ function: name, requestId }, _, action) => {
      if (name !== 'ReadHealthCheckLogFunction' || action !== 'UpdateItem') return undefined;
      const writes = (owners.get(requestId) ?? 0) + 1;
      owners.set(requestId, writes);
      // The list of nodes, and then the node's record.
      return owners.size === 1 && writes === 2 ? 'after' : undefined;
    },
  });
  await run.clock.pass(120_000);
  expect([sumOf(run, COUNTED), sumOf(run, { ...COUNTED, kind: 'twice' })]).toEqual([2, 0]);
  expect(sumOf(run, { metric: 'health_check_total' })).toBeGreaterThan(0);
});

test('R-LOG: a file of the future is none, and hides nothing that comes after it', async () => {
  const { run, bucket, storage } = await logged();
  const put = (end: string, rest: string) =>
    storage.put(bucket, key('health_check_log_', end), gzipSync(line('09:06:00', rest)));
  put(ended(run, -11), PASSES);
  await run.clock.pass(5_000);
  expect(said(run).at(-1)).toMatchObject({ event: 'health-check-log.skipped', kind: 'unknown' });
  put(ended(run, 1), '- 10.0.0.8:80 web FAIL - TimedOut');
  await run.clock.pass(5_000);
  expect(said(run).at(-1)).toMatchObject({ event: 'health-check-log.read', failing: 1, changes: 1 });
});

test('R-LOG: a line of the future is a bad one: it would be the last word on its target for good', async () => {
  const { run, bucket, storage } = await logged();
  const lines = [
    line('09:06:00', PASSES),
    `http 9999-11-30T09:06:10.0Z 0.02 10.0.0.8:80 web FAIL - TimedOut`,
  ];
  storage.put(bucket, key('health_check_log_', ended(run, 1)), gzipSync(lines.join('\n')));
  await run.clock.pass(5_000);
  expect(said(run).at(-1)).toMatchObject({ lines: 2, badLines: 1, failing: 0 });
});

test('two files of one period and node are one: the slowest pass of both is kept', async () => {
  const written: string[] = [];
  const hears: Gate = {
    after: ({ action, caller }, input) => {
      if (action === 'UpdateItem' && caller.name === 'ReadHealthCheckLogFunction')
        written.push(JSON.stringify(input));
    },
  };
  const { run, bucket, storage } = await logged(unwatched, { gates: () => [hears] });
  const end = ended(run, 1);
  const put = (random: string, rest: string) =>
    storage.put(
      bucket,
      key('health_check_log_', end).replace('a1b2c3d4', random),
      gzipSync(line('09:06:00', rest)),
    );
  put('one', '4.9 10.0.0.9:80 web PASS 200 -');
  await run.clock.pass(3_000);
  put('two', PASSES);
  await run.clock.pass(3_000);
  expect(written.at(-1)).toContain('10.0.0.9:80');
  expect(written.at(-1)).toContain('4.9');
});

test('a record of the longest names and the most targets fits into an item', async () => {
  const { run, bucket, storage } = await logged();
  const group = (number: number) => `${'g'.repeat(28)}${1000 + number}`;
  const target = (number: number) => `${'1'.repeat(55)}.${1000 + (number % 9000)}:80`;
  const lines = Array.from({ length: 3000 }, (_, number) => [
    line('09:06:00', `0.123456789 ${target(number)} ${group(number)} PASS 200 -`),
    line('09:06:10', `0.123456789 ${target(number)} ${group(number)} FAIL 503 GRPCStatusHeaderEmpty`),
  ]).flat();
  storage.put(bucket, key('health_check_log_', ended(run, 1)), gzipSync(lines.join('\n')));
  await run.clock.pass(5_000);
  expect(said(run).at(-1)).toMatchObject({ event: 'health-check-log.read', failing: 1400, badLines: 0 });
});
