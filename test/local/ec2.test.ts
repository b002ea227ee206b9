import { describe, expect, test } from 'vitest';
import { CHECKS_PRINCIPAL } from '../../local/account/managed-interfaces.ts';
import { account } from './helpers/ec2-account.ts';

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('the life of an instance', () => {
  test('pending, running after its boot, up after its start, and terminated', async () => {
    const { launch, ec2, seconds, secondsUntil, world } = account();
    const instance = launch({ seasoned: false });
    expect(instance).toMatchObject({
      id: expect.stringMatching(/^i-[0-9a-f]{17}$/),
      state: 'pending',
      zone: 'eu-west-1a',
      zoneId: 'euw1-az1',
    });
    const boot = await secondsUntil(() => instance.state === 'running');
    expect(boot).toBeGreaterThanOrEqual(world.physics.bootSeconds[0]);
    expect(boot).toBeLessThanOrEqual(world.physics.bootSeconds[1]);
    expect(instance.application.isUp).toBe(false);
    await seconds(10);
    expect(instance.application.isUp).toBe(true);
    ec2.terminate(instance.id);
    expect(instance.application.isUp).toBe(false);
    expect([...ec2.live()]).toEqual([instance]);
    await seconds(30);
    expect([...ec2.live()]).toEqual([]);
    expect(ec2.byAddress(instance.privateAddresses[0])).toBeUndefined();
    const states = world.journal.entries.flatMap(entry => (entry.type === 'instance' ? entry.state : []));
    expect(states).toEqual(['pending', 'running', 'shutting-down', 'terminated']);
  });

  test('one that is terminated while it boots never runs', async () => {
    const { launch, ec2, seconds } = account();
    const instance = launch({ seasoned: false });
    ec2.terminate(instance.id);
    await seconds(120);
    expect(instance).toMatchObject({ state: 'terminated', application: { isUp: false } });
  });

  test('R-GONE: a terminated instance is described for an hour, then it is not found', async () => {
    const { api, launch, seconds } = account();
    const { id } = launch();
    api.TerminateInstances({ InstanceIds: [id] });
    await seconds(3600);
    const described = () => api.DescribeInstances({ InstanceIds: [id] }).Reservations?.[0]?.Instances?.[0];
    expect(described()).toMatchObject({ State: { Name: 'terminated', Code: 48 }, NetworkInterfaces: [] });
    await seconds(60);
    expect(described).toThrow(code('InvalidInstanceID.NotFound'));
  });
});

