import type {
  ApplicationStatusCheckResponseObject,
  ApplicationStatusDetail,
  AssociateApplicationStatusCheckRequest,
  AssociateApplicationStatusCheckResult,
  CreateApplicationStatusCheckRequest,
  CreateApplicationStatusCheckResult,
  DeleteApplicationStatusCheckRequest,
  DeleteApplicationStatusCheckResult,
  DescribeApplicationStatusCheckAssociationsRequest,
  DescribeApplicationStatusCheckAssociationsResult,
  DescribeApplicationStatusChecksRequest,
  DescribeApplicationStatusChecksResult,
  DescribeApplicationStatusRequest,
  DescribeApplicationStatusResult,
  DisassociateApplicationStatusCheckRequest,
  ModifyApplicationStatusCheckRequest,
  ModifyApplicationStatusCheckResult,
  TagSpecification,
} from '@aws-sdk/client-ec2';
import { type Call, ServiceError } from '../wire/contract.ts';
import type { ApplicationStatusChecks, StatusView } from './application-status.ts';
import { type Association, associationValue, type StatusCheck } from './check-registry.ts';
import { type CheckResult, reasonOf } from './check-result.ts';
import { type CheckSettings, defaultSettings, patchedSettings } from './check-settings.ts';
import {
  distinct,
  instanceNotFound,
  invalidValue,
  matching,
  oncePerToken,
  page,
  refuseDryRun,
  refuseOthers,
  tagList,
} from './ec2-request.ts';

/** UG: for suppression; INF: the limit of DescribeApplicationStatus, which documents none, is the same. */
export const MOST_INSTANCE_IDS = 100;

