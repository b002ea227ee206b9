import {
  BatchGetDeploymentTargetsCommand,
  type DeploymentTarget,
  GetDeploymentCommand,
  ListDeploymentTargetsCommand,
} from '@aws-sdk/client-codedeploy';
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
  const rollbackOf = info.rollbackInfo?.rollbackTriggeringDeploymentId;
  return {
    status: given(info.status, action, 'status'),
    creator: given(info.creator, action, 'creator'),
    applicationName: given(info.applicationName, action, 'applicationName'),
    deploymentGroupName: given(info.deploymentGroupName, action, 'deploymentGroupName'),
    ...(rollbackOf !== undefined && { rollbackOf }),
    targets: await instanceTargets(id),
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

async function listTargets(deploymentId: string): Promise<string[]> {
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
