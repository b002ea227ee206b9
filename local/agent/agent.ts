import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LifecycleErrorCode } from '@aws-sdk/client-codedeploy';
import {
  type AgentCommand,
  type DeploymentAgent,
  type EventOutcome,
  type Revision,
  SUCCEEDED,
} from '../account/code-deploy-agent.ts';
import type { DeploymentGroup } from '../account/code-deploy-deployment.ts';
import { isOfThePreviousRevision } from '../account/code-deploy-lifecycle.ts';
import type { Instance, Instances } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';
import { type HookScript, scriptsOf } from './application-spec.ts';
import type { RoleSession } from './instance-role.ts';
import { type ApplicationControl, Machine } from './machine.ts';
import { ScriptLog } from './script-log.ts';
import { type ProcessEnd, ScriptProcess } from './script-process.ts';
import { Turns } from './turns.ts';

/** The guide: all scripts of a lifecycle event together may take an hour. */
const LONGEST_EVENT_MS = 3_600_000;
const SHIMS = fileURLToPath(new URL('shims', import.meta.url));

export interface AgentSettings {
  readonly world: World;
  readonly instances: Instances;
  readonly application: ApplicationControl;
  /** The credentials of the instance's role; undefined for an instance without an instance profile. */
  readonly session: (instance: Instance) => RoleSession | undefined;
  /** What a script finds in its environment besides what the agent sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Hears every line that a script writes, and the agent's own. */
  readonly hear?: (line: ScriptLine) => void;
}

export interface ScriptLine {
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly lifecycleEvent: string;
  readonly text: string;
}

/** The CodeDeploy agents of all instances: they run the real hook scripts of a revision, in virtual time. */
export class Agents implements DeploymentAgent {
  readonly #settings: AgentSettings;
  readonly #random;
  readonly #turns: Turns;
  readonly #machines = new Map<string, Machine>();
  /** By instance and deployment group, as an agent keeps it on its disk. */
  readonly #installed = new Map<string, Revision>();

  constructor(settings: AgentSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork('code-deploy-agents');
    this.#turns = new Turns(settings.world.clock);
    settings.instances.onState(({ id, state }) => {
      if (state !== 'running') this.#machines.get(id)?.running?.script.lose();
    });
  }

  async perform(command: AgentCommand): Promise<EventOutcome> {
    switch (command.lifecycleEvent) {
      case 'DownloadBundle':
        return this.#takeTime();
      case 'Install':
        // The agent notes a revision as installed here, before anybody knows whether its scripts succeed.
        this.#installed.set(keyOf(command.instanceId, command.group), command.revision);
        return this.#takeTime();
      default:
        return this.#runScripts(command);
    }
  }

  /** Names what is installed already, as if the agent had done it long ago. */
  settle(group: DeploymentGroup, revision: Revision, instanceIds: readonly string[]): void {
    for (const id of instanceIds) this.#installed.set(keyOf(id, group), revision);
  }

  /** The machine of an instance. @throws Error when there is no such instance */
  machineOf(instanceId: string): Machine {
    const known = this.#machines.get(instanceId);
    if (known) return known;
    const { instances, session, ...settings } = this.#settings;
    const instance = instances.instance(instanceId);
    if (!instance) throw new Error(`there is no instance ${instanceId}`);
    const machine = new Machine({ ...settings, instance, session: session(instance) });
    this.#machines.set(instanceId, machine);
    return machine;
  }

