import {
  BatchGetDeploymentTargetsCommand,
  type DeploymentInfo,
  type DeploymentTarget,
  GetDeploymentCommand,
  GetDeploymentConfigCommand,
  GetDeploymentTargetCommand,
  type InstanceTarget,
  ListDeploymentTargetsCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import type { MinimumHealthyHosts } from '../domain/waves.ts';
import { AwsFailure, DeploymentUnknown } from '../errors.ts';
import { DEPLOYMENT_TARGETS, DESCRIBES_AT_ONCE } from '../limits.ts';
import { inChunks, isolating, pages } from './batch.ts';
import { given, send } from './call.ts';
import { codeDeploy } from './clients.ts';

export interface DeploymentFacts {
  /** `Created`, `Queued`, `InProgress`, `Baking`, `Succeeded`, `Failed`, `Stopped` or `Ready`. */
  readonly status: string;
  /** `user`, `autoscaling`, `codeDeployRollback`, `autoscalingTermination` and others. */
  readonly creator: string;
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  /** The deployment whose failure this one rolls back. */
  readonly rollbackOf?: string;
  /** The instances; a deployment to ECS or Lambda has none. */
  readonly targets: DeploymentTargetFacts[];
}

export interface DeploymentTargetFacts {
  readonly instanceId: string;
  /** `Pending`, `InProgress`, `Succeeded`, `Failed`, `Skipped`, `Unknown` or `Ready`. */
  readonly status: string;
  /** Blue/green only. */
  readonly label?: 'Blue' | 'Green';
}

/** @throws DeploymentUnknown */
export async function deployment(id: string): Promise<DeploymentFacts> {
  const action = 'codedeploy:GetDeployment';
  const answer = await ofDeployment(id, action, () =>
    codeDeploy().send(new GetDeploymentCommand({ deploymentId: id })),
  );
  const info = given(answer.deploymentInfo, action, 'deploymentInfo');
  return {
    status: given(info.status, action, 'status'),
    creator: given(info.creator, action, 'creator'),
    applicationName: given(info.applicationName, action, 'applicationName'),
    deploymentGroupName: given(info.deploymentGroupName, action, 'deploymentGroupName'),
    ...rolledBackBy(info),
    targets: await instanceTargets(id),
  };
}

function rolledBackBy({ rollbackInfo }: DeploymentInfo): Pick<DeploymentFacts, 'rollbackOf'> {
  const rollbackOf = rollbackInfo?.rollbackTriggeringDeploymentId;
  return rollbackOf === undefined ? {} : { rollbackOf };
}

/** How far a deployment is, and when it ended. @throws DeploymentUnknown */
export async function deploymentProgress(
  deploymentId: string,
): Promise<{ readonly status: string; readonly endedAt: Date | undefined }> {
  const action = 'codedeploy:GetDeployment';
  const { deploymentInfo } = await ofDeployment(deploymentId, action, () =>
    codeDeploy().send(new GetDeploymentCommand({ deploymentId })),
  );
  const info = given(deploymentInfo, action, 'deploymentInfo');
  return { status: given(info.status, action, 'status'), endedAt: info.completeTime };
}

/** One instance of a deployment, and what a hook has to know of the deployment. */
export interface HookedTarget {
  readonly deploymentStatus: string;
  readonly creator: string;
  /** The deployment whose failure this one rolls back. */
  readonly rollbackOf?: string;
  readonly deploymentConfigName: string;
  /** CodeDeploy's own load balancer step moves the traffic. */
  readonly loadBalanced: boolean;
  /** Blue/green only. */
  readonly label?: 'Blue' | 'Green';
  readonly targetStatus: string;
  /** Status by lifecycle event name. */
  readonly events: Readonly<Record<string, string>>;
}

/** Undefined when the instance is no target of the deployment. @throws DeploymentUnknown */
export async function hookedTarget(
  deploymentId: string,
  instanceId: string,
): Promise<HookedTarget | undefined> {
  const action = 'codedeploy:GetDeployment';
  const { deploymentInfo } = await ofDeployment(deploymentId, action, () =>
    codeDeploy().send(new GetDeploymentCommand({ deploymentId })),
  );
  const info = given(deploymentInfo, action, 'deploymentInfo');
  const target = await instanceTarget(deploymentId, instanceId);
  return (
    target && {
      deploymentStatus: given(info.status, action, 'status'),
      creator: given(info.creator, action, 'creator'),
      ...rolledBackBy(info),
      deploymentConfigName: given(info.deploymentConfigName, action, 'deploymentConfigName'),
      loadBalanced: info.deploymentStyle?.deploymentOption === 'WITH_TRAFFIC_CONTROL',
      ...(target.instanceLabel !== undefined && { label: target.instanceLabel }),
      targetStatus: target.status ?? 'Unknown',
      events: Object.fromEntries(
        (target.lifecycleEvents ?? []).map(event => [
          event.lifecycleEventName ?? '',
          event.status ?? 'Unknown',
        ]),
      ),
    }
  );
}

async function instanceTarget(deploymentId: string, targetId: string): Promise<InstanceTarget | undefined> {
  try {
    const answer = await ofDeployment(deploymentId, 'codedeploy:GetDeploymentTarget', () =>
      codeDeploy().send(new GetDeploymentTargetCommand({ deploymentId, targetId })),
    );
    return answer.deploymentTarget?.instanceTarget;
  } catch (error) {
    if (blamesTarget(error) || hasCode(error, 'InvalidDeploymentTargetIdException')) return undefined;
    throw error;
  }
}

export interface DeploymentConfigFacts {
  readonly name: string;
  readonly minimumHealthyHosts: MinimumHealthyHosts;
  /** Made by a person, not one of `CodeDeployDefault.*`. */
  readonly custom: boolean;
  readonly createdAt: Date | undefined;
}

export async function deploymentConfig(deploymentConfigName: string): Promise<DeploymentConfigFacts> {
  const action = 'codedeploy:GetDeploymentConfig';
  const answer = await send(action, () =>
    codeDeploy().send(new GetDeploymentConfigCommand({ deploymentConfigName })),
  );
  const info = given(answer.deploymentConfigInfo, action, 'deploymentConfigInfo');
  const minimum = given(info.minimumHealthyHosts, action, 'minimumHealthyHosts');
  return {
    name: deploymentConfigName,
    minimumHealthyHosts: {
      type: minimum.type === 'FLEET_PERCENT' ? 'FLEET_PERCENT' : 'HOST_COUNT',
      value: given(minimum.value, action, 'minimumHealthyHosts.value'),
    },
    custom: !deploymentConfigName.startsWith('CodeDeployDefault.'),
    createdAt: info.createTime,
  };
}

async function instanceTargets(deploymentId: string): Promise<DeploymentTargetFacts[]> {
  const targetIds = await listTargets(deploymentId);
  const action = 'codedeploy:BatchGetDeploymentTargets';
  const found = await inChunks(targetIds, DEPLOYMENT_TARGETS, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, blamesTarget, async some => {
      const command = new BatchGetDeploymentTargetsCommand({ deploymentId, targetIds: [...some] });
      const answer = await ofDeployment(deploymentId, action, () => codeDeploy().send(command));
      return answer.deploymentTargets ?? [];
    }),
  );
  return found.flatMap(({ done }) => done).flatMap(target => targetFacts(target, action));
}

