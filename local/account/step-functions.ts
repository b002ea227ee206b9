import type {
  DescribeExecutionInput,
  DescribeExecutionOutput,
  DescribeStateMachineInput,
  DescribeStateMachineOutput,
  GetExecutionHistoryInput,
  GetExecutionHistoryOutput,
  ListExecutionsInput,
  ListExecutionsOutput,
  SendTaskFailureInput,
  SendTaskHeartbeatInput,
  SendTaskSuccessInput,
  StartExecutionInput,
  StartExecutionOutput,
  StopExecutionInput,
  StopExecutionOutput,
} from '@aws-sdk/client-sfn';
import * as sfn from '@aws-sdk/client-sfn';
import type { Random } from '../clock/random.ts';
import { compileMachine } from '../states/compile.ts';
import { type Execution, executionArn, type Machine } from '../states/execution.ts';
import type { Executions } from '../states/executions.ts';
import { type Json, parseJson } from '../states/json.ts';
import { isTooLong } from '../states/limits.ts';
import { type Service, ServiceError } from '../wire/contract.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

/** A state machine as a template declares it. */
export interface MachineDeclaration {
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  /** The States Language definition, parsed. */
  readonly definition: unknown;
}

interface Deployed extends Machine {
  readonly declaration: MachineDeclaration;
  readonly createdAt: number;
}

/** The Step Functions service: its API over the executions of the account. */
export class StepFunctions {
  readonly service: Service = {
    name: 'states',
    client: sfn,
    protocol: { kind: 'json', target: 'AWSStepFunctions', jsonVersion: '1.0' },
    operations: {
      StartExecution: (input: StartExecutionInput) => this.startExecution(input),
      StopExecution: (input: StopExecutionInput) => this.#stopExecution(input),
      DescribeExecution: (input: DescribeExecutionInput) => this.#describeExecution(input),
      ListExecutions: (input: ListExecutionsInput) => this.#listExecutions(input),
      GetExecutionHistory: (input: GetExecutionHistoryInput) => this.#getExecutionHistory(input),
      DescribeStateMachine: (input: DescribeStateMachineInput) => this.#describeStateMachine(input),
      SendTaskSuccess: (input: SendTaskSuccessInput) => this.#sendTaskSuccess(input),
      SendTaskFailure: (input: SendTaskFailureInput) => this.#sendTaskFailure(input),
      SendTaskHeartbeat: (input: SendTaskHeartbeatInput) => this.#sendTaskHeartbeat(input),
    },
  };
  readonly #world: World;
  readonly #executions: Executions;
  readonly #names: Random;
  readonly #machines = new Map<string, Deployed>();

  constructor(world: World, executions: Executions) {
    this.#world = world;
    this.#executions = executions;
    this.#names = world.random.fork('execution names');
  }

  /**
   * Adds a state machine.
   *
   * @throws DefinitionRefused
   */
  deploy(declaration: MachineDeclaration): Machine {
    const { arn, name } = declaration;
    const definition = compileMachine(declaration.definition);
    const machine: Deployed = { arn, name, definition, declaration, createdAt: this.#world.clock.now() };
    this.#machines.set(arn, machine);
    return machine;
  }

  /** StartExecution, for callers inside the account as well. */
  startExecution({ stateMachineArn, name, input: text }: StartExecutionInput): StartExecutionOutput {
    const machine = this.#machine(stateMachineArn);
    const input = inputOf(text);
    if (name !== undefined) checkName(name);
    const wanted = name ?? uuid(this.#names);
    const known = this.#executions.find(executionArn(machine, wanted));
    if (known && !(known.status === 'RUNNING' && isSame(known.input, input))) {
      throw new ServiceError('ExecutionAlreadyExists', `Execution Already Exists: '${known.arn}'`);
    }
    const execution = known ?? this.#executions.start(machine, { name: wanted, input });
    return { executionArn: execution.arn, startDate: new Date(execution.startedAt) };
  }

  #stopExecution({ executionArn: arn, error, cause }: StopExecutionInput): StopExecutionOutput {
    const execution = this.#execution(arn);
    this.#executions.stop(execution.arn, error, cause);
    return { stopDate: new Date(execution.stoppedAt ?? this.#world.clock.now()) };
  }

  #describeExecution({ executionArn: arn, includedData }: DescribeExecutionInput): DescribeExecutionOutput {
    refuseOther('includedData', includedData, 'ALL_DATA');
    const execution = this.#execution(arn);
    const { input, output, error, cause } = execution;
    return {
      ...summaryOf(execution),
      input: JSON.stringify(input),
      inputDetails: { included: true },
      ...(output !== undefined && { output: JSON.stringify(output), outputDetails: { included: true } }),
      ...(error !== undefined && { error }),
      ...(cause !== undefined && { cause }),
      redriveCount: 0,
    };
  }

  #listExecutions(request: ListExecutionsInput): ListExecutionsOutput {
    refuseOther('mapRunArn', request.mapRunArn, undefined);
    refuseOther('redriveFilter', request.redriveFilter, undefined);
    const machine = this.#machine(request.stateMachineArn);
    const { statusFilter } = request;
    const newestFirst = [...this.#executions.all()]
      .filter(execution => execution.machine.arn === machine.arn)
      .filter(execution => statusFilter === undefined || execution.status === statusFilter)
      .reverse();
    const { items, nextToken } = page(newestFirst, request);
    return { executions: items.map(summaryOf), nextToken };
  }

  #getExecutionHistory(request: GetExecutionHistoryInput): GetExecutionHistoryOutput {
    refuseOther('includeExecutionData', request.includeExecutionData, true);
    const events = this.#execution(request.executionArn).history.events();
    const { items, nextToken } = page(request.reverseOrder ? events.reverse() : events, request);
    return { events: items, nextToken };
  }

  #describeStateMachine(request: DescribeStateMachineInput): DescribeStateMachineOutput {
    refuseOther('includedData', request.includedData, 'ALL_DATA');
    const { arn, name, declaration, createdAt } = this.#machine(request.stateMachineArn);
    return {
      stateMachineArn: arn,
      name,
      status: 'ACTIVE',
      type: 'STANDARD',
      definition: JSON.stringify(declaration.definition),
      roleArn: declaration.roleArn,
      creationDate: new Date(createdAt),
    };
  }