/** EC2's operations on application status checks, their associations, and the status that they give. */
export function applicationStatusOperations(checks: ApplicationStatusChecks) {
  const { registry, world, ec2 } = checks;

  const requirePaths = ({ healthCheckPaths }: CheckSettings) => {
    for (const { source, destinations } of healthCheckPaths)
      for (const { subnetId, securityGroupId } of [source, ...destinations]) {
        ec2.network.subnet(subnetId);
        ec2.network.securityGroup(securityGroupId);
      }
  };

  const changeAssociations =
    (action: string, change: (checkId: string, association: Association) => string | undefined) =>
    (input: AssociateApplicationStatusCheckRequest): AssociateApplicationStatusCheckResult => {
      const {
        ApplicationStatusCheckId,
        TargetTagAssociations,
        InstanceIds,
        ClientToken: _,
        DryRun,
        ...rest
      } = input;
      refuseOthers(action, rest);
      refuseDryRun(DryRun);
      const { id } = registry.get(ApplicationStatusCheckId);
      const results = readAssociations(TargetTagAssociations, InstanceIds).map(association => ({
        ApplicationStatusCheckId: id,
        AssociationType: association.type === 'tag' ? 'EC2TAG' : 'INSTANCE_ID',
        AssociationValue: associationValue(association),
        Reason: change(id, association),
      }));
      checks.reconcileAll();
      return {
        SuccessfulResults: results
          .filter(({ Reason }) => Reason === undefined)
          .map(({ Reason: _, ...success }) => success),
        UnsuccessfulResults: results.filter(({ Reason }) => Reason !== undefined),
      };
    };

  const associate = changeAssociations('AssociateApplicationStatusCheck', (id, association) => {
    const failure = association.type === 'tag' ? undefined : checks.failureFor(association.instanceId);
    return failure ?? registry.associate(id, association);
  });
  const disassociate = changeAssociations('DisassociateApplicationStatusCheck', (id, association) =>
    registry.disassociate(id, association),
  );

  const detailOf = (result: CheckResult): ApplicationStatusDetail => {
    const Reason = reasonOf(result, world.physics);
    return {
      ApplicationStatusCheckId: result.checkId,
      Aggregation: result.settings.aggregation,
      Status: result.status,
      StatusSince: new Date(result.since),
      StatusTimeStamp: new Date(result.updatedAt),
      CheckUpdateTime: new Date(result.updatedAt),
      ...(Reason && { Reason }),
    };
  };

  const statusOf = (view: StatusView) => ({
    Status: view.status,
    StatusSince: new Date(view.since),
    StatusTimeStamp: new Date(view.updatedAt),
    ...(view.resumesAt !== undefined && { ResumeAt: new Date(view.resumesAt) }),
    Details: view.results.map(detailOf),
  });

  return {
    CreateApplicationStatusCheck: oncePerToken(
      (input: CreateApplicationStatusCheckRequest): CreateApplicationStatusCheckResult => {
        const { TagSpecifications, ClientToken: _, DryRun, ...settings } = input;
        const patched = patchedSettings(defaultSettings, settings);
        requirePaths(patched);
        const tags = readTags(TagSpecifications);
        refuseDryRun(DryRun);
        return { ApplicationStatusCheck: checkOf(registry.create(patched, tags)) };
      },
    ),

    ModifyApplicationStatusCheck: oncePerToken(
      (input: ModifyApplicationStatusCheckRequest, call?: Call): ModifyApplicationStatusCheckResult => {
        const { ApplicationStatusCheckId, ClientToken: _, DryRun, ...settings } = input;
        const check = registry.get(ApplicationStatusCheckId);
        const patched = patchedSettings(check.settings, settings);
        requirePaths(patched);
        refuseDryRun(DryRun);
        checks.trail?.record('ModifyApplicationStatusCheck', input, call?.caller);
        return { ApplicationStatusCheck: checkOf(registry.modify(check.id, patched)) };
      },
    ),

    DeleteApplicationStatusCheck: oncePerToken(
      (input: DeleteApplicationStatusCheckRequest, call?: Call): DeleteApplicationStatusCheckResult => {
        const { ApplicationStatusCheckId, ClientToken: _, DryRun, ...rest } = input;
        refuseOthers('DeleteApplicationStatusCheck', rest);
        const { id } = registry.get(ApplicationStatusCheckId);
        refuseDryRun(DryRun);
        const deleted = registry.delete(id);
        checks.reconcileAll();
        checks.trail?.record('DeleteApplicationStatusCheck', input, call?.caller);
        return { ApplicationStatusCheck: checkOf(deleted) };
      },
    ),

    AssociateApplicationStatusCheck: oncePerToken(associate),

    DisassociateApplicationStatusCheck: oncePerToken(
      (
        input: DisassociateApplicationStatusCheckRequest,
        call?: Call,
      ): AssociateApplicationStatusCheckResult => {
        const answer = disassociate(input);
        checks.trail?.record('DisassociateApplicationStatusCheck', input, call?.caller);
        return answer;
      },
    ),

    DescribeApplicationStatusChecks(
      input: DescribeApplicationStatusChecksRequest,
    ): DescribeApplicationStatusChecksResult {
      const { ApplicationStatusCheckIds, Filters, MaxResults, NextToken, IncludeAll, DryRun, ...rest } =
        input;
      refuseOthers('DescribeApplicationStatusChecks', rest);
      refuseDryRun(DryRun);
      const visible = IncludeAll ? [...registry.all()] : registry.active();
      const from = ApplicationStatusCheckIds?.length
        ? distinct(ApplicationStatusCheckIds).map(
            id => visible.find(check => check.id === id) ?? registry.get(id),
          )
        : visible;
      const found = matching(from, Filters, { aggregation: ({ settings }) => [settings.aggregation] });
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 100 });
      return { ApplicationStatusChecks: items.map(checkOf), ...next };
    },

    DescribeApplicationStatusCheckAssociations(
      input: DescribeApplicationStatusCheckAssociationsRequest,
    ): DescribeApplicationStatusCheckAssociationsResult {
      const { ApplicationStatusCheckIds, Filters, MaxResults, NextToken, DryRun, ...rest } = input;
      refuseOthers('DescribeApplicationStatusCheckAssociations', rest);
      refuseDryRun(DryRun);
      const from = ApplicationStatusCheckIds?.length
        ? distinct(ApplicationStatusCheckIds).map(id => registry.get(id))
        : registry.active();
      const all = from.flatMap(({ id, associations }) =>
        Array.from(associations.values(), association => ({ id, association })),
      );
      const found = matching(all, Filters, { 'association-type': ({ association }) => [association.type] });
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      const Associations = items.map(({ id, association }) => ({
        ApplicationStatusCheckId: id,
        AssociationType: association.type,
        ...(association.type === 'tag' && { Key: association.key }),
        Value: association.type === 'tag' ? association.value : association.instanceId,
      }));
      return { Associations, ...next };
    },

    DescribeApplicationStatus(input: DescribeApplicationStatusRequest): DescribeApplicationStatusResult {
      const { InstanceIds, Filters, MaxResults, NextToken, DryRun, ...rest } = input;
      refuseOthers('DescribeApplicationStatus', rest);
      refuseDryRun(DryRun);
      const ids = distinct(InstanceIds ?? []);
      if (ids.length > MOST_INSTANCE_IDS)
        throw invalidValue(`At most ${MOST_INSTANCE_IDS} instance IDs can be described in one request.`);
      const missing = ids.filter(id => !ec2.instance(id));
      if (missing.length > 0) throw instanceNotFound(missing);
      const from = ids.length > 0 ? ids.flatMap(id => ec2.instance(id) ?? []) : [...ec2.live()];
      const listed = from.flatMap(instance => {
        const view = checks.described(instance.id);
        return view ? [{ instance, view }] : [];
      });
      const found = matching(listed, Filters, {
        'availability-zone-id': ({ instance }) => [instance.zoneId],
        status: ({ view }) => [view.status],
      });
      const sizes = { least: 1, most: 100, unlessAsked: 100 };
      const { items, next } = page(found, { MaxResults, NextToken }, sizes);
      const Instances = items.map(({ instance, view }) => ({
        InstanceId: instance.id,
        AvailabilityZone: instance.zone,
        AvailabilityZoneId: instance.zoneId,
        ApplicationStatus: statusOf(view),
        Tags: tagList(instance.tags),
      }));
      return { ApplicationStatuses: { Instances }, ...next };
    },
  };
}

