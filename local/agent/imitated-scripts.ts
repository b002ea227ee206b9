import { basename } from 'node:path';
import { z } from 'zod';
import {
  type AgentCommand,
  type DeploymentAgent,
  type EventOutcome,
  SUCCEEDED,
} from '../account/code-deploy-agent.ts';
import type { Instance, Instances } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';
import type { DeployedFunction } from '../stack/deployed-template.ts';
import type { Lambda } from '../stack/lambda.ts';
import { TaskFailure } from '../states/failure.ts';
import { type HookScript, scriptsOf } from './application-spec.ts';
import { urlEvent } from './function-url.ts';
import { type InstanceRole, RoleSessions } from './instance-role.ts';
import type { ApplicationControl } from './machine.ts';

/** As quiesce.sh has them. */
const LIMIT_MS = 3240 * 1000;
const RETRY_SECONDS = 15;
const MOST_FAILURES = 10;
/** As validate.sh has it. */
const VALIDATE_MS = 5000;

const ACTS: Readonly<Record<string, string>> = {
  BeforeBlockTraffic: 'before',
  AfterBlockTraffic: 'gate',
  ApplicationStop: 'gate',
  BeforeInstall: 'gate',
  ValidateService: 'after',
  AfterAllowTraffic: 'after',
};

const response = z.object({ statusCode: z.int(), body: z.string() });
const hookAnswer = z.object({
  verdict: z.string(),
  reason: z.string(),
  waitSeconds: z.number().default(RETRY_SECONDS),
});

export interface ImitatedSettings {
  readonly world: World;
  readonly instances: Instances;
  readonly application: ApplicationControl;
  readonly hook?: { readonly lambda: Pick<Lambda, 'invoke'>; readonly function: DeployedFunction };
}

/**
 * Does what the four scripts of examples/codedeploy do, without processes and ports: a child process costs as much real time
 * as minutes of a simulated fleet. The hook's function is invoked with the very event that its URL would hand to it. Every
 * instance runs the scripts of the revision that is deployed, also where CodeDeploy takes those of the revision before.
 */
export class ImitatedScripts implements DeploymentAgent {
  readonly #settings: ImitatedSettings;
  readonly #random;
  readonly #sessions: RoleSessions;

  constructor(settings: ImitatedSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork('imitated-scripts');
    this.#sessions = new RoleSessions(settings.world);
  }

  async perform(command: AgentCommand): Promise<EventOutcome> {
    const { clock, physics } = this.#settings.world;
    const { lifecycleEvent, revision } = command;
    if (lifecycleEvent === 'DownloadBundle' || lifecycleEvent === 'Install') {
      await clock.sleep(this.#random.between(...physics.deploymentStepSeconds) * 1000);
      return SUCCEEDED;
    }
    for (const script of scriptsOf(revision.directory, lifecycleEvent)) {
      const outcome = await this.#run(command, script);
      if (outcome.kind !== 'succeeded') return outcome;
    }
    return SUCCEEDED;
  }

  async #run(command: AgentCommand, script: HookScript): Promise<EventOutcome> {
    const { application, instances } = this.#settings;
    const instance = instances.instance(command.instanceId);
    if (instance?.state !== 'running') return { kind: 'lost' };
    switch (basename(script.location)) {
      case 'quiesce.sh':
        return this.#quiesce(command, instance, script);
      case 'stop.sh':
        application.stop(instance, command.deploymentId);
        return SUCCEEDED;
      case 'start.sh':
        application.start(instance, command.deploymentId);
        return SUCCEEDED;
      case 'validate.sh':
        return this.#validate(instance, script);
      default:
        throw new Error(`${script.location} is none of the scripts that are imitated`);
    }
  }

  async #validate(instance: Instance, script: HookScript): Promise<EventOutcome> {
    const { clock } = this.#settings.world;
    const endsAt = clock.now() + script.timeout * 1000;
    while (!instance.application.isUp) {
      if (clock.now() >= endsAt) return scriptFailed('ScriptTimedOut', script, '');
      await clock.sleep(VALIDATE_MS);
      if (this.#isGone(instance)) return { kind: 'lost' };
    }
    return SUCCEEDED;
  }

  async #quiesce(command: AgentCommand, instance: Instance, script: HookScript): Promise<EventOutcome> {
    const { clock } = this.#settings.world;
    const endsAt = clock.now() + LIMIT_MS;
    for (let failures = 0; ; ) {
      const { status, verdict, reason, waitSeconds } = await this.#ask(command, instance);
      if (this.#isGone(instance)) return { kind: 'lost' };
      if (status === 200 && verdict === 'go-ahead') return SUCCEEDED;
      const reached = status === 200 || status === 403;
      if (reached && verdict !== 'wait') return scriptFailed('ScriptFailed', script, reason);
      failures = reached ? 0 : failures + 1;
      if (failures === MOST_FAILURES || clock.now() + waitSeconds * 1000 >= endsAt)
        return scriptFailed('ScriptFailed', script, `given up: ${reason}`);
      await clock.sleep(waitSeconds * 1000);
      if (this.#isGone(instance)) return { kind: 'lost' };
    }
  }

  async #ask({ deploymentId, lifecycleEvent, instanceId }: AgentCommand, instance: Instance) {
    const { world, hook } = this.#settings;
    if (!hook) throw new Error('quiesce.sh has no hook to ask');
    const body = JSON.stringify({ act: ACTS[lifecycleEvent], deploymentId, lifecycleEvent, instanceId });
    const request = { method: 'POST', target: '/', headers: {}, body };
    const event = urlEvent({ world, served: hook.function }, request, this.#sessions.of(instance, ROLE));
    try {
      const answer = response.parse(await hook.lambda.invoke(hook.function.arn, event));
      return { status: answer.statusCode, ...hookAnswer.parse(JSON.parse(answer.body)) };
    } catch (error) {
      if (!(error instanceof TaskFailure)) throw error;
      return { status: 502, verdict: '', reason: 'Internal Server Error', waitSeconds: RETRY_SECONDS };
    }
  }

  #isGone({ id }: Instance): boolean {
    return this.#settings.instances.instance(id)?.state !== 'running';
  }
}

const ROLE: InstanceRole = { name: 'instance-role', id: 'AROAEXAMPLEINSTANCES1' };

const scriptFailed = (
  errorCode: 'ScriptFailed' | 'ScriptTimedOut',
  { location: scriptName }: HookScript,
  reason: string,
): EventOutcome => ({
  kind: 'failed',
  diagnostics: {
    errorCode,
    scriptName,
    message: `Script at specified location: ${scriptName} failed`,
    logTail: reason && `quiesce: ${reason}\n`,
  },
});