  #sendTaskSuccess({ taskToken, output }: SendTaskSuccessInput): object {
    const value = readJson(output ?? '', 'InvalidOutput', 'Invalid Output');
    this.#executions.tokens.holder(taskToken ?? '').succeed(value);
    return {};
  }

  #sendTaskFailure({ taskToken, error, cause }: SendTaskFailureInput): object {
    this.#executions.tokens.holder(taskToken ?? '').fail(error ?? '', cause ?? '');
    return {};
  }

  #sendTaskHeartbeat({ taskToken }: SendTaskHeartbeatInput): object {
    this.#executions.tokens.holder(taskToken ?? '').heartbeat();
    return {};
  }

  #machine(arn: string | undefined): Deployed {
    const machine = this.#machines.get(arn ?? '');
    if (machine) return machine;
    throw new ServiceError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  }

  #execution(arn: string | undefined): Execution {
    const execution = this.#executions.find(arn ?? '');
    if (execution) return execution;
    throw new ServiceError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
  }
}

function summaryOf(execution: Execution) {
  const { arn, machine, name, status, startedAt, stoppedAt } = execution;
  return {
    executionArn: arn,
    stateMachineArn: machine.arn,
    name,
    status,
    startDate: new Date(startedAt),
    ...(stoppedAt !== undefined && { stopDate: new Date(stoppedAt) }),
  };
}

function inputOf(text: string | undefined): Json {
  if (text === undefined) return {};
  if (isTooLong(text)) {
    throw new ServiceError(
      'InvalidExecutionInput',
      'Invalid State Machine Execution Input: longer than 262144 bytes',
    );
  }
  return readJson(text, 'InvalidExecutionInput', 'Invalid State Machine Execution Input');
}

function readJson(text: string, code: string, message: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ServiceError(code, `${message}: '${error instanceof Error ? error.message : String(error)}'`);
  }
}

const isSame = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The model of StartExecution: no white space, brackets, wildcards, special or control characters. */
const FORBIDDEN = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;

function checkName(name: string): void {
  if (name.length < 1 || name.length > 80 || FORBIDDEN.test(name)) {
    throw new ServiceError('InvalidName', `Invalid Name: '${name}'`);
  }
}

function refuseOther(member: string, given: unknown, only: unknown): void {
  if (given !== undefined && given !== only) {
    throw new ServiceError('ValidationException', `${member} = ${String(given)} is not implemented`);
  }
}

/** AWS gives 100 items unless `maxResults` says otherwise, and at most 1,000. A token is the place to go on from. */
function page<T>(
  items: readonly T[],
  {
    maxResults,
    nextToken,
  }: { readonly maxResults?: number | undefined; readonly nextToken?: string | undefined },
): { readonly items: T[]; readonly nextToken: string | undefined } {
  const from = Number(nextToken ?? 0);
  if (!Number.isInteger(from) || from < 0)
    throw new ServiceError('InvalidToken', `Invalid Token: '${nextToken}'`);
  const to = from + Math.min(maxResults || 100, 1000);
  return { items: items.slice(from, to), nextToken: to < items.length ? String(to) : undefined };
}
