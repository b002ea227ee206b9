import type {
  CompleteLifecycleActionCommandInput,
  EnterStandbyCommandInput,
  ExitStandbyCommandInput,
  RecordLifecycleActionHeartbeatCommandInput,
  ResumeProcessesCommandInput,
  SetInstanceHealthCommandInput,
  SuspendProcessesCommandInput,
} from '@aws-sdk/client-auto-scaling';
import type {
  BatchGetDeploymentsCommandInput,
  GetDeploymentCommandInput,
  GetDeploymentConfigCommandInput,
  GetDeploymentGroupCommandInput,
  ListDeploymentsCommandInput,
  PutLifecycleEventHookExecutionStatusCommandInput,
} from '@aws-sdk/client-codedeploy';
import type {
  DeregisterTargetsCommandInput,
  RegisterTargetsCommandInput,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { type About, type ActionTable, type Concern, concern, onEverything } from './resources.ts';

const targetGroup = (
  input: RegisterTargetsCommandInput | DeregisterTargetsCommandInput,
  about: About,
): readonly Concern[] => about.targetGroup(input.TargetGroupArn);

/** Source: aws-behaviour.md 1.5. */
export const ELASTIC_LOAD_BALANCING: ActionTable = {
  ...onEverything(
    'DescribeListeners',
    'DescribeLoadBalancerAttributes',
    'DescribeLoadBalancers',
    'DescribeRules',
    'DescribeTags',
    'DescribeTargetGroupAttributes',
    'DescribeTargetGroups',
    'DescribeTargetHealth',
  ),
  RegisterTargets: targetGroup,
  DeregisterTargets: targetGroup,
};

type NamesGroup =
  | SuspendProcessesCommandInput
  | ResumeProcessesCommandInput
  | EnterStandbyCommandInput
  | ExitStandbyCommandInput
  | CompleteLifecycleActionCommandInput
  | RecordLifecycleActionHeartbeatCommandInput;

const namedGroup = (input: NamesGroup, about: About): readonly Concern[] =>
  about.autoScalingGroup(input.AutoScalingGroupName);

/** Source: aws-behaviour.md 1.5. */
export const AUTO_SCALING: ActionTable = {
  ...onEverything(
    'DescribeAutoScalingGroups',
    'DescribeAutoScalingInstances',
    'DescribeInstanceRefreshes',
    'DescribeLifecycleHooks',
    'DescribeLoadBalancerTargetGroups',
    'DescribeScalingActivities',
    'DescribeTags',
    'DescribeTrafficSources',
  ),
  SuspendProcesses: namedGroup,
  ResumeProcesses: namedGroup,
  EnterStandby: namedGroup,
  ExitStandby: namedGroup,
  CompleteLifecycleAction: namedGroup,
  RecordLifecycleActionHeartbeat: namedGroup,
  SetInstanceHealth: (input: SetInstanceHealthCommandInput, about) =>
    about.autoScalingGroupOfInstance(input.InstanceId),
};

const groupOfDeployment = (
  input: GetDeploymentCommandInput | PutLifecycleEventHookExecutionStatusCommandInput,
  about: About,
): readonly Concern[] => about.deploymentGroupOf(input.deploymentId);

/** Sources: aws-behaviour.md 1.5 and D18, where the guide and the IAM data differ. */
export const CODEDEPLOY: ActionTable = {
  ...onEverything(
    'BatchGetDeploymentTargets',
    'GetDeploymentTarget',
    'ListDeploymentTargets',
    'StopDeployment',
  ),
  GetDeployment: groupOfDeployment,
  PutLifecycleEventHookExecutionStatus: groupOfDeployment,
  BatchGetDeployments: (input: BatchGetDeploymentsCommandInput, about) =>
    (input.deploymentIds ?? []).flatMap(id => about.deploymentGroupOf(id)),
  GetDeploymentGroup: (input: GetDeploymentGroupCommandInput, about) => [
    about.deploymentGroup(input.applicationName, input.deploymentGroupName),
  ],
  ListDeployments: (input: ListDeploymentsCommandInput, about) => [
    about.deploymentGroup(input.applicationName, input.deploymentGroupName),
  ],
  GetDeploymentConfig: (input: GetDeploymentConfigCommandInput, about) => [
    concern(about.arn('codedeploy', `deploymentconfig:${input.deploymentConfigName}`)),
  ],
};
