import type { Account } from '../account/account.ts';
import type { Revision } from '../account/code-deploy-agent.ts';
import type { DeploymentGroup } from '../account/code-deploy-deployment.ts';
import { CodeDeployEngine } from '../account/code-deploy-engine.ts';
import type { Instance } from '../account/neighbours.ts';
import type { DeployedFunction } from '../stack/deployed-template.ts';
import type { Lambda } from '../stack/lambda.ts';
import { type AgentSettings, Agents } from './agent.ts';
import { serveFunctionUrl } from './function-url.ts';
import { type InstanceRole, RoleSessions } from './instance-role.ts';
import type { ApplicationControl } from './machine.ts';

export interface AgentsSettings {
  readonly account: Account;
  readonly application: ApplicationControl;
  /** Where the hook scripts ask: a function of the stack that has a URL. */
  readonly hook?: { readonly lambda: Pick<Lambda, 'invoke'>; readonly function: DeployedFunction };
  /** `instance-role` for every instance unless given; undefined is an instance without an instance profile. */
  readonly roleOf?: (instance: Instance) => InstanceRole | undefined;
  readonly environment?: AgentSettings['environment'];
  readonly hear?: AgentSettings['hear'];
}

export interface InstalledAgents {
  readonly agents: Agents;
  /** Begins and stops deployments, and says when they have ended. */
  readonly engine: CodeDeployEngine;
  /** Names what the fleet runs already, as if it had been deployed with success long ago. */
  settle(group: DeploymentGroup, revision: Revision, instanceIds: readonly string[]): void;
  /** Ends the scripts that still run and gives the ports back. */
  close(): Promise<void>;
}

const DEFAULT_ROLE: InstanceRole = { name: 'instance-role', id: 'AROAEXAMPLEINSTANCES1' };

/**
 * Puts a CodeDeploy agent on every instance of the account, so that its CreateDeployment runs the real scripts of a
 * revision. They reach their machine's metadata and the hook's function URL on ports of the loopback interface.
 */
export async function installAgents(settings: AgentsSettings): Promise<InstalledAgents> {
  const { account, application, hook, roleOf = () => DEFAULT_ROLE, hear } = settings;
  const { world, ec2, codeDeploy, autoScaling, loadBalancing, onEvent } = account;
  const sessions = new RoleSessions(world);
  const url =
    hook &&
    (await serveFunctionUrl({
      world,
      lambda: hook.lambda,
      served: hook.function,
      sessions,
      waiting: (instanceId, work) => agents.machineOf(instanceId).waits(work),
    }));
  const agents: Agents = new Agents({
    world,
    instances: ec2,
    application,
    session: instance => {
      const role = roleOf(instance);
      return role && sessions.of(instance, role);
    },
    environment: { ...(url && { QUIESCE_HOOK_URL: url.url }), ...settings.environment },
    ...(hear && { hear }),
  });
  const engine = new CodeDeployEngine({
    world,
    instances: ec2,
    autoScaling,
    loadBalancing,
    codeDeploy,
    onEvent,
    agent: agents,
  });
  return {
    agents,
    engine,
    settle(group, revision, instanceIds) {
      agents.settle(group, revision, instanceIds);
      engine.settle(group, revision, instanceIds);
    },
    async close() {
      await agents.close();
      await url?.close();
    },
  };
}