function checkOf(check: StatusCheck): ApplicationStatusCheckResponseObject {
  const { settings, associations, createdAt, modifiedAt, deletedAt } = check;
  return {
    ApplicationStatusCheckId: check.id,
    Aggregation: settings.aggregation,
    Protocol: settings.protocol,
    Port: settings.port,
    Path: settings.path,
    DeviceIndex: 0,
    IpVersion: 'ipv4',
    IpScope: 'private',
    Interval: 60,
    Timeout: settings.timeoutSeconds,
    FailureThreshold: settings.failureThreshold,
    SuccessThreshold: settings.successThreshold,
    StatusCodeMatcher: settings.statusCodeMatcher,
    InitializationGracePeriodSeconds: settings.gracePeriodSeconds,
    HealthCheckPaths: settings.healthCheckPaths.map(({ source, destinations }) => ({
      Source: { SubnetId: source.subnetId, SecurityGroupId: source.securityGroupId },
      Destinations: destinations.map(({ subnetId, securityGroupId }) => ({
        SubnetId: subnetId,
        SecurityGroupId: securityGroupId,
      })),
    })),
    TargetTagAssociations: [...associations.values()].flatMap(association =>
      association.type === 'tag' ? [{ Key: association.key, Value: association.value }] : [],
    ),
    Tags: tagList(check.tags),
    CreationTime: new Date(createdAt),
    LastUpdatedAt: new Date(modifiedAt ?? createdAt),
    ...(modifiedAt !== undefined && { ModifyTime: new Date(modifiedAt) }),
    ...(deletedAt !== undefined && { DeletionTime: new Date(deletedAt) }),
  };
}

function readAssociations(
  tags: AssociateApplicationStatusCheckRequest['TargetTagAssociations'],
  instanceIds: readonly string[] | undefined,
): readonly Association[] {
  if (tags?.length && instanceIds?.length)
    throw new ServiceError(
      'InvalidParameterCombination',
      'The parameters TargetTagAssociations and InstanceIds cannot be used together',
    );
  if (!tags?.length && !instanceIds?.length)
    throw new ServiceError(
      'MissingParameter',
      'The request must contain the parameter TargetTagAssociations or InstanceIds',
    );
  const byTag = (tags ?? []).map(({ Key, Value }): Association => {
    if (!Key?.trim()) throw invalidValue('A tag key must not be blank.');
    return { type: 'tag', key: Key, value: Value ?? '' };
  });
  return [
    ...byTag,
    ...distinct(instanceIds ?? []).map((instanceId): Association => ({ type: 'instance-id', instanceId })),
  ];
}

function readTags(specifications: readonly TagSpecification[] | undefined): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (const { ResourceType, Tags } of specifications ?? []) {
    if (ResourceType !== 'application-status-check')
      throw invalidValue(`'${ResourceType}' is not a valid taggable resource type for this operation.`);
    for (const { Key, Value } of Tags ?? []) tags.set(Key ?? '', Value ?? '');
  }
  return tags;
}