describe('DescribeInstances', () => {
  const idsOf = (result: ReturnType<ReturnType<typeof account>['api']['DescribeInstances']>) =>
    result.Reservations?.flatMap(({ Instances }) => Instances?.map(({ InstanceId }) => InstanceId));

  test('R-PAGE: pages, with a reservation for each launch', () => {
    const { api, launch } = account();
    const ids = Array.from({ length: 12 }, () => launch().id);
    const first = api.DescribeInstances({ MaxResults: 5 });
    const second = api.DescribeInstances({ MaxResults: 5, NextToken: first.NextToken });
    const third = api.DescribeInstances({ MaxResults: 5, NextToken: second.NextToken });
    expect([first, second, third].map(({ Reservations }) => Reservations?.length)).toEqual([5, 5, 2]);
    expect([first, second, third].flatMap(idsOf)).toEqual(ids);
    expect(third.NextToken).toBeUndefined();
  });

  test('filters: values are alternatives, filters add up, and * matches anything', () => {
    const { api, ec2, subnets, group, launch } = account();
    const blue = launch({ tags: { color: 'blue' } });
    const dark = launch({ tags: { color: 'dark-blue' }, zone: 1 });
    const second = ec2.launch({
      subnetId: subnets[0].id,
      securityGroupIds: [group.id],
      tags: {},
      startUpSeconds: 0,
      extraAddresses: 2,
    });
    const found = (...filters: readonly (readonly [string, ...string[]])[]) =>
      idsOf(api.DescribeInstances({ Filters: filters.map(([Name, ...Values]) => ({ Name, Values })) }));
    expect(found(['tag:color', '*blue'])).toEqual([blue.id, dark.id]);
    expect(found(['tag:color', '*blue'], ['subnet-id', subnets[1].id])).toEqual([dark.id]);
    expect(found(['tag-key', 'color'], ['instance-id', blue.id, dark.id])).toEqual([blue.id, dark.id]);
    expect(found(['tag:color', '????'])).toEqual([blue.id]);
    expect(found(['tag:color', '\\*blue'])).toEqual([]);
    expect(found(['tag:color', 'dark\\-blue'])).toEqual([dark.id]);
    expect(found(['instance-state-name', 'pending'])).toEqual([second.id]);
    const last = second.privateAddresses.at(-1) ?? '';
    expect(found(['private-ip-address', last])).toEqual([]);
    expect(found(['network-interface.addresses.private-ip-address', last])).toEqual([second.id]);
    expect(ec2.byAddress(last)).toBe(second);
    expect(() => found(['image-id', 'ami-1'])).toThrow(code('InvalidParameterValue'));
  });

  test('refuses MaxResults with InstanceIds, unknown ids, and what it does not implement', () => {
    const { api, launch } = account();
    const { id } = launch();
    const describing = (input: Parameters<typeof api.DescribeInstances>[0]) => () =>
      api.DescribeInstances(input);
    expect(describing({ InstanceIds: [id], MaxResults: 5 })).toThrow(code('InvalidParameterCombination'));
    expect(describing({ InstanceIds: [id, 'i-0123456789abcdef0'] })).toThrow(
      code('InvalidInstanceID.NotFound'),
    );
    expect(describing({ DryRun: true })).toThrow(code('DryRunOperation'));
    expect(() => api.TerminateInstances({ InstanceIds: [id], Force: true })).toThrow(
      /does not implement Force/,
    );
  });
});

test('DescribeInstanceStatus has no word for suppressed', async () => {
  const { api, launch, createCheck, seconds } = account();
  const { id } = launch();
  createCheck();
  await seconds(240);
  const status = () =>
    api.DescribeInstanceStatus({ InstanceIds: [id] }).InstanceStatuses?.[0]?.ApplicationStatus;
  expect(status()).toEqual({ Status: 'ok' });
  api.EnableApplicationStatusCheckSuppression({ InstanceIds: [id] });
  await seconds(200);
  expect(status()).toBeUndefined();
});

