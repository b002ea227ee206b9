import { expect, test } from 'vitest';
import { interfacesInGroups } from '../../functions/core/aws/network-interfaces.ts';
import { interfaceInWords, isOfChecks } from '../../functions/core/domain/group-blockers.ts';
import { scripted } from './helpers/scripted-account.ts';

test('R-ENI: interfaces that a service manages and hides are asked for, and each is told apart by whose it is', async () => {
  const principal = 'ec2.application-status-checks.amazonaws.com';
  const account = scripted('ec2', {
    DescribeNetworkInterfaces: () => ({
      NetworkInterfaces: [
        {
          NetworkInterfaceId: 'eni-1',
          SubnetId: 'subnet-1',
          Description: 'a check',
          Groups: [{ GroupId: 'sg-1' }],
          Operator: { Managed: true, Principal: principal },
          Attachment: { InstanceOwnerId: 'amazon-aws' },
        },
        { NetworkInterfaceId: 'eni-2', Operator: { Managed: true } },
        { NetworkInterfaceId: 'eni-3', Attachment: { InstanceId: 'i-1' }, Operator: { Managed: false } },
        { NetworkInterfaceId: 'eni-4' },
        {
          NetworkInterfaceId: 'eni-5',
          Description: 'ELB',
          RequesterManaged: true,
          RequesterId: 'amazon-elb',
          Attachment: { InstanceOwnerId: 'amazon-elb' },
        },
      ],
    }),
  });
  const found = await account.run(() => interfacesInGroups(['sg-1']));
  expect(account.asked.map(({ input }) => input)).toMatchObject([
    { IncludeManagedResources: true, Filters: [{ Name: 'group-id', Values: ['sg-1'] }] },
  ]);
  expect(found.filter(isOfChecks).map(({ id, securityGroupIds }) => [id, securityGroupIds])).toEqual([
    ['eni-1', ['sg-1']],
  ]);
  expect(found.map(interfaceInWords)).toEqual([
    `eni-1 "a check" in subnet-1, managed by ${principal}, attached to amazon-aws`,
    'eni-2 "" in , managed by an AWS service, attached to nothing',
    'eni-3 "" in , of instance i-1',
    'eni-4 "" in , of this account, attached to nothing',
    'eni-5 "ELB" in , of amazon-elb, attached to amazon-elb',
  ]);
});
