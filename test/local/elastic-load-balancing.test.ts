import {
  DeregisterTargetsCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  type DescribeTargetGroupsCommandInput,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
  ModifyTargetGroupAttributesCommand,
  RegisterTargetsCommand,
  type TargetDescription,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { expect, test } from 'vitest';
import { createWire } from '../../local/wire/wire.ts';
import { balanced } from './helpers/load-balancing.ts';

function called(settings: Parameters<typeof balanced>[0] = {}) {
  const account = balanced(settings);
  const { world, elb, groupArn } = account;
  const wire = createWire({ services: [elb.service], gates: [], clock: world.clock });
  const client = new ElasticLoadBalancingV2Client({
    region: world.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: wire.transport(),
  });
  return {
    ...account,
    client,
    registerTargets: (...Targets: TargetDescription[]) =>
      client.send(new RegisterTargetsCommand({ TargetGroupArn: groupArn, Targets })),
    deregisterTargets: (...Targets: TargetDescription[]) =>
      client.send(new DeregisterTargetsCommand({ TargetGroupArn: groupArn, Targets })),
    async health(...Targets: TargetDescription[]) {
      const { TargetHealthDescriptions = [] } = await client.send(
        new DescribeTargetHealthCommand({ TargetGroupArn: groupArn, ...(Targets.length && { Targets }) }),
      );
      return TargetHealthDescriptions;
    },
    set: (Key: string, Value: string) =>
      client.send(
        new ModifyTargetGroupAttributesCommand({ TargetGroupArn: groupArn, Attributes: [{ Key, Value }] }),
      ),
  };
}

test('R-EXACT: a deregister without the port means the port of the group, and else does nothing', async () => {
  const { fleet, registerTargets, deregisterTargets, health } = called();
  const { id: Id } = fleet[0];
  await registerTargets({ Id, Port: 8080 }, { Id, Port: 8081 });
  await deregisterTargets({ Id });
  expect(await health()).toMatchObject([
    { Target: { Id, Port: 8080 }, TargetHealth: { State: 'initial' }, HealthCheckPort: '8080' },
    { Target: { Id, Port: 8081 }, TargetHealth: { State: 'initial' } },
  ]);
  await deregisterTargets({ Id, Port: 8081 });
  expect((await health()).map(({ TargetHealth }) => TargetHealth?.State)).toEqual(['initial', 'draining']);
});

test('a healthy target has no reason; a named one that is not registered is unused', async () => {
  const { world, fleet, register, health } = called();
  register(fleet[0]);
  await world.clock.pass(10_000);
  const Id = 'i-0000000000000ffff';
  const [healthy, unknown] = await health({ Id: fleet[0].id }, { Id, Port: 8080 });
  expect(healthy?.TargetHealth).toEqual({ State: 'healthy' });
  expect(healthy?.AdministrativeOverride?.State).toBe('no_override');
  expect(unknown).toMatchObject({
    Target: { Id, Port: 8080 },
    TargetHealth: { State: 'unused', Reason: 'Target.NotRegistered' },
  });
});

test('R-PARTIAL: one bad member fails the whole call, and nothing of it is done', async () => {
  const { world, instances, fleet, registerTargets, deregisterTargets, health } = called();
  instances.stop(fleet[0].id);
  await world.clock.pass(20_000);
  const Id = fleet[1]?.id;
  for (const bad of [fleet[0].id, 'i-0000000000000ffff', '10.0.0.1'])
    await expect(registerTargets({ Id }, { Id: bad })).rejects.toThrow(
      expect.objectContaining({ name: 'InvalidTargetException' }),
    );
  expect(await health()).toEqual([]);
  await registerTargets({ Id });
  await expect(deregisterTargets({ Id }, { Id: 'web-1' })).rejects.toThrow('not valid');
  expect((await health())[0]?.TargetHealth?.State).toBe('initial');
});

test('R-CHUNK: more than 100 targets a call are refused', async () => {
  const { deregisterTargets } = called();
  const targets = Array.from({ length: 101 }, (_, port) => ({ Id: 'i-0000000000000ffff', Port: port + 1 }));
  await expect(deregisterTargets(...targets)).rejects.toThrow('101 targets');
  await expect(deregisterTargets(...targets.slice(1))).resolves.toBeDefined();
});

test('D44: an address cannot be registered again before its delay is over', async () => {
  const { world, fleet, registerTargets, deregisterTargets, health } = called({
    group: { targetType: 'ip', attributes: { 'deregistration_delay.timeout_seconds': '30' } },
  });
  const [Id] = fleet[0].privateAddresses;
  await registerTargets({ Id });
  await world.clock.pass(10_000);
  expect((await health())[0]).toMatchObject({
    Target: { Id, Port: 80, AvailabilityZone: 'eu-west-1a' },
    TargetHealth: { State: 'healthy' },
  });
  await deregisterTargets({ Id });
  await expect(registerTargets({ Id })).rejects.toThrow('draining');
  await world.clock.pass(30_000);
  await registerTargets({ Id });
  expect((await health())[0]?.TargetHealth?.State).toBe('initial');
});

test('D27: a zone is refused for an instance, and a QuicServerId is kept and asked for again', async () => {
  const plain = called();
  const { id: Id } = plain.fleet[0];
  await expect(plain.registerTargets({ Id, AvailabilityZone: 'eu-west-1a' })).rejects.toThrow('Zone');

  const quic = called({ type: 'network', group: { protocol: 'TCP_QUIC' } });
  await expect(quic.registerTargets({ Id })).rejects.toThrow('QuicServerId');
  await quic.registerTargets({ Id, QuicServerId: '0x0123456789abcdef' });
  expect((await quic.health())[0]?.Target).toEqual({ Id, Port: 80, QuicServerId: '0x0123456789abcdef' });
});

test('R-PAGE: target groups are found by load balancer, name or ARN, page by page', async () => {
  const { elb, client, loadBalancerArn, groupArn } = called();
  const others = ['two', 'three'].map(name => {
    const { port, targetType, protocol, vpcId, healthCheck } = elb.group(groupArn);
    return elb.addTargetGroup({ name, port, targetType, protocol, vpcId, healthCheck, tags: { team: name } });
  });
  const arns = async (input: DescribeTargetGroupsCommandInput) =>
    (await client.send(new DescribeTargetGroupsCommand(input))).TargetGroups?.map(
      group => group.TargetGroupArn,
    );
  expect(await arns({ LoadBalancerArn: loadBalancerArn })).toEqual([groupArn]);
  expect(await arns({ Names: ['three'] })).toEqual([others[1]?.arn]);
  await expect(arns({ Names: ['four'] })).rejects.toThrow(
    expect.objectContaining({ name: 'TargetGroupNotFoundException' }),
  );
  await expect(arns({ TargetGroupArns: Array(21).fill(groupArn) })).rejects.toThrow('more than 20');

  const first = await client.send(new DescribeTargetGroupsCommand({ PageSize: 2 }));
  expect(first.TargetGroups).toHaveLength(2);
  expect(await arns({ PageSize: 2, Marker: first.NextMarker })).toEqual([others[1]?.arn]);

  const tags = await client.send(new DescribeTagsCommand({ ResourceArns: [others[0]?.arn ?? ''] }));
  expect(tags.TagDescriptions?.[0]?.Tags).toEqual([{ Key: 'team', Value: 'two' }]);
});

test('attributes begin with the documented defaults; bad and unsimulated values change nothing', async () => {
  const { client, groupArn, set, elb } = called();
  const values = async () => {
    const { Attributes = [] } = await client.send(
      new DescribeTargetGroupAttributesCommand({ TargetGroupArn: groupArn }),
    );
    return new Map(Attributes.map(({ Key, Value }) => [Key, Value]));
  };
  const before = await values();
  expect(before.get('deregistration_delay.timeout_seconds')).toBe('300');
  expect(before.get('load_balancing.cross_zone.enabled')).toBe('use_load_balancer_configuration');
  expect(before.get('target_group_health.dns_failover.minimum_healthy_targets.percentage')).toBe('off');
  await expect(set('deregistration_delay.timeout_seconds', '3601')).rejects.toThrow('not a valid value');
  await expect(set('deregistration_delay.timeout', '30')).rejects.toThrow('not recognized');
  await expect(set('stickiness.enabled', 'true')).rejects.toThrow('not simulated');
  expect(await values()).toEqual(before);
  await set('slow_start.duration_seconds', '60');
  await expect(set('load_balancing.algorithm.type', 'weighted_random')).rejects.toThrow('combined');
  await set('deregistration_delay.timeout_seconds', '0');
  expect(elb.deregistrationDelaySeconds(groupArn)).toBe(0);
});

test('D6: cross-zone is on at an Application, off at a Network Load Balancer, and the group may differ', async () => {
  const crossZone = async (type: 'application' | 'network') => {
    const { client, loadBalancerArn } = called({ type });
    const { LoadBalancers } = await client.send(
      new DescribeLoadBalancersCommand({ LoadBalancerArns: [loadBalancerArn] }),
    );
    expect(LoadBalancers?.[0]?.Type).toBe(type);
    const { Attributes } = await client.send(
      new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: loadBalancerArn }),
    );
    return Attributes?.find(({ Key }) => Key === 'load_balancing.cross_zone.enabled')?.Value;
  };
  expect(await crossZone('application')).toBe('true');
  expect(await crossZone('network')).toBe('false');
});

test('D6: a shifted zone gets no traffic, and its targets say so', async () => {
  const { world, elb, loadBalancerArn, groupArn, register, fleet, health } = called();
  register(...fleet);
  await world.clock.pass(10_000);
  elb.shiftZone(loadBalancerArn, 'euw1-az2');
  expect(elb.receiving(groupArn).map(({ id }) => id)).toEqual([fleet[0].id, fleet[2]?.id]);
  expect(elb.healthyIn(groupArn, 'eu-west-1b')).toEqual([]);
  expect((await health()).map(one => one.AdministrativeOverride?.State)).toEqual([
    'no_override',
    'zonal_shift_active',
    'no_override',
  ]);
  elb.endShift(loadBalancerArn);
  expect(elb.receiving(groupArn)).toHaveLength(3);
});
