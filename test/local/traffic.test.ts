import { expect, test } from 'vitest';
import { CloudWatch } from '../../local/account/cloud-watch.ts';
import { Traffic, type TrafficShape } from '../../local/account/traffic.ts';
import { balanced } from './helpers/load-balancing.ts';

const SHAPE: TrafficShape = {
  requestsPerSecond: 90,
  short: { ms: 50 },
  long: { share: 0.1, ms: 20_000 },
};

/** A fleet that has been healthy under traffic for ten seconds. */
async function busy(settings: Parameters<typeof balanced>[0] = {}, shape = SHAPE) {
  const account = balanced(settings);
  const { world, elb, instances, groupArn, register, fleet } = account;
  register(...fleet);
  await world.clock.pass(40_000);
  const traffic = new Traffic(world, elb, instances);
  traffic.generate(groupArn, shape);
  await world.clock.pass(10_000);
  const failures = () =>
    world.journal.entries.flatMap(entry => (entry.type === 'requests-failed' ? [entry] : []));
  return { ...account, traffic, failures };
}

const DELAY = 'deregistration_delay.timeout_seconds';

test('a healthy fleet answers every request, shared out in turn', async () => {
  const { world, traffic, fleet } = await busy();
  const asked = new Map<string, number>();
  for (const { id, application } of fleet)
    application.suffer(({ path }) => {
      if (path === '/') asked.set(id, (asked.get(id) ?? 0) + 1);
      return undefined;
    });
  await world.clock.pass(10_000);
  expect(traffic.totals()).toMatchObject({ sent: 1800, failed: 0 });
  // Each second asks each target once for its short and once for its long requests.
  expect([...asked.values()]).toEqual([20, 20, 20]);
});

test('deregistered and drained first, a target can be stopped without a failed request', async () => {
  const { world, elb, groupArn, traffic, fleet } = await busy({ group: { attributes: { [DELAY]: '30' } } });
  elb.deregister(groupArn, [{ id: fleet[0].id }]);
  await world.clock.pass(30_000);
  fleet[0].application.stop();
  await world.clock.pass(30_000);
  expect(traffic.totals().failed).toBe(0);
});

test('an application stopped in traffic cuts what is in flight and refuses until it is unhealthy', async () => {
  const { world, traffic, fleet, failures } = await busy();
  fleet[0].application.stop();
  const [cut] = failures();
  // Ten seconds of three long requests a second and target, give or take the last second's turn.
  expect(cut).toMatchObject({ cause: 'cut', durationMs: 20_000, targetId: fleet[0].id });
  expect(cut?.count).toBeGreaterThan(27);
  expect(cut?.count).toBeLessThan(33);
  await world.clock.pass(30_000);
  const { byCause } = traffic.totals();
  expect(byCause.refused).toBeGreaterThan(10 * 30);
  expect(byCause.refused).toBeLessThan(21 * 31);
  await world.clock.pass(30_000);
  expect(traffic.totals().byCause.refused).toBe(byCause.refused);
});

test('D33: requests longer than the deregistration delay are cut by it, and say how long they were', async () => {
  const { world, elb, groupArn, fleet, failures } = await busy({ group: { attributes: { [DELAY]: '5' } } });
  elb.deregister(groupArn, [{ id: fleet[0].id }]);
  await world.clock.pass(60_000);
  expect(new Set(failures().map(({ cause, durationMs }) => `${cause} ${durationMs}`))).toEqual(
    new Set(['cut 20000']),
  );
});

test('a terminated instance cuts its requests, and times the later ones out until it is unused', async () => {
  const { world, instances, traffic, fleet } = await busy();
  instances.terminate(fleet[0].id);
  await world.clock.pass(60_000);
  const { byCause } = traffic.totals();
  expect(byCause.cut).toBeGreaterThan(0);
  expect(byCause['timed-out']).toBeGreaterThan(0);
  expect(byCause['no-target']).toBe(0);
});

test('R-GUARD: a group emptied by deregistration answers 503 to everybody', async () => {
  const { world, elb, groupArn, fleet, failures, traffic } = await busy();
  elb.deregister(
    groupArn,
    fleet.map(({ id }) => ({ id })),
  );
  await world.clock.pass(1000);
  expect(failures()).toMatchObject([
    { cause: 'no-target', targetId: undefined, durationMs: 50, count: 81 },
    { cause: 'no-target', targetId: undefined, durationMs: 20_000, count: 9 },
  ]);
  traffic.stop();
  await world.clock.pass(10_000);
  expect(traffic.totals().failed).toBe(90);
});

