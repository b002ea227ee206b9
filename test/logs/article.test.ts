import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { diagnose } from '../../functions/core/domain/diagnosis.ts';
import type { Application } from '../../local/account/application.ts';
import { useLedger } from '../../local/cli/ledger-table.ts';
import { type FleetName, observeFleet } from '../../local/cli/observed-fleet.ts';
import { runAs } from '../../local/wire/invocation.ts';
import type { Bracket } from '../machine/helpers/bracket.ts';
import { logged, said, unwatched } from './helpers/logged.ts';

/** The two cases of a public article on health check logs, as its author met them: thresholds and time-outs are hers. */

/** As `quiesce diagnose --table` does. */
function diagnosed({ standing, stack, clock }: Bracket, name: FleetName) {
  const { world } = standing.account;
  const caller = { kind: 'operator', name: 'somebody' } as const;
  const transport = stack.wire.transport(caller);
  useLedger(stack.template.tables.get('Ledger')?.name ?? '');
  const seen = runAs({ caller, world, transport, random: world.random }, () =>
    observeFleet(name, { logs: true, metrics: false }),
  );
  return clock.runFor(seen.then(diagnose));
}

/** What the nodes of the load balancer wrote, by their addresses. */
function linesByNode(bucket: Awaited<ReturnType<typeof logged>>['bucket']) {
  const files = [...bucket.objects.values()].filter(({ key }) => key.endsWith('.gz'));
  return Map.groupBy(
    files.flatMap(({ key, bytes }) => {
      const node = key.split('_').at(-2) ?? '';
      return gunzipSync(bytes)
        .toString()
        .trimEnd()
        .split('\n')
        .map(line => ({ node, line }));
    }),
    ({ node }) => node,
  );
}

/** When a target entered this state, in milliseconds. */
const entered = ({ standing }: Bracket, id: string, wanted: string, after: number): number | undefined =>
  standing.account.world.journal.entries.find(
    entry => entry.type === 'target' && entry.id === id && entry.state === wanted && entry.at >= after,
  )?.at;

test('a health path of 70 s against a time-out of 5 s: every node logs time-outs, and the target is unhealthy after the threshold of the last one', async () => {
  const { run, bucket, fleet, period } = await logged();
  const { loadBalancing } = run.standing.account;
  const [loadBalancer] = loadBalancing.loadBalancers();
  const slow = loadBalancing.addTargetGroup({
    name: 'slow',
    port: 8080,
    targetType: 'instance',
    protocol: 'HTTP',
    vpcId: fleet[0]?.vpcId ?? '',
    loadBalancer: loadBalancer?.arn ?? '',
    healthCheck: {
      path: '/slow',
      port: 'traffic-port',
      intervalSeconds: 20,
      timeoutSeconds: 5,
      healthyThreshold: 5,
      unhealthyThreshold: 2,
      matcher: '200',
    },
  });
  for (const { application } of fleet)
    application.suffer(({ path }) =>
      path === '/slow' ? { kind: 'responds', status: 200, afterMs: 70_000 } : undefined,
    );
  const registered = run.clock.now();
  loadBalancing.register(slow.arn, fleet);
  await period();

  const byNode = linesByNode(bucket);
  expect(byNode.size).toBe(2);
  const [target] = fleet;
  const address = `${target?.privateAddresses[0]}:8080`;
  const secondTimeOuts = [...byNode.values()].map(lines => {
    const ofTarget = lines.filter(({ line }) => line.includes(`${address} slow `));
    for (const { line } of ofTarget) expect(line).toMatch(/ 5\.000000000 .* slow FAIL - TimedOut$/);
    return Date.parse(ofTarget[1]?.line.split(' ')[1] ?? '') + 5_000;
  });
  const unhealthy = entered(run, target?.id ?? '', 'unhealthy', registered);
  expect(unhealthy).toBe(Math.max(...secondTimeOuts));

  const { findings } = await diagnosed(run, { kind: 'target-group', arn: slow.arn });
  expect(findings).toMatchObject([
    { symptom: 'failing-open' },
    {
      symptom: 'times-out',
      reach: { kind: 'fleet' },
      summary: expect.stringContaining('against the time-out'),
    },
  ]);
  // The group whose health path is quick has nothing to do with it.
  const { well } = await diagnosed(run, {
    kind: 'target-group',
    arn: run.standing.fleet.targetGroups[0]?.arn ?? '',
  });
  expect(well).toBe(true);
});

/** An application that serves one request at a time is asked for one that takes so long: every other waits for its end. */
function blockFor(application: Application, now: number, seconds: number): void {
  const free = now + seconds * 1000;
  application.suffer((_, at) =>
    at < free ? { kind: 'responds', status: 200, afterMs: free - at + 20 } : undefined,
  );
}

test('a single-threaded application that one slow request blocks turns unhealthy, and the diagnosis says so', async () => {
  const { run, fleet, period } = await logged();
  const [target] = fleet;
  if (!target) throw new Error('the fleet has no instance');
  const now = run.clock.now();
  await run.clock.pass(300_000 - (now % 300_000) - 40_000);
  const blocked = run.clock.now();
  blockFor(target.application, blocked, 70);
  await run.clock.pass(45_000);
  const name = { kind: 'instances', instanceIds: fleet.map(({ id }) => id) } as const;
  const { findings } = await diagnosed(run, name);
  expect(findings).toMatchObject([
    {
      symptom: 'hangs',
      reach: { kind: 'instance', alone: false },
      instanceIds: [target.id],
      summary: expect.stringContaining('one slow request'),
      evidence: expect.arrayContaining([
        `Health check logs: 2 of 2 nodes say TimedOut of ${target.id} in web; before, its checks had taken at most 0.02 s.`,
      ]),
    },
  ]);
  await period();
  expect(entered(run, target.id, 'healthy', blocked + 70_000)).toBeGreaterThan(blocked + 70_000);
  const told = said(run).filter(({ event }) => event.startsWith('target.'));
  expect(told.map(({ event, instanceId }) => [event, instanceId])).toEqual(
    ['target.failed', 'target.failed', 'target.recovered', 'target.recovered'].map(event => [
      event,
      target.id,
    ]),
  );
  for (const { failedSeconds } of told.slice(2)) expect(Number(failedSeconds)).toBeLessThanOrEqual(80);
  expect(await diagnosed(run, name)).toMatchObject({ well: true });
});

test('the false friend: one that answers ever more slowly is told before it fails, and then as slow', async () => {
  const { run, fleet, period } = await logged(unwatched);
  const [target] = fleet;
  const name = { kind: 'instances', instanceIds: fleet.map(({ id }) => id) } as const;
  const answerIn = (afterMs: number) =>
    target?.application.suffer(() => ({ kind: 'responds', status: 200, afterMs }));
  answerIn(4_200);
  await period();
  expect((await diagnosed(run, name)).remarks).toEqual([
    `web: a health check of ${target?.privateAddresses[0]}:8080 took 4.2 s of the 5 s that it may take.`,
  ]);
  await run.clock.pass(60_000);
  answerIn(6_000);
  await period();
  expect((await diagnosed(run, name)).findings).toMatchObject([
    { symptom: 'slow', instanceIds: [target?.id] },
  ]);
});
