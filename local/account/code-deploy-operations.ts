import type {
  BatchGetDeploymentTargetsInput,
  BatchGetDeploymentTargetsOutput,
  DeploymentOverview,
  DeploymentTarget,
  GetDeploymentGroupInput,
  GetDeploymentGroupOutput,
  GetDeploymentInput,
  GetDeploymentOutput,
  ListDeploymentTargetsInput,
  ListDeploymentTargetsOutput,
} from '@aws-sdk/client-codedeploy';
import { ServiceError } from '../wire/contract.ts';
import type { CodeDeploy, Deployment, DeploymentGroup, DeploymentTargetState } from './code-deploy.ts';
import { refuseOthers } from './ec2-request.ts';
import { pageOf } from './paging.ts';

/** SDK: at most 25 targets a batch. */
const TARGETS_PER_BATCH = 25;
/** AWS publishes no page size for ListDeploymentTargets. */
const TARGETS_PER_PAGE = 100;

export function codeDeployOperations(codeDeploy: CodeDeploy) {
  const deploymentOf = (id: string | undefined): Deployment => {
    if (!id)
      throw new ServiceError(
        'DeploymentIdRequiredException',
        'At least one deployment ID must be specified.',
      );
    const deployment = codeDeploy.deployment(id);
    if (deployment) return deployment;
    throw new ServiceError('DeploymentDoesNotExistException', `The deployment ${id} could not be found.`);
  };

  return {
    GetDeployment(input: GetDeploymentInput): GetDeploymentOutput {
      const deployment = deploymentOf(input.deploymentId);
      const { group } = deployment;
      return {
        deploymentInfo: {
          ...namesOf(group),
          deploymentId: deployment.id,
          status: deployment.status,
          createTime: new Date(deployment.startedAt),
          startTime: new Date(deployment.startedAt),
          completeTime: deployment.endedAt === undefined ? undefined : new Date(deployment.endedAt),
          deploymentOverview: overviewOf(deployment),
          creator: deployment.creator,
          rollbackInfo: deployment.rollbackInfo,
          deploymentStyle: styleOf(group, isBlueGreen(deployment)),
          loadBalancerInfo: loadBalancersOf(group),
          computePlatform: 'Server',
        },
      };
    },

    GetDeploymentGroup(input: GetDeploymentGroupInput): GetDeploymentGroupOutput {
      const { applicationName = '', deploymentGroupName = '' } = input;
      const group = codeDeploy.deploymentGroup(applicationName, deploymentGroupName);
      if (group)
        return {
          deploymentGroupInfo: {
            ...namesOf(group),
            deploymentGroupId: group.id,
            autoScalingGroups: group.autoScalingGroupNames.map(name => ({ name })),
            deploymentStyle: styleOf(group, false),
            loadBalancerInfo: loadBalancersOf(group),
            computePlatform: 'Server',
          },
        };
      if (!codeDeploy.hasApplication(applicationName))
        throw new ServiceError(
          'ApplicationDoesNotExistException',
          `No application found for name: ${applicationName}`,
        );
      throw new ServiceError(
        'DeploymentGroupDoesNotExistException',
        `No Deployment Group found for name: ${deploymentGroupName}`,
      );
    },

    ListDeploymentTargets(input: ListDeploymentTargetsInput): ListDeploymentTargetsOutput {
      const { deploymentId, nextToken: token, targetFilters = {}, ...others } = input;
      refuseOthers('ListDeploymentTargets', others);
      const { TargetStatus: statuses, ServerInstanceLabel: labels, ...unknown } = targetFilters;
      for (const name of Object.keys(unknown))
        throw new ServiceError('InvalidTargetFilterNameException', `${name} is not a target filter.`);
      const ids = [...deploymentOf(deploymentId).targets.values()]
        .filter(({ status }) => !statuses || statuses.includes(status))
        .filter(({ label }) => !labels || (label !== undefined && labels.includes(label)))
        .map(({ instanceId }) => instanceId);
      const { items, nextToken } = pageOf(ids, token, TARGETS_PER_PAGE, 'InvalidNextTokenException');
      return { targetIds: items, nextToken };
    },

    BatchGetDeploymentTargets(input: BatchGetDeploymentTargetsInput): BatchGetDeploymentTargetsOutput {
      const { deploymentId, targetIds: ids = [], ...others } = input;
      refuseOthers('BatchGetDeploymentTargets', others);
      const deployment = deploymentOf(deploymentId);
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
  };
}

function describeTarget(codeDeploy: CodeDeploy, deployment: Deployment, id: string): DeploymentTarget {
  const target = deployment.targets.get(id);
  if (!target)
    throw new ServiceError(
      'DeploymentTargetDoesNotExistException',
      `The deployment ${deployment.id} has no target ${id}.`,
    );
  const { partition, region, accountId } = codeDeploy.world;
  return {
    deploymentTargetType: 'InstanceTarget',
    instanceTarget: {
      deploymentId: deployment.id,
      targetId: id,
      targetArn: `arn:${partition}:ec2:${region}:${accountId}:instance/${id}`,
      status: target.status,
      lastUpdatedAt: new Date(target.updatedAt),
      lifecycleEvents: [...target.lifecycleEvents],
      instanceLabel: target.label,
    },
  };
}

const namesOf = ({ applicationName, deploymentGroupName, deploymentConfigName }: DeploymentGroup) => ({
  applicationName,
  deploymentGroupName,
  deploymentConfigName,
});

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
  const count = (status: DeploymentTargetState['status']) =>
    [...targets.values()].filter(target => target.status === status).length;
  return {
    Pending: count('Pending'),
    InProgress: count('InProgress'),
    Succeeded: count('Succeeded'),
    Failed: count('Failed'),
    Skipped: count('Skipped'),
    Ready: count('Ready'),
  };
}
