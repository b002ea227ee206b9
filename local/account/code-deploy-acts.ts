import type {
  CreateDeploymentInput,
  CreateDeploymentOutput,
  RevisionLocation,
  StopDeploymentInput,
  StopDeploymentOutput,
} from '@aws-sdk/client-codedeploy';
import { ServiceError } from '../wire/contract.ts';
import type { CodeDeploy } from './code-deploy.ts';
import type { Revision } from './code-deploy-agent.ts';
import type { AutoRollback, Deployment, DeploymentGroup } from './code-deploy-deployment.ts';
import { deploymentOf, groupOf } from './code-deploy-operations.ts';
import { refuseOthers } from './ec2-request.ts';

/** What a person asks of a deployment. */
export interface DeploymentRequest {
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  readonly revision: Revision;
  readonly deploymentConfigName?: string | undefined;
  readonly ignoreApplicationStopFailures?: boolean | undefined;
  /** Overrides the group's. */
  readonly autoRollback?: AutoRollback | undefined;
}

/** Carries deployments out. */
export interface Deployer {
  /** A deployment group exists: from now on its Auto Scaling groups' launches are deployed to. */
  adopt(group: DeploymentGroup): void;
  create(request: DeploymentRequest): Deployment;
  /** `Pending` while a lifecycle event still runs. */
  stop(deployment: Deployment, rollBack: boolean): 'Pending' | 'Succeeded';
}

/** The operations that begin or end a deployment. */
export function codeDeployActs(codeDeploy: CodeDeploy) {
  const deployer = (): Deployer => {
    if (codeDeploy.deployer) return codeDeploy.deployer;
    throw new ServiceError(
      'UnsupportedOperation',
      'Nobody carries deployments out in this account: no CodeDeploy agents were installed (local/agent).',
    );
  };

  return {
    CreateDeployment(input: CreateDeploymentInput): CreateDeploymentOutput {
      const {
        applicationName,
        deploymentGroupName,
        revision,
        deploymentConfigName,
        ignoreApplicationStopFailures,
        autoRollbackConfiguration: autoRollback,
        description: _,
        ...others
      } = input;
      refuseOthers('CreateDeployment', others);
      const group = groupOf(codeDeploy, { applicationName, deploymentGroupName });
      if (deploymentConfigName && !codeDeploy.config(deploymentConfigName))
        throw new ServiceError(
          'DeploymentConfigDoesNotExistException',
          `No deployment configuration found for name: ${deploymentConfigName}`,
        );
      const deployment = deployer().create({
        applicationName: group.applicationName,
        deploymentGroupName: group.deploymentGroupName,
        revision: located(codeDeploy, revision),
        deploymentConfigName,
        ignoreApplicationStopFailures,
        autoRollback: autoRollback && {
          enabled: autoRollback.enabled ?? false,
          events: autoRollback.events ?? [],
        },
      });
      return { deploymentId: deployment.id };
    },

    StopDeployment({ deploymentId, autoRollbackEnabled }: StopDeploymentInput): StopDeploymentOutput {
      const deployment = deploymentOf(codeDeploy, deploymentId);
      if (!deployment.isLive)
        throw new ServiceError(
          'DeploymentAlreadyCompletedException',
          `The deployment ${deployment.id} has completed.`,
        );
      const rollBack = autoRollbackEnabled ?? deployment.facts.autoRollback.enabled;
      const status = deployer().stop(deployment, rollBack);
      const statusMessage =
        status === 'Pending' ? 'Some lifecycle events are still running.' : 'The deployment has stopped.';
      return { status, statusMessage };
    },
  };
}

function located(codeDeploy: CodeDeploy, revision: RevisionLocation | undefined): Revision {
  if (!revision)
    throw new ServiceError(
      'RevisionRequiredException',
      'The revision ID was not specified (the simulated account deploys no other way).',
    );
  const { revisionType, s3Location, ...others } = revision;
  refuseOthers('CreateDeployment', others);
  if (revisionType !== 'S3')
    throw new ServiceError('UnsupportedOperation', 'The simulated CodeDeploy knows revisions in S3 only.');
  const { bucket = '', key = '' } = s3Location ?? {};
  const found = codeDeploy.revision(bucket, key);
  if (found) return found;
  throw new ServiceError('RevisionDoesNotExistException', `There is no revision s3://${bucket}/${key}.`);
}
