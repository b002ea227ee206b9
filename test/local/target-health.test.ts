import { expect, test } from 'vitest';
import type { Fault } from '../../local/account/application.ts';
import { balanced } from './helpers/load-balancing.ts';

const failing: Fault = () => ({ kind: 'responds', status: 503, afterMs: 5 });
const mute: Fault = () => ({ kind: 'silent' });

test('a target is initial until its first success, and then healthy, without a reason', async () => {
  const { world, register, fleet, history } = balanced();
  register(fleet[0]);
  expect(history(fleet[0].id)).toEqual(['initial Elb.RegistrationInProgress']);
  await world.clock.pass(10_000);
  expect(history(fleet[0].id)).toEqual(['initial Elb.RegistrationInProgress', 'healthy']);
});

test('D33: a Network Load Balancer counts to the healthy threshold, from each node by itself', async () => {
  const { world, register, fleet, history, state } = balanced({ type: 'network', crossZone: true });
  register(fleet[0]);
  await world.clock.pass(19_000);
  expect(state(fleet[0].id)).toBe('initial');
  await world.clock.pass(11_000);
  expect(history(fleet[0].id)).toEqual([
    'initial Elb.RegistrationInProgress',
    'initial Elb.InitialHealthChecking',
    'healthy',
  ]);
});

test('D33: a target is unhealthy when the last node agrees, or when the first says so, by the switch', async () => {
  const toUnhealthy = async (unhealthyNeedsAllNodes: boolean) => {
    const { world, register, fleet, state } = balanced({ physics: { unhealthyNeedsAllNodes } });
    register(fleet[0]);
    await world.clock.pass(10_000);
    fleet[0].application.suffer(failing);
    const began = world.clock.now();
    world.clock.every(100, () => {});
    await world.clock.run(() => state(fleet[0].id) === 'unhealthy', 60_000);
    return world.clock.now() - began;
  };
  const whenAllAgree = await toUnhealthy(true);
  const whenOneSays = await toUnhealthy(false);
  // Two failures 10 s apart are 10-20 s for any node.
  expect(whenOneSays).toBeGreaterThanOrEqual(10_000);
  expect(whenOneSays).toBeLessThan(whenAllAgree);
  expect(whenAllAgree).toBeLessThanOrEqual(20_000);
});

test('an unhealthy target names why, and recovers by the healthy threshold', async () => {
  const { world, register, fleet, history, state, instances } = balanced();
  const [{ id, application }] = fleet;
  register(fleet[0]);
  await world.clock.pass(10_000);
  application.suffer(failing);
  await world.clock.pass(20_000);
  application.suffer(mute);
  await world.clock.pass(20_000);
  application.stop();
  await world.clock.pass(20_000);
  application.start(0);
  application.suffer(undefined);
  await world.clock.pass(19_000);
  expect(state(id)).toBe('unhealthy');
  await world.clock.pass(11_000);
  instances.block(id, true);
  await world.clock.pass(25_000);
  expect(history(id).slice(2)).toEqual([
    'unhealthy Target.ResponseCodeMismatch',
    'unhealthy Target.Timeout',
    'unhealthy Target.FailedHealthChecks',
    'healthy',
    'unhealthy Target.Timeout',
  ]);
});

test('R-STATE: a target is draining for the whole delay, then gone', async () => {
  const { world, elb, groupArn, register, fleet, state, history } = balanced({
    group: { attributes: { 'deregistration_delay.timeout_seconds': '120' } },
  });
  register(fleet[0]);
  await world.clock.pass(10_000);
  elb.deregister(groupArn, [{ id: fleet[0].id }]);
  await world.clock.pass(119_999);
  expect(state(fleet[0].id)).toBe('draining');
  await world.clock.pass(1);
  expect(state(fleet[0].id)).toBeUndefined();
  expect(history(fleet[0].id).slice(2)).toEqual([
    'draining Target.DeregistrationInProgress',
    'unused Target.NotRegistered',
  ]);
});

test('R-REREG: a draining instance that is registered again is initial, and its old delay does not end it', async () => {
  const { world, elb, groupArn, register, fleet, state, history } = balanced({
    group: { attributes: { 'deregistration_delay.timeout_seconds': '60' } },
  });
  register(fleet[0]);
  await world.clock.pass(10_000);
  elb.deregister(groupArn, [{ id: fleet[0].id }]);
  await world.clock.pass(30_000);
  expect(state(fleet[0].id)).toBe('draining');
  register(fleet[0]);
  expect(state(fleet[0].id)).toBe('initial');
  await world.clock.pass(60_000);
  expect(history(fleet[0].id).slice(2)).toEqual([
    'draining Target.DeregistrationInProgress',
    'initial Elb.RegistrationInProgress',
    'healthy',
  ]);
});