describe('reachability', () => {
  const PORT = 8080;
  const rule = (from: { cidr: string } | { groupId: string } | 'self') => ({
    fromPort: PORT,
    toPort: PORT,
    from,
  });

  test('by the group itself, by another group, by addresses', () => {
    const { ec2, subnets, group, launch } = account();
    const instance = launch();
    const other = ec2.addSecurityGroup();
    const reachable = (...args: [groupIds: string[], subnetId?: string]) =>
      ec2.reachable(instance, PORT, ...args);
    expect([reachable([group.id]), reachable([other.id])]).toEqual([true, false]);
    ec2.network.setIngress(group.id, [rule({ groupId: other.id })]);
    expect([reachable([group.id]), reachable([other.id])]).toEqual([false, true]);
    ec2.network.setIngress(group.id, [rule({ cidr: '10.0.0.0/16' })]);
    expect(reachable([])).toBe(true);
    ec2.network.setIngress(group.id, [rule({ cidr: subnets[0].cidr.text })]);
    expect([reachable([], subnets[0].id), reachable([], subnets[1].id), reachable([])]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('an instance that does not run is not reachable', () => {
    const { ec2, group, launch } = account();
    const instance = launch();
    ec2.stop(instance.id);
    expect(ec2.reachable(instance, PORT, [group.id])).toBe(false);
  });
});

describe('managed interfaces', () => {
  const principal = [{ Name: 'operator.principal', Values: [CHECKS_PRINCIPAL] }];

  test('R-ENI: one for each subnet and security group, hidden unless asked for or named', () => {
    const { api, launch, createCheck, group } = account();
    launch();
    launch();
    launch({ zone: 1 });
    createCheck();
    const managed = api.DescribeNetworkInterfaces({ IncludeManagedResources: true, Filters: principal });
    expect(managed.NetworkInterfaces).toHaveLength(2);
    expect(managed.NetworkInterfaces?.[0]).toMatchObject({
      Status: 'in-use',
      Groups: [{ GroupId: group.id }],
      Operator: { Managed: true, Principal: CHECKS_PRINCIPAL, HiddenByDefault: true },
    });
    expect(api.DescribeNetworkInterfaces({}).NetworkInterfaces).toHaveLength(3);
    expect(api.DescribeNetworkInterfaces({ Filters: principal }).NetworkInterfaces).toEqual([]);
    const id = managed.NetworkInterfaces?.[0]?.NetworkInterfaceId ?? '';
    expect(api.DescribeNetworkInterfaces({ NetworkInterfaceIds: [id] }).NetworkInterfaces).toHaveLength(1);
  });

  test('SEED 4: it outlives its check for 20 to 60 minutes and blocks its security group meanwhile', async () => {
    const { api, ec2, launch, createCheck, group, secondsUntil, seconds, world } = account();
    const { id } = launch();
    const checkId = createCheck();
    const other = createCheck();
    const remove = () => api.DeleteSecurityGroup({ GroupId: group.id });
    const managed = () =>
      api.DescribeNetworkInterfaces({ IncludeManagedResources: true, Filters: principal }).NetworkInterfaces;

    ec2.terminate(id);
    await seconds(30);
    expect(managed()).toHaveLength(1);
    launch();
    await seconds(7200);
    expect(managed()).toHaveLength(1);

    api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: checkId });
    api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: other });
    for (const instance of [...ec2.live()]) ec2.terminate(instance.id);
    await seconds(60);
    expect(remove).toThrow(code('DependencyViolation'));
    const lingered = 60 + (await secondsUntil(() => managed()?.length === 0, 3600));
    expect(lingered).toBeGreaterThanOrEqual(1200);
    expect(lingered).toBeLessThanOrEqual(3600);
    expect(remove()).toEqual({ Return: true, GroupId: group.id });
    expect(remove).toThrow(code('InvalidGroup.NotFound'));
    const states = world.journal.entries.flatMap(entry => (entry.type === 'interface' ? entry.state : []));
    expect(states).toEqual(['created', 'lingering', 'lingering', 'removed']);
  });

  test('a group that another group names cannot be deleted', () => {
    const { api, ec2 } = account();
    const named = ec2.addSecurityGroup();
    const naming = ec2.addSecurityGroup({
      ingress: [{ fromPort: 1, toPort: 2, from: { groupId: named.id } }],
    });
    expect(() => api.DeleteSecurityGroup({ GroupId: named.id })).toThrow(code('DependencyViolation'));
    api.DeleteSecurityGroup({ GroupId: naming.id });
    expect(api.DeleteSecurityGroup({ GroupId: named.id }).Return).toBe(true);
  });
});

test('security groups and subnets are described with their rules and tags', () => {
  const { api, group, subnets } = account();
  api.CreateTags({ Resources: [group.id, subnets[1].id], Tags: [{ Key: 'owner', Value: 'quiesce' }] });
  const Filters = [{ Name: 'tag:owner', Values: ['quiesce'] }];
  expect(api.DescribeSecurityGroups({ Filters }).SecurityGroups).toMatchObject([
    {
      GroupId: group.id,
      IpPermissions: [
        { IpProtocol: 'tcp', FromPort: 8080, ToPort: 8080, UserIdGroupPairs: [{ GroupId: group.id }] },
      ],
    },
  ]);
  expect(api.DescribeSubnets({ Filters }).Subnets).toMatchObject([
    { SubnetId: subnets[1].id, AvailabilityZoneId: 'euw1-az2', CidrBlock: '10.0.32.0/19' },
  ]);
  const reserved = { Resources: [group.id], Tags: [{ Key: 'aws:mine', Value: '' }] };
  expect(() => api.CreateTags(reserved)).toThrow(code('InvalidParameterValue'));
});