test('R-GUARD: a group whose registered targets are all unhealthy fails open to them', async () => {
  const { world, elb, groupArn, fleet, traffic } = await busy();
  for (const { application } of fleet)
    application.suffer(({ path }) =>
      path === '/health' ? { kind: 'responds', status: 500, afterMs: 5 } : undefined,
    );
  await world.clock.pass(60_000);
  expect(elb.healthyIn(groupArn)).toEqual([]);
  expect(elb.receiving(groupArn)).toHaveLength(3);
  expect(traffic.totals().failed).toBe(0);
});

test('R-GUARD: taking out the only healthy target opens traffic to the unhealthy ones', async () => {
  const { world, elb, groupArn, fleet, failures } = await busy();
  for (const { application } of fleet.slice(1))
    application.suffer(() => ({ kind: 'responds', status: 500, afterMs: 5 }));
  await world.clock.pass(30_000);
  const before = failures().length;
  expect(elb.receiving(groupArn).map(({ id }) => id)).toEqual([fleet[0].id]);
  elb.deregister(groupArn, [{ id: fleet[0].id }]);
  await world.clock.pass(2000);
  expect(
    failures()
      .slice(before)
      .every(({ cause }) => cause === 'error-status'),
  ).toBe(true);
  expect(failures().length).toBeGreaterThan(before);
});

test('D6: healthy targets below the routing minimum send traffic to all, by count or by percentage', async () => {
  const { world, elb, groupArn, fleet } = await busy({
    group: {
      attributes: {
        'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': '60',
      },
    },
  });
  fleet[0].application.suffer(() => ({ kind: 'silent' }));
  await world.clock.pass(30_000);
  // Two of three are 67 %, one of three is 33 %.
  expect(elb.receiving(groupArn)).toHaveLength(2);
  fleet[1]?.application.suffer(() => ({ kind: 'silent' }));
  await world.clock.pass(30_000);
  expect(elb.receiving(groupArn)).toHaveLength(3);
});

test('D6: with cross-zone off an empty zone answers 503 and one whose targets fail leaves DNS', async () => {
  const { world, elb, groupArn, fleet, failures } = await busy({
    group: { attributes: { 'load_balancing.cross_zone.enabled': 'false' } },
  });
  fleet[0].application.suffer(() => ({ kind: 'silent' }));
  await world.clock.pass(40_000);
  const afterFailure = failures().length;
  await world.clock.pass(10_000);
  expect(failures()).toHaveLength(afterFailure);

  elb.deregister(groupArn, [{ id: fleet[1]?.id ?? '' }]);
  await world.clock.pass(10_000);
  const lost = failures().slice(afterFailure);
  expect(lost.every(({ cause }) => cause === 'no-target')).toBe(true);
  // Half of 90 requests a second enter the empty zone: the failed one is not in DNS.
  const count = lost.reduce((sum, failure) => sum + failure.count, 0);
  expect(count).toBeGreaterThan(350);
  expect(count).toBeLessThan(550);
});

test('slow start gives a new target a growing share, while another one is past it', async () => {
  const { world, elb, instances, groupArn, register } = await busy({
    fleet: 'a',
    group: { attributes: { 'slow_start.duration_seconds': '100' } },
  });
  await world.clock.pass(100_000);
  const late = instances.launch({
    subnetId: 'subnet-b',
    securityGroupIds: [],
    tags: {},
    startUpSeconds: 0,
    seasoned: true,
  });
  register(late);
  await world.clock.run(() => elb.healthyIn(groupArn).length === 2, 20_000);
  const perTenSeconds: number[] = [];
  for (let tens = 0; tens < 11; tens++) {
    const before = world.journal.entries.length;
    late.application.suffer(({ path }) =>
      path === '/' ? { kind: 'responds', status: 500, afterMs: 5 } : undefined,
    );
    await world.clock.pass(10_000);
    const failed = world.journal.entries
      .slice(before)
      .reduce((sum, entry) => (entry.type === 'requests-failed' ? sum + entry.count : sum), 0);
    perTenSeconds.push(failed);
  }
  expect(perTenSeconds[0]).toBeLessThan(90);
  expect(perTenSeconds[4]).toBeGreaterThan(200);
  expect(perTenSeconds[4]).toBeLessThan(400);
  expect(perTenSeconds[10]).toBeGreaterThan(430);
});