test('R-NOTINUSE: no load balancer, a zone that is not enabled, a stopped instance, no health checks', async () => {
  const { world, elb, register, fleet, instances, history } = balanced({ fleet: 'abc', zones: 'ab' });
  const lonely = elb.addTargetGroup({ ...SPEC, name: 'lonely' });
  elb.register(lonely.arn, [{ id: fleet[0].id }]);
  expect([...lonely.targets][0]?.health.reason).toBe('Target.NotInUse');

  register(...fleet);
  await world.clock.pass(10_000);
  const [first, , third] = fleet;
  expect(history(third?.id ?? '')).toEqual(['unused Target.NotInUse']);

  instances.stop(first.id);
  await world.clock.pass(20_000);
  expect(history(first.id).at(-1)).toBe('unused Target.InvalidState');

  const unchecked = balanced({ group: { healthCheck: { ...SPEC.healthCheck, enabled: false } } });
  unchecked.register(unchecked.fleet[0]);
  expect(unchecked.history(unchecked.fleet[0].id)).toEqual(['unavailable Target.HealthCheckDisabled']);
});

test('a terminated instance shows as InvalidState for a while and is then deregistered', async () => {
  const { world, register, fleet, state, history, instances } = balanced();
  register(fleet[0]);
  await world.clock.pass(10_000);
  instances.terminate(fleet[0].id);
  await world.clock.pass(20_000);
  expect(state(fleet[0].id)).toBe('unused');
  await world.clock.pass(60_000);
  expect(history(fleet[0].id).slice(-2)).toEqual([
    'unused Target.InvalidState',
    'unused Target.NotRegistered',
  ]);
});

test('with cross-zone load balancing off only the node of its own zone judges a target', async () => {
  const { world, elb, groupArn, register, fleet } = balanced({ type: 'network' });
  register(...fleet);
  await world.clock.pass(40_000);
  const nodes = [...elb.group(groupArn).targets].map(({ views }) => [...views.keys()]);
  expect(nodes).toEqual([['eu-west-1a'], ['eu-west-1b'], ['eu-west-1c']]);
  expect(elb.healthyIn(groupArn)).toHaveLength(3);
});

test('a Network Load Balancer that keeps connections shows unhealthy.draining first', async () => {
  const { world, register, fleet, history } = balanced({
    type: 'network',
    group: {
      attributes: {
        'target_health_state.unhealthy.connection_termination.enabled': 'false',
        'target_health_state.unhealthy.draining_interval_seconds': '30',
      },
    },
  });
  register(fleet[0]);
  await world.clock.pass(40_000);
  fleet[0].application.suffer(failing);
  await world.clock.pass(60_000);
  expect(history(fleet[0].id).slice(-3)).toEqual([
    'healthy',
    'unhealthy.draining Target.ResponseCodeMismatch',
    'unhealthy Target.ResponseCodeMismatch',
  ]);
});

test('1,000 targets in two groups, probed by three nodes for an hour, take seconds', async () => {
  const { world, elb, groupArn, register, fleet, loadBalancerArn } = balanced({ fleet: 'abc'.repeat(334) });
  const second = elb.addTargetGroup({ ...SPEC, name: 'second', loadBalancer: loadBalancerArn });
  register(...fleet);
  elb.register(
    second.arn,
    fleet.map(({ id }) => ({ id })),
  );
  const started = process.hrtime.bigint();
  await world.clock.pass(3_600_000);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  expect(elb.healthyIn(groupArn)).toHaveLength(1002);
  expect(elb.healthyIn(second.arn)).toHaveLength(1002);
  expect(seconds).toBeLessThan(10);
});

const SPEC = {
  port: 80,
  targetType: 'instance',
  protocol: 'HTTP',
  vpcId: 'vpc-1',
  healthCheck: {
    path: '/health',
    port: 'traffic-port',
    intervalSeconds: 10,
    timeoutSeconds: 5,
    healthyThreshold: 3,
    unhealthyThreshold: 2,
    matcher: '200',
  },
} as const;
