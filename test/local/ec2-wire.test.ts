import { CloudWatchClient, GetMetricDataCommand, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import {
  AssociateApplicationStatusCheckCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateApplicationStatusCheckCommand,
  DescribeApplicationStatusChecksCommand,
  DescribeApplicationStatusCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  EC2Client,
  EnableApplicationStatusCheckSuppressionCommand,
  type IpPermission,
  RevokeSecurityGroupIngressCommand,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { Alarms } from '../../local/account/alarms.ts';
import { cloudWatchService } from '../../local/account/cloud-watch-service.ts';
import { ec2Service } from '../../local/account/ec2-service.ts';
import { createWire } from '../../local/wire/wire.ts';
import { account, GROUP_TAG } from './helpers/ec2-account.ts';

function clients() {
  const all = account();
  const services = [
    ec2Service(all.checks),
    cloudWatchService(all.metrics, new Alarms(all.metrics, () => undefined)),
  ];
  const wire = createWire({ clock: all.clock, services, gates: [] });
  const settings = {
    region: all.world.region,
    endpoint: 'http://simulated',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    requestHandler: wire.transport(),
    maxAttempts: 1,
  };
  const run = <T>(work: Promise<T>) => all.clock.runFor(work);
  return {
    ...all,
    run,
    ec2Client: new EC2Client(settings),
    cloudWatchClient: new CloudWatchClient(settings),
  };
}

test("the SDK's client leads a check from its creation to a suppressed instance", async () => {
  const { ec2Client, run, launch, subnets, group, seconds, clock } = clients();
  const instance = launch({ tags: { name: 'a<b>&c' } });
  const end = { SubnetId: subnets[0].id, SecurityGroupId: group.id };
  const HealthCheckPaths = [{ Source: end, Destinations: [end] }];
  const { ApplicationStatusCheck } = await run(
    ec2Client.send(
      new CreateApplicationStatusCheckCommand({
        Protocol: 'http',
        Port: 8080,
        HealthCheckPaths,
        TagSpecifications: [
          { ResourceType: 'application-status-check', Tags: [{ Key: 'owner', Value: 'quiesce' }] },
        ],
      }),
    ),
  );
  expect(ApplicationStatusCheck).toMatchObject({
    HealthCheckPaths,
    Tags: [{ Key: 'owner', Value: 'quiesce' }],
  });
  const ApplicationStatusCheckId = ApplicationStatusCheck?.ApplicationStatusCheckId;
  const tag = { Key: GROUP_TAG, Value: 'web' };
  await run(
    ec2Client.send(
      new AssociateApplicationStatusCheckCommand({ ApplicationStatusCheckId, TargetTagAssociations: [tag] }),
    ),
  );
  const checks = await run(ec2Client.send(new DescribeApplicationStatusChecksCommand({ MaxResults: 5 })));
  expect(checks.ApplicationStatusChecks).toMatchObject([
    { ApplicationStatusCheckId, TargetTagAssociations: [tag] },
  ]);

  await seconds(240);
  const enabledAt = clock.now();
  const enabled = await run(
    ec2Client.send(
      new EnableApplicationStatusCheckSuppressionCommand({
        InstanceIds: [instance.id, 'i-0123456789abcdef0'],
        DurationSeconds: 3600,
      }),
    ),
  );
  const ResumeAt = new Date(enabledAt + 3_600_000);
  expect(enabled.SuccessfulResults).toMatchObject([{ InstanceId: instance.id, ResumeAt }]);
  expect(enabled.UnsuccessfulResults).toMatchObject([{ InstanceId: 'i-0123456789abcdef0' }]);
  await seconds(200);
  const statuses = await run(
    ec2Client.send(new DescribeApplicationStatusCommand({ InstanceIds: [instance.id] })),
  );
  expect(statuses.ApplicationStatuses?.Instances).toMatchObject([
    {
      InstanceId: instance.id,
      AvailabilityZoneId: 'euw1-az1',
      ApplicationStatus: {
        Status: 'suppressed',
        ResumeAt,
        Details: [{ ApplicationStatusCheckId, Status: 'passed', Reason: { StatusCode: 200 } }],
      },
      Tags: [tag, { Key: 'name', Value: 'a<b>&c' }],
    },
  ]);
  const interfaces = await run(
    ec2Client.send(
      new DescribeNetworkInterfacesCommand({
        IncludeManagedResources: true,
        Filters: [{ Name: 'operator.managed', Values: ['true'] }],
      }),
    ),
  );
  expect(interfaces.NetworkInterfaces).toMatchObject([
    { SubnetId: subnets[0].id, Operator: { Managed: true } },
  ]);
  await expect(
    run(ec2Client.send(new DescribeInstancesCommand({ InstanceIds: ['i-0123456789abcdef0'] }))),
  ).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
});

test("CloudWatch's client writes and reads a metric", async () => {
  const { cloudWatchClient, run, clock, seconds } = clients();
  const StartTime = clock.date();
  const MetricData = [{ MetricName: 'Runs', Value: 3 }];
  await run(cloudWatchClient.send(new PutMetricDataCommand({ Namespace: 'Quiesce', MetricData })));
  await seconds(60);
  const Metric = { Namespace: 'Quiesce', MetricName: 'Runs' };
  const query = { Id: 'runs', MetricStat: { Metric, Period: 60, Stat: 'Sum' } };
  const { MetricDataResults } = await run(
    cloudWatchClient.send(
      new GetMetricDataCommand({ StartTime, EndTime: clock.date(), MetricDataQueries: [query] }),
    ),
  );
  expect(MetricDataResults).toMatchObject([{ Id: 'runs', Timestamps: [StartTime], Values: [3] }]);
});

test("the SDK's client opens and closes a security group, with EC2's errors", async () => {
  const { ec2Client, ec2, run } = clients();
  const closed = ec2.addSecurityGroup({ ingress: [{ fromPort: 22, toPort: 22, from: 'self' }] });
  const of = (permission: IpPermission) => ({ GroupId: closed.id, IpPermissions: [permission] });
  const authorize = (permission: IpPermission) =>
    run(ec2Client.send(new AuthorizeSecurityGroupIngressCommand(of(permission))));
  const revoke = (permission: IpPermission) =>
    run(ec2Client.send(new RevokeSecurityGroupIngressCommand(of(permission))));
  const on = (port: number, more: IpPermission): IpPermission => ({
    IpProtocol: 'tcp',
    FromPort: port,
    ToPort: port,
    ...more,
  });
  const own = { UserIdGroupPairs: [{ GroupId: closed.id }] };
  const vpc = { IpRanges: [{ CidrIp: '10.0.0.0/8' }] };
  const reaches = (from: readonly string[]) => ec2.network.admits([closed.id], 8080, from);

  await authorize(on(8080, own));
  expect([reaches([closed.id]), reaches([])]).toEqual([true, false]);
  await authorize(on(8080, vpc));
  expect(reaches([])).toBe(true);
  await expect(authorize(on(8080, vpc))).rejects.toMatchObject({ name: 'InvalidPermission.Duplicate' });
  await expect(authorize(on(22, own))).rejects.toMatchObject({ name: 'InvalidPermission.Duplicate' });
  await revoke(on(8080, { ...own, ...vpc }));
  expect(reaches([closed.id])).toBe(false);
  await expect(revoke(on(8080, own))).rejects.toMatchObject({ name: 'InvalidPermission.NotFound' });
  for (const [wrong, name] of [
    [on(80, { PrefixListIds: [{ PrefixListId: 'pl-0' }] }), 'InvalidPrefixListID.NotFound'],
    [on(80, { UserIdGroupPairs: [{ GroupId: 'sg-0' }] }), 'InvalidGroup.NotFound'],
    [on(80, { IpRanges: [{ CidrIp: '10.0.0/8' }] }), 'InvalidParameterValue'],
    [on(70_000, vpc), 'InvalidParameterValue'],
    [on(80, { ...vpc, IpProtocol: 'udp' }), 'UnsupportedOperation'],
    [on(80, {}), 'MissingParameter'],
  ] as const)
    await expect(authorize(wrong), name).rejects.toMatchObject({ name });
});
