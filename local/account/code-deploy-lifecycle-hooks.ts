import type {
  LifecycleEventStatus,
  PutLifecycleEventHookExecutionStatusInput,
  PutLifecycleEventHookExecutionStatusOutput,
} from '@aws-sdk/client-codedeploy';
import { ServiceError } from '../wire/contract.ts';
import type { CodeDeploy } from './code-deploy.ts';
import type { Deployment } from './code-deploy-deployment.ts';
import { deploymentOf } from './code-deploy-operations.ts';
import { uuid } from './uuid.ts';

/** The guide: a deployment fails when a hook does not answer within an hour. */
const ANSWER_MS = 3_600_000;
/** INF: how long a lifecycle event takes in which nothing is called. */
const EVENT_MS = 5000;

/** What CodeDeploy hands to a hook function. */
export interface HookEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

export interface HookedDeployment {
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  /** `cluster:service` or `function:alias`. */
  readonly targetId: string;
  /** The functions that the AppSpec names, by lifecycle event. */
  readonly hooks: Readonly<Record<string, string>>;
}

interface OpenHookExecution {
  readonly answered: PromiseWithResolvers<LifecycleEventStatus>;
  status: LifecycleEventStatus | undefined;
}

/** The hooks of deployments to ECS and Lambda: functions that are called, and answer later by an API call. */
export class LifecycleEventHooks {
  readonly #codeDeploy: CodeDeploy;
  readonly #random;
  readonly #executions = new Map<string, OpenHookExecution>();

  constructor(codeDeploy: CodeDeploy) {
    this.#codeDeploy = codeDeploy;
    this.#random = codeDeploy.world.random.fork('lifecycle-event-hooks');
  }

  /**
   * Carries out a deployment, which is nothing but its lifecycle events: what they deploy is not simulated.
   *
   * @param call invokes a function asynchronously
   */
  begin(
    spec: HookedDeployment,
    call: (functionName: string, event: HookEvent) => void,
  ): { readonly deployment: Deployment; readonly ended: Promise<Deployment> } {
    const deployment = this.#codeDeploy.begin({ ...spec, instanceIds: [spec.targetId] });
    return { deployment, ended: this.#run(deployment, spec, call).then(() => deployment) };
  }

  /** @throws ServiceError as CodeDeploy refuses an answer */
  answer(input: PutLifecycleEventHookExecutionStatusInput): PutLifecycleEventHookExecutionStatusOutput {
    const { deploymentId, lifecycleEventHookExecutionId: id = '', status } = input;
    const deployment = deploymentOf(this.#codeDeploy, deploymentId);
    if (deployment.group.computePlatform === 'Server')
      throw new ServiceError(
        'UnsupportedActionForDeploymentTypeException',
        'Hooks of deployments to EC2 instances are scripts.',
      );
    if (status !== 'Succeeded' && status !== 'Failed')
      throw new ServiceError(
        'InvalidLifecycleEventHookExecutionStatusException',
        `${status} is not a valid status.`,
      );
    const execution = this.#executions.get(keyOf(deployment, id));
    if (!execution)
      throw new ServiceError(
        'InvalidLifecycleEventHookExecutionIdException',
        `${id} is no hook execution of ${deployment.id}.`,
      );
    if (execution.status !== undefined || !deployment.isLive)
      throw new ServiceError(
        'LifecycleEventAlreadyCompletedException',
        'The lifecycle event has completed already.',
      );
    execution.status = status;
    execution.answered.resolve(status);
    return { lifecycleEventHookExecutionId: id };
  }

  async #run(
    deployment: Deployment,
    { hooks, targetId }: HookedDeployment,
    call: (functionName: string, event: HookEvent) => void,
  ): Promise<void> {
    const { world } = this.#codeDeploy;
    const target = deployment.targets.get(targetId);
    if (!target) throw new Error(`${targetId} is no target of ${deployment.id}`);
    target.begin();
    for (const name of target.events) {
      target.enter(name);
      const fn = hooks[name];
      if (fn === undefined) await world.clock.sleep(EVENT_MS);
      const status = fn === undefined ? 'Succeeded' : await this.#hook(deployment, fn, call);
      if (!deployment.isLive) return;
      target.leave(name, status);
      if (status === 'Succeeded') continue;
      return this.#codeDeploy.endDeployment(deployment.id, 'Failed');
    }
    this.#codeDeploy.endDeployment(deployment.id, 'Succeeded');
  }

  async #hook(
    deployment: Deployment,
    fn: string,
    call: (functionName: string, event: HookEvent) => void,
  ): Promise<LifecycleEventStatus> {
    const id = uuid(this.#random);
    const answered = Promise.withResolvers<LifecycleEventStatus>();
    const execution: OpenHookExecution = { answered, status: undefined };
    this.#executions.set(keyOf(deployment, id), execution);
    const hour = this.#codeDeploy.world.clock.after(ANSWER_MS, () => {
      execution.status = 'Failed';
      answered.resolve('Failed');
    });
    call(fn, { DeploymentId: deployment.id, LifecycleEventHookExecutionId: id });
    const status = await answered.promise;
    hour.cancel();
    return status;
  }
}

const keyOf = ({ id }: Deployment, executionId: string): string => `${id} ${executionId}`;
