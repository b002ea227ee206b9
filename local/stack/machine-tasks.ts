import type { World } from '../account/world.ts';
import type { Random } from '../clock/random.ts';
import { TaskFailure } from '../states/failure.ts';
import { isObject, type Json } from '../states/json.ts';
import type { TaskResource } from '../states/resource.ts';
import type { TaskRequest, Tasks } from '../states/tasks.ts';
import { type Caller, type Gate, NoAnswer, ServiceError } from '../wire/contract.ts';
import { runAs, type Transport } from '../wire/invocation.ts';
import type { DeployedTemplate } from './deployed-template.ts';
import type { Lambda } from './lambda.ts';
import type { OptimizedIntegrations } from './optimized-integrations.ts';
import type { SdkIntegration } from './sdk-integration.ts';

export interface MachineTasksSettings {
  readonly world: World;
  readonly template: DeployedTemplate;
  readonly lambda: Lambda;
  readonly sdk: SdkIntegration;
  readonly optimized: OptimizedIntegrations;
  readonly transport: (caller: Caller) => Transport;
  /** What a call of `lambda:Invoke` passes, as calls over the wire do. */
  readonly gates: readonly Gate[];
}

type SdkResource = Extract<TaskResource, { kind: 'sdk' }>;

/** Does the work of the machines' Task states, each under the permissions of its machine. */
export class MachineTasks implements Tasks {
  readonly #settings: MachineTasksSettings;
  readonly #random: Random;

  constructor(settings: MachineTasksSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork('machine-tasks');
  }

  async run({ resource, args, execution }: TaskRequest): Promise<unknown> {
    const caller: Caller = { kind: 'machine', name: this.#logicalIdOf(execution.machine.arn) };
    switch (resource.kind) {
      case 'function':
        return this.#invoke(caller, resource.arn, args);
      case 'invoke': {
        const { functionArn, payload } = readInvokeArguments(args);
        const answer = await this.#invoke(caller, functionArn, payload);
        const version = /:function:[^:]+:(\d+)$/.exec(functionArn)?.[1];
        return { ExecutedVersion: version ?? '$LATEST', Payload: answer, StatusCode: 200 };
      }
      case 'optimized':
        return this.#settings.optimized.call(caller, resource.service, args);
      case 'sdk':
        return this.#call(caller, resource, args);
    }
  }

  #call(caller: Caller, { service, action }: SdkResource, args: Json): Promise<Json> {
    const { world, sdk } = this.#settings;
    const transport = this.#settings.transport(caller);
    // In an invocation, for the SDK's own timers and file reads have to keep virtual time.
    return runAs({ caller, world, random: this.#random, transport }, () =>
      sdk.call(service, action, args, transport),
    );
  }

  async #invoke(caller: Caller, functionArn: string, payload: Json): Promise<unknown> {
    const { world, lambda, gates } = this.#settings;
    const call = { service: 'lambda', action: 'Invoke', caller, at: world.clock.now() };
    const input = { FunctionName: functionArn, Payload: payload };
    try {
      for (const gate of gates) await gate.before?.(call, input);
      const answer = await lambda.invoke(functionArn, payload);
      for (const gate of gates.toReversed()) await gate.after?.(call, input, { Payload: answer });
      return answer;
    } catch (error) {
      throw asLambdaFailure(error);
    }
  }

  #logicalIdOf(machineArn: string): string {
    const machine = [...this.#settings.template.machines.values()].find(({ arn }) => arn === machineArn);
    if (!machine) throw new Error(`the template has no machine ${machineArn}`);
    return machine.logicalId;
  }
}

function readInvokeArguments(args: Json): { readonly functionArn: string; readonly payload: Json } {
  if (!isObject(args)) throw new Error('lambda:invoke has no Arguments');
  const { FunctionName, Payload = {}, Qualifier, InvocationType = 'RequestResponse', ...rest } = args;
  const unknown = Object.keys(rest)[0];
  if (unknown) throw new Error(`the ${unknown} of lambda:invoke is not implemented`);
  if (InvocationType !== 'RequestResponse') {
    throw new Error(`the InvocationType ${InvocationType} of lambda:invoke is not implemented`);
  }
  return {
    functionArn: Qualifier ? `${FunctionName}:${Qualifier}` : String(FunctionName),
    payload: Payload as Json,
  };
}

/** What Lambda itself refuses is named after it; what the function throws keeps its own name. */
function asLambdaFailure(error: unknown): unknown {
  if (error instanceof ServiceError) return new TaskFailure(`Lambda.${error.code}`, error.message);
  if (error instanceof NoAnswer) return new TaskFailure('Lambda.SdkClientException', error.message);
  return error;
}
