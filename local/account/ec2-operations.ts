import type {
  Instance as DescribedInstance,
  DescribeInstanceStatusRequest,
  DescribeInstanceStatusResult,
  DescribeInstancesRequest,
  DescribeInstancesResult,
  TerminateInstancesRequest,
  TerminateInstancesResult,
} from '@aws-sdk/client-ec2';
import { ServiceError } from '../wire/contract.ts';
import type { Ec2, Ec2Instance } from './ec2.ts';
import {
  distinct,
  type FilterValues,
  instanceNotFound,
  invalidValue,
  matching,
  page,
  refuseDryRun,
  refuseOthers,
  tagList,
} from './ec2-request.ts';
import type { ApplicationStatuses, InstanceState } from './neighbours.ts';

/** UG: the low byte of the state code. */
const STATE_CODES: Readonly<Record<InstanceState, number>> = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
};
const MOST_STATUS_IDS = 100;

const filters: FilterValues<Ec2Instance> = {
  'instance-id': ({ id }) => [id],
  'instance-state-name': ({ state }) => [state],
  'availability-zone': ({ zone }) => [zone],
  'vpc-id': ({ vpcId }) => [vpcId],
  'subnet-id': ({ subnetId }) => [subnetId],
  'instance.group-id': ({ securityGroupIds }) => securityGroupIds,
  'private-ip-address': ({ privateAddresses }) => [privateAddresses[0]],
  'network-interface.addresses.private-ip-address': ({ privateAddresses }) => privateAddresses,
};

const stateOf = (state: InstanceState) => ({ Code: STATE_CODES[state], Name: state });

/** EC2's operations on instances. */
export function ec2Operations(ec2: Ec2, applicationStatuses: ApplicationStatuses) {
  const named = (ids: readonly string[]): readonly Ec2Instance[] => {
    const found = distinct(ids).map(id => ({ id, instance: ec2.instance(id) }));
    const missing = found.filter(({ instance }) => !instance).map(({ id }) => id);
    if (missing.length > 0) throw instanceNotFound(missing);
    return found.flatMap(({ instance }) => instance ?? []);
  };

  const described = (instance: Ec2Instance): DescribedInstance => {
    const groups = instance.securityGroupIds.map(GroupId => ({
      GroupId,
      GroupName: ec2.network.securityGroups.get(GroupId)?.name,
    }));
    const gone = instance.state === 'terminated';
    return {
      InstanceId: instance.id,
      State: stateOf(instance.state),
      ...(instance.stateReason && { StateTransitionReason: instance.stateReason }),
      LaunchTime: new Date(instance.launchedAt),
      Placement: { AvailabilityZone: instance.zone, AvailabilityZoneId: instance.zoneId, Tenancy: 'default' },
      Tags: tagList(instance.tags),
      // A terminated instance has lost its network.
      ...(!gone && {
        VpcId: instance.vpcId,
        SubnetId: instance.subnetId,
        PrivateIpAddress: instance.privateAddresses[0],
        SecurityGroups: groups,
      }),
      NetworkInterfaces: gone
        ? []
        : [
            {
              NetworkInterfaceId: instance.interfaceId,
              Status: 'in-use',
              SubnetId: instance.subnetId,
              VpcId: instance.vpcId,
              PrivateIpAddress: instance.privateAddresses[0],
              PrivateIpAddresses: instance.privateAddresses.map((PrivateIpAddress, index) => ({
                PrivateIpAddress,
                Primary: index === 0,
              })),
              Groups: groups,
            },
          ],
    };
  };

  /** No instance of this account is a managed resource, so IncludeManagedResources changes nothing. */
  return {
    DescribeInstances(input: DescribeInstancesRequest): DescribeInstancesResult {
      const {
        InstanceIds,
        Filters,
        MaxResults,
        NextToken,
        DryRun,
        IncludeManagedResources: _,
        ...rest
      } = input;
      refuseOthers('DescribeInstances', rest);
      refuseDryRun(DryRun);
      if (InstanceIds?.length && MaxResults !== undefined)
        throw new ServiceError(
          'InvalidParameterCombination',
          'The parameter instancesSet cannot be used with the parameter maxResults',
        );
      const from = InstanceIds?.length ? named(InstanceIds) : ec2.visible();
      const found = matching(from, Filters, filters, ({ tags }) => tags);
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      // Each launch is a reservation of its own, as Auto Scaling's launches are.
      const Reservations = items.map(instance => ({
        ReservationId: instance.reservationId,
        OwnerId: ec2.world.accountId,
        Instances: [described(instance)],
      }));
      return { Reservations, ...next };
    },

    DescribeInstanceStatus(input: DescribeInstanceStatusRequest): DescribeInstanceStatusResult {
      const {
        InstanceIds,
        Filters,
        IncludeAllInstances,
        MaxResults,
        NextToken,
        DryRun,
        IncludeManagedResources: _,
        ...rest
      } = input;
      refuseOthers('DescribeInstanceStatus', rest);
      refuseDryRun(DryRun);
      if (InstanceIds?.length && MaxResults !== undefined)
        throw new ServiceError(
          'InvalidParameterCombination',
          'The parameter InstanceIds cannot be used with the parameter MaxResults',
        );
      if (InstanceIds && InstanceIds.length > MOST_STATUS_IDS)
        throw invalidValue(`At most ${MOST_STATUS_IDS} instance IDs can be described in one request.`);
      const from = InstanceIds?.length ? named(InstanceIds) : [...ec2.visible()];
      const running = from.filter(({ state }) => IncludeAllInstances || state === 'running');
      const found = matching(running, Filters, {
        'availability-zone': ({ zone }) => [zone],
        'instance-state-name': ({ state }) => [state],
      });
      const sizes = { least: 5, most: 1000, unlessAsked: 1000 };
      const { items, next } = page(found, { MaxResults, NextToken }, sizes);
      const InstanceStatuses = items.map(instance => {
        const { status, since } = applicationStatuses.overall(instance.id);
        const up = instance.state === 'running' ? ('ok' as const) : ('not-applicable' as const);
        return {
          InstanceId: instance.id,
          AvailabilityZone: instance.zone,
          InstanceState: stateOf(instance.state),
          InstanceStatus: { Status: up },
          SystemStatus: { Status: up },
          // SDK: this summary has no value for `suppressed`; INF: it is left out meanwhile.
          ...(status !== 'suppressed' && {
            ApplicationStatus: {
              Status: status,
              ...(status === 'impaired' && { ImpairedSince: new Date(since) }),
            },
          }),
        };
      });
      return { InstanceStatuses, ...next };
    },

    TerminateInstances(input: TerminateInstancesRequest): TerminateInstancesResult {
      const { InstanceIds, DryRun, ...rest } = input;
      refuseOthers('TerminateInstances', rest);
      refuseDryRun(DryRun);
      const TerminatingInstances = named(InstanceIds ?? []).map(instance => {
        const PreviousState = stateOf(instance.state);
        ec2.terminate(instance.id);
        return { InstanceId: instance.id, PreviousState, CurrentState: stateOf(instance.state) };
      });
      return { TerminatingInstances };
    },
  };
}
