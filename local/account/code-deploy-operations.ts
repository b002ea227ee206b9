import type {
  BatchGetDeploymentTargetsInput,
  BatchGetDeploymentTargetsOutput,
  DeploymentOverview,
  DeploymentTarget,
  GetDeploymentConfigInput,
  GetDeploymentConfigOutput,
  GetDeploymentGroupInput,
  GetDeploymentGroupOutput,
  GetDeploymentInput,
  GetDeploymentOutput,
  GetDeploymentTargetInput,
  GetDeploymentTargetOutput,
  ListDeploymentTargetsInput,
  ListDeploymentTargetsOutput,
  PutLifecycleEventHookExecutionStatusInput,
  PutLifecycleEventHookExecutionStatusOutput,
  RevisionLocation,
} from '@aws-sdk/client-codedeploy';
import { ServiceError } from '../wire/contract.ts';
import type { CodeDeploy } from './code-deploy.ts';
import type { Revision } from './code-deploy-agent.ts';
import type { AutoRollback, Deployment, DeploymentGroup, TargetView } from './code-deploy-deployment.ts';
import { refuseOthers } from './ec2-request.ts';
import { pageOf } from './paging.ts';

/** SDK: at most 25 targets a batch. */
const TARGETS_PER_BATCH = 25;
/** AWS publishes no page size for ListDeploymentTargets. */
const TARGETS_PER_PAGE = 100;

/** The operations that show, and the answer of a hook. Statuses lie behind by `physics.deploymentStatusLagSeconds`. */
export function codeDeployOperations(codeDeploy: CodeDeploy) {
  return {
    GetDeployment(input: GetDeploymentInput): GetDeploymentOutput {
      const deployment = deploymentOf(codeDeploy, input.deploymentId);
      const { group, facts } = deployment;
      const { status, endedAt } = deployment.shown;
      return {
        deploymentInfo: {
          ...namesOf(group),
          deploymentConfigName: facts.deploymentConfigName,
          deploymentId: deployment.id,
          status,
          revision: revisionOf(facts.revision),
          previousRevision: revisionOf(facts.previousRevision),
          ignoreApplicationStopFailures: facts.ignoreApplicationStopFailures,
          autoRollbackConfiguration: rollbackOf(facts.autoRollback),
          createTime: new Date(deployment.startedAt),
          startTime: new Date(deployment.startedAt),
          completeTime: endedAt === undefined ? undefined : new Date(endedAt),
          deploymentOverview: overviewOf(deployment),
          creator: facts.creator,
          rollbackInfo: deployment.rollbackInfo,
          errorInformation: endedAt === undefined ? undefined : deployment.errorInformation,
          deploymentStyle: styleOf(group, isBlueGreen(deployment)),
          loadBalancerInfo: loadBalancersOf(group),
          computePlatform: group.computePlatform,
        },
      };
    },

    GetDeploymentGroup(input: GetDeploymentGroupInput): GetDeploymentGroupOutput {
      const group = groupOf(codeDeploy, input);
      return {
        deploymentGroupInfo: {
          ...namesOf(group),
          deploymentConfigName: group.deploymentConfigName,
          deploymentGroupId: group.id,
          autoScalingGroups: group.autoScalingGroupNames.map(name => ({ name })),
          autoRollbackConfiguration: rollbackOf(group.autoRollback),
          deploymentStyle: styleOf(group, group.blueGreen !== undefined),
          loadBalancerInfo: loadBalancersOf(group),
          computePlatform: group.computePlatform,
        },
      };
    },

    GetDeploymentConfig({ deploymentConfigName = '' }: GetDeploymentConfigInput): GetDeploymentConfigOutput {
      const config = codeDeploy.config(deploymentConfigName);
      if (!config)
        throw new ServiceError(
          'DeploymentConfigDoesNotExistException',
          `No deployment configuration found for name: ${deploymentConfigName}`,
        );
      return {
        deploymentConfigInfo: {
          deploymentConfigName: config.name,
          minimumHealthyHosts: { ...config.minimumHealthyHosts },
          createTime: new Date(config.createdAt),
          computePlatform: 'Server',
        },
      };
    },

    ListDeploymentTargets(input: ListDeploymentTargetsInput): ListDeploymentTargetsOutput {
      const { deploymentId, nextToken: token, targetFilters = {}, ...others } = input;
      refuseOthers('ListDeploymentTargets', others);
      const { TargetStatus: statuses, ServerInstanceLabel: labels, ...unknown } = targetFilters;
      for (const name of Object.keys(unknown))
        throw new ServiceError('InvalidTargetFilterNameException', `${name} is not a target filter.`);
      const ids = [...deploymentOf(codeDeploy, deploymentId).targets.values()]
        .filter(({ shown: { status } }) => !statuses || statuses.includes(status))
        .filter(({ label }) => !labels || (label !== undefined && labels.includes(label)))
        .map(({ instanceId }) => instanceId);
      const { items, nextToken } = pageOf(ids, token, TARGETS_PER_PAGE, 'InvalidNextTokenException');
      return { targetIds: items, nextToken };
    },

    GetDeploymentTarget({ deploymentId, targetId }: GetDeploymentTargetInput): GetDeploymentTargetOutput {
      const deployment = deploymentOf(codeDeploy, deploymentId);
      if (!targetId)
        throw new ServiceError('DeploymentTargetIdRequiredException', 'A target ID must be specified.');
      return { deploymentTarget: describeTarget(codeDeploy, deployment, targetId) };
    },

    BatchGetDeploymentTargets(input: BatchGetDeploymentTargetsInput): BatchGetDeploymentTargetsOutput {
      const { deploymentId, targetIds: ids = [], ...others } = input;
      refuseOthers('BatchGetDeploymentTargets', others);
      const deployment = deploymentOf(codeDeploy, deploymentId);
      if (ids.length === 0)
        throw new ServiceError(
          'DeploymentTargetIdRequiredException',
          'At least one target ID must be specified.',
        );
      if (ids.length > TARGETS_PER_BATCH)
        throw new ServiceError(
          'DeploymentTargetListSizeExceededException',
          `At most ${TARGETS_PER_BATCH} target IDs can be specified.`,
        );
      return { deploymentTargets: ids.map(id => describeTarget(codeDeploy, deployment, id)) };
    },

    PutLifecycleEventHookExecutionStatus(
      input: PutLifecycleEventHookExecutionStatusInput,
    ): PutLifecycleEventHookExecutionStatusOutput {
      return codeDeploy.lifecycleEventHooks.answer(input);
    },
  };
}