  /** Ends every script that still runs and gives the ports back. */
  async close(): Promise<void> {
    await Promise.all([...this.#machines.values()].map(machine => machine.close()));
  }

  async #takeTime(): Promise<EventOutcome> {
    const { clock, physics } = this.#settings.world;
    const [least, most] = physics.deploymentStepSeconds;
    await clock.sleep(this.#random.between(least, most) * 1000);
    return SUCCEEDED;
  }

  async #runScripts(command: AgentCommand): Promise<EventOutcome> {
    const { clock } = this.#settings.world;
    const { instanceId, deploymentId, lifecycleEvent, group } = command;
    const revision = isOfThePreviousRevision(lifecycleEvent)
      ? this.#installed.get(keyOf(instanceId, group))
      : command.revision;
    if (!revision) return SUCCEEDED;
    const { hear } = this.#settings;
    const log = new ScriptLog(text => hear?.({ instanceId, deploymentId, lifecycleEvent, text }));
    log.append(`LifecycleEvent - ${lifecycleEvent}`);
    const endsAt = clock.now() + LONGEST_EVENT_MS;
    for (const script of scriptsOf(revision.directory, lifecycleEvent)) {
      log.append(`Script - ${script.location}`);
      const timeoutSeconds = Math.min(script.timeout, Math.floor((endsAt - clock.now()) / 1000));
      const path = join(revision.directory, script.location);
      const end: ScriptEnd = existsSync(path)
        ? await this.#runScript(command, revision, { path, timeoutSeconds, log })
        : { kind: 'missing' };
      log.tell();
      const outcome = judge(end, { ...script, timeout: timeoutSeconds }, log);
      if (outcome.kind !== 'succeeded') return outcome;
    }
    return SUCCEEDED;
  }

  async #runScript(
    { instanceId, deploymentId, lifecycleEvent, group }: AgentCommand,
    revision: Revision,
    run: { readonly path: string; readonly timeoutSeconds: number; readonly log: ScriptLog },
  ): Promise<ProcessEnd> {
    const machine = this.machineOf(instanceId);
    const url = await machine.url();
    const script = new ScriptProcess({
      clock: this.#settings.world.clock,
      turns: this.#turns,
      instanceId,
      ...run,
      // None of this process's own environment but the PATH: no credentials, no proxies.
      environment: {
        PATH: `${SHIMS}:${process.env.PATH}`,
        ...this.#settings.environment,
        SIMULATED_MACHINE: url,
        AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
        // Where validate.sh of the example looks.
        HEALTH_URL: `${url}/application/8080/health`,
        LIFECYCLE_EVENT: lifecycleEvent,
        DEPLOYMENT_ID: deploymentId,
        APPLICATION_NAME: group.applicationName,
        DEPLOYMENT_GROUP_NAME: group.deploymentGroupName,
        DEPLOYMENT_GROUP_ID: group.id,
        BUNDLE_BUCKET: revision.bucket,
        BUNDLE_KEY: revision.key,
        BUNDLE_ETAG: revision.eTag,
        BUNDLE_VERSION: '',
      },
    });
    const running = { script, deploymentId };
    machine.running = running;
    // A script that outlives its timeout is still the one whose sleeps have to be answered.
    script.gone.then(() => {
      if (machine.running === running) machine.running = undefined;
    });
    return script.ended;
  }
}

type ScriptEnd = ProcessEnd | { readonly kind: 'missing' };

/** In the agent's own words. */
function judge(end: ScriptEnd, script: HookScript, log: ScriptLog): EventOutcome {
  const where = `Script at specified location: ${script.location}`;
  switch (end.kind) {
    case 'lost':
      return { kind: 'lost' };
    case 'missing':
      return failed(
        'ScriptMissing',
        script,
        log,
        `Script does not exist at specified location: ${script.location}`,
      );
    case 'timed-out': {
      const message = `${where} failed to complete in ${script.timeout} seconds`;
      return failed('ScriptTimedOut', script, log, message);
    }
    case 'exited': {
      if (end.status === 0) return SUCCEEDED;
      const as = script.runas ? ` run as user ${script.runas}` : '';
      return failed('ScriptFailed', script, log, `${where}${as} failed with exit code ${end.status}`);
    }
  }
}

const failed = (
  errorCode: LifecycleErrorCode,
  { location: scriptName }: HookScript,
  log: ScriptLog,
  message: string,
): EventOutcome => ({
  kind: 'failed',
  diagnostics: { errorCode, scriptName, message, logTail: log.tail },
});

const keyOf = (instanceId: string, group: DeploymentGroup): string => `${instanceId} ${group.id}`;