/** The ids of a deployment's targets; none when it has not started. @throws DeploymentUnknown */
export async function listTargets(deploymentId: string): Promise<string[]> {
  try {
    return await pages(async next => {
      const command = new ListDeploymentTargetsCommand({ deploymentId, nextToken: next });
      const answer = await ofDeployment(deploymentId, 'codedeploy:ListDeploymentTargets', () =>
        codeDeploy().send(command),
      );
      return { items: answer.targetIds, next: answer.nextToken };
    });
  } catch (error) {
    if (hasCode(error, 'DeploymentNotStartedException')) return [];
    throw error;
  }
}

function targetFacts({ instanceTarget }: DeploymentTarget, action: string): DeploymentTargetFacts[] {
  if (instanceTarget === undefined) return [];
  const label = instanceTarget.instanceLabel;
  return [
    {
      instanceId: given(instanceTarget.targetId, action, 'targetId'),
      status: given(instanceTarget.status, action, 'status'),
      ...(label !== undefined && { label }),
    },
  ];
}

/** An instance that is gone by now fails the whole batch (R-PARTIAL). */
const blamesTarget = (error: unknown): boolean =>
  hasCode(error, 'DeploymentTargetDoesNotExistException', 'InstanceDoesNotExistException');

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof AwsFailure && codes.includes(error.code);

async function ofDeployment<T>(id: string, action: string, call: () => Promise<T>): Promise<T> {
  try {
    return await send(action, call);
  } catch (error) {
    if (hasCode(error, 'DeploymentDoesNotExistException', 'InvalidDeploymentIdException')) {
      throw new DeploymentUnknown(`There is no CodeDeploy deployment ${id}.`);
    }
    throw error;
  }
}

/** The lifecycle event of a deployment to ECS or Lambda that is in progress; undefined when none shows so yet. */
export async function eventInProgress(deploymentId: string): Promise<string | undefined> {
  const [targetId] = await listTargets(deploymentId);
  if (targetId === undefined) return undefined;
  const answer = await ofDeployment(deploymentId, 'codedeploy:GetDeploymentTarget', () =>
    codeDeploy().send(new GetDeploymentTargetCommand({ deploymentId, targetId })),
  );
  const target = answer.deploymentTarget?.ecsTarget ?? answer.deploymentTarget?.lambdaTarget;
  return target?.lifecycleEvents?.find(event => event.status === 'InProgress')?.lifecycleEventName;
}

/** Nothing waits for this answer: it was given already (R-HOOKSTATUS), or the deployment has no such hook. */
const NOT_AWAITED = [
  'LifecycleEventAlreadyCompletedException',
  'DeploymentDoesNotExistException',
  'InvalidLifecycleEventHookExecutionIdException',
  'UnsupportedActionForDeploymentTypeException',
];

/** Answers a lifecycle event hook. An answer that nothing waits for is no error. */
export async function putHookStatus(
  deploymentId: string,
  lifecycleEventHookExecutionId: string,
  status: 'Succeeded' | 'Failed',
): Promise<void> {
  const command = new PutLifecycleEventHookExecutionStatusCommand({
    deploymentId,
    lifecycleEventHookExecutionId,
    status,
  });
  try {
    await send('codedeploy:PutLifecycleEventHookExecutionStatus', () => codeDeploy().send(command));
  } catch (error) {
    if (!hasCode(error, ...NOT_AWAITED)) throw error;
  }
}