/** @throws ServiceError DeploymentIdRequiredException, DeploymentDoesNotExistException */
export function deploymentOf(codeDeploy: CodeDeploy, id: string | undefined): Deployment {
  if (!id)
    throw new ServiceError('DeploymentIdRequiredException', 'At least one deployment ID must be specified.');
  const deployment = codeDeploy.deployment(id);
  if (deployment) return deployment;
  throw new ServiceError('DeploymentDoesNotExistException', `The deployment ${id} could not be found.`);
}

/** @throws ServiceError ApplicationDoesNotExistException, DeploymentGroupDoesNotExistException */
export function groupOf(
  codeDeploy: CodeDeploy,
  named: {
    readonly applicationName?: string | undefined;
    readonly deploymentGroupName?: string | undefined;
  },
): DeploymentGroup {
  const { applicationName = '', deploymentGroupName = '' } = named;
  const group = codeDeploy.deploymentGroup(applicationName, deploymentGroupName);
  if (group) return group;
  if (!codeDeploy.hasApplication(applicationName))
    throw new ServiceError(
      'ApplicationDoesNotExistException',
      `No application found for name: ${applicationName}`,
    );
  throw new ServiceError(
    'DeploymentGroupDoesNotExistException',
    `No Deployment Group found for name: ${deploymentGroupName}`,
  );
}

function describeTarget(codeDeploy: CodeDeploy, deployment: Deployment, id: string): DeploymentTarget {
  const target = deployment.targets.get(id);
  if (!target)
    throw new ServiceError(
      'DeploymentTargetDoesNotExistException',
      `The deployment ${deployment.id} has no target ${id}.`,
    );
  const { partition, region, accountId } = codeDeploy.world;
  const { status, updatedAt, lifecycleEvents } = target.shown;
  const { computePlatform } = deployment.group;
  if (computePlatform !== 'Server') {
    const seen = { deploymentId: deployment.id, targetId: id, status, lifecycleEvents: [...lifecycleEvents] };
    return computePlatform === 'ECS'
      ? { deploymentTargetType: 'ECSTarget', ecsTarget: seen }
      : { deploymentTargetType: 'LambdaTarget', lambdaTarget: seen };
  }
  return {
    deploymentTargetType: 'InstanceTarget',
    instanceTarget: {
      deploymentId: deployment.id,
      targetId: id,
      targetArn: `arn:${partition}:ec2:${region}:${accountId}:instance/${id}`,
      status,
      lastUpdatedAt: new Date(updatedAt),
      lifecycleEvents: [...lifecycleEvents],
      instanceLabel: target.label,
    },
  };
}

const namesOf = ({ applicationName, deploymentGroupName }: DeploymentGroup) => ({
  applicationName,
  deploymentGroupName,
});

const rollbackOf = ({ enabled, events }: AutoRollback) => ({ enabled, events: [...events] });

const revisionOf = (revision: Revision | undefined): RevisionLocation | undefined =>
  revision && {
    revisionType: 'S3',
    s3Location: { bucket: revision.bucket, key: revision.key, eTag: revision.eTag, bundleType: 'zip' },
  };

const isBlueGreen = ({ targets }: Deployment): boolean =>
  [...targets.values()].some(({ label }) => label !== undefined);

const styleOf = (group: DeploymentGroup, blueGreen: boolean) => ({
  deploymentType: blueGreen ? ('BLUE_GREEN' as const) : ('IN_PLACE' as const),
  deploymentOption:
    group.targetGroupNames.length > 0
      ? ('WITH_TRAFFIC_CONTROL' as const)
      : ('WITHOUT_TRAFFIC_CONTROL' as const),
});

const loadBalancersOf = ({ targetGroupNames }: DeploymentGroup) =>
  targetGroupNames.length === 0
    ? undefined
    : { targetGroupInfoList: targetGroupNames.map(name => ({ name })) };

function overviewOf({ targets }: Deployment): DeploymentOverview {
  const count = (status: TargetView['status']) =>
    [...targets.values()].filter(target => target.shown.status === status).length;
  return {
    Pending: count('Pending'),
    InProgress: count('InProgress'),
    Succeeded: count('Succeeded'),
    Failed: count('Failed'),
    Skipped: count('Skipped'),
    Ready: count('Ready'),
  };
}