test('a Network Load Balancer keeps flows beyond the delay, unless told to end them', async () => {
  const cutBy = async (terminate: 'true' | 'false') => {
    const { world, elb, groupArn, fleet, traffic } = await busy({
      type: 'network',
      crossZone: true,
      group: {
        attributes: { [DELAY]: '5', 'deregistration_delay.connection_termination.enabled': terminate },
      },
    });
    elb.deregister(groupArn, [{ id: fleet[0].id }]);
    await world.clock.pass(30_000);
    return traffic.totals().byCause.cut;
  };
  expect(await cutBy('false')).toBe(0);
  expect(await cutBy('true')).toBeGreaterThan(0);
});

test('D33: a Network Load Balancer ends the connections of a target that turns unhealthy, unless told to keep them', async () => {
  const cutBy = async (terminate: 'true' | 'false') => {
    const { world, fleet, traffic } = await busy({
      type: 'network',
      group: {
        attributes: { 'target_health_state.unhealthy.connection_termination.enabled': terminate },
      },
    });
    fleet[0].application.suffer(({ path }) => (path === '/health' ? { kind: 'silent' } : undefined));
    await world.clock.pass(60_000);
    return traffic.totals().byCause.cut;
  };
  expect(await cutBy('true')).toBeGreaterThan(0);
  expect(await cutBy('false')).toBe(0);
});

test('the same seed gives the same failures', async () => {
  const run = async () => {
    const { world, fleet, failures } = await busy({ seed: 7 });
    fleet[0].application.stop();
    await world.clock.pass(60_000);
    return failures();
  };
  expect(await run()).toEqual(await run());
});

test('an hour of 1,000 requests a second to 1,002 targets takes seconds', async () => {
  const { world, traffic } = await busy({ fleet: 'abc'.repeat(334) }, { ...SHAPE, requestsPerSecond: 1000 });
  const started = process.hrtime.bigint();
  await world.clock.pass(3_600_000);
  expect(traffic.totals()).toMatchObject({ sent: 3_610_000, failed: 0 });
  expect(Number(process.hrtime.bigint() - started) / 1e9).toBeLessThan(20);
});

test('CloudWatch is told each minute of the requests and of who answered them with an error', async () => {
  const { world, elb, groupArn, register, fleet, instances } = balanced();
  register(...fleet);
  await world.clock.pass(40_000);
  const metrics = new CloudWatch(world);
  const traffic = new Traffic(world, elb, instances, metrics);
  const began = world.clock.now();
  traffic.generate(groupArn, { ...SHAPE, long: { share: 0, ms: 1 } });
  await world.clock.pass(120_000);
  fleet[0].application.suffer(({ path }) =>
    path === '/' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
  );
  fleet[1]?.application.suffer(({ path }) => (path === '/' ? { kind: 'resets' } : undefined));
  await world.clock.pass(120_000);
  const LoadBalancer = elb.loadBalancers()[0]?.arn.split(':loadbalancer/')[1] ?? '';
  const TargetGroup = groupArn.split(':').at(-1) ?? '';
  const sum = (name: string, dimensions: Readonly<Record<string, string>>) =>
    metrics
      .valuesIn(
        { namespace: 'AWS/ApplicationELB', name, dimensions: { LoadBalancer, ...dimensions } },
        began - 60_000,
        world.clock.now() + 1,
      )
      .reduce((all, value) => all + value, 0);
  const { byCause } = traffic.totals();
  expect(sum('RequestCount', { TargetGroup })).toBeGreaterThan(3 * 60 * 85);
  const wrong = sum('HTTPCode_Target_5XX_Count', { TargetGroup });
  expect(wrong).toBeGreaterThan(30 * 60);
  expect(wrong).toBeLessThanOrEqual(byCause['error-status']);
  expect(sum('HTTPCode_Target_5XX_Count', { TargetGroup, AvailabilityZone: 'eu-west-1a' })).toBe(wrong);
  expect(sum('HTTPCode_ELB_5XX_Count', { AvailabilityZone: 'eu-west-1b' })).toBe(
    sum('HTTPCode_ELB_5XX_Count', {}),
  );
});
