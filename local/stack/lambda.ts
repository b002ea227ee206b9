import { uuid } from '../account/uuid.ts';
import type { World } from '../account/world.ts';
import type { Random } from '../clock/random.ts';
import type { Timer } from '../clock/virtual-clock.ts';
import { TaskFailure } from '../states/failure.ts';
import { type Caller, ServiceError } from '../wire/contract.ts';
import { runAs, type Transport } from '../wire/invocation.ts';
import { installProcessConnection } from '../wire/process-connection.ts';
import { actionOf } from '../wire/wire.ts';
import { captureOutput } from './captured-output.ts';
import type { DeployedFunction } from './deployed-template.ts';
import { setEnvironment } from './function-environment.ts';
import { type Code, type Handler, handlerFile, type LambdaContext, loadHandler } from './handlers.ts';
import { createSandbox, type Dies } from './sandbox.ts';

/** Lambda's limit on a request and on an answer: 6 MB, which its error message gives as this number. */
const MAX_PAYLOAD_BYTES = 6_291_556;

export interface Invocation {
  /** The function's logical id. */
  readonly function: string;
  readonly requestId: string;
  readonly event: unknown;
}

/** One run of a function. */
export interface Attempt {
  readonly id: string;
  readonly requestId: string;
}

/** One line that a function wrote. */
export interface LogLine {
  readonly at: number;
  readonly function: string;
  readonly line: string;
}

export interface LambdaSettings {
  readonly world: World;
  readonly functions: ReadonlyMap<string, DeployedFunction>;
  /** The template's folder. */
  readonly directory: string;
  readonly code: Code;
  readonly transport: (caller: Caller) => Transport;
  /** A fault schedule: may an invocation die right before or right after this call of its, `DescribeInstances`? */
  /** Hears of every invocation that has ended. */
  readonly onEnd?: (fn: DeployedFunction, invokedArn: string, failed: boolean) => void;
  /** Hears every line that a function writes. */
  readonly onLine?: (line: string) => void;
  /** A fault schedule: may an invocation die between two of its calls? */
  readonly dies?: (invocation: Invocation, callIndex: number, action: string) => ReturnType<Dies>;
}

/** The simulated Lambda service. Every invocation has a process of its own as far as its calls to AWS can tell. */
export class Lambda {
  readonly logs: LogLine[] = [];
  readonly #settings: LambdaSettings;
  readonly #random: Random;
  readonly #byName: ReadonlyMap<string, DeployedFunction>;
  readonly #handlers = new Map<string, Promise<Handler>>();

  constructor(settings: LambdaSettings) {
    this.#settings = settings;
    this.#random = settings.world.random.fork('lambda');
    const functions = [...settings.functions.values()];
    for (const fn of functions) handlerFile(fn, settings.directory, settings.code);
    setEnvironment(functions, settings.world.region);
    installProcessConnection();
    this.#byName = new Map(
      functions.flatMap(fn =>
        [fn.name, fn.arn, `${fn.arn}:$LATEST`, fn.versionArn, fn.aliasArn].flatMap(name =>
          name ? [[name, fn] as const] : [],
        ),
      ),
    );
  }

  /** @throws ServiceError ResourceNotFoundException */
  find(nameOrArn: string): DeployedFunction {
    const fn = this.#byName.get(nameOrArn);
    if (!fn) throw new ServiceError('ResourceNotFoundException', `Function not found: ${nameOrArn}`, 404);
    return fn;
  }

  /**
   * Runs a function and waits for its answer, as `RequestResponse` does. Payload and answer pass through JSON.
   *
   * @param attempt of an asynchronous invocation, whose retries carry the same request id
   * @throws TaskFailure as Step Functions reports it, when the function throws, dies or runs longer than its Timeout
   * @throws ServiceError ResourceNotFoundException, RequestTooLargeException
   */
  async invoke(nameOrArn: string, payload: unknown, attempt = this.attempt()): Promise<unknown> {
    const fn = this.find(nameOrArn);
    const request = JSON.stringify(payload ?? {});
    if (Buffer.byteLength(request) > MAX_PAYLOAD_BYTES) {
      throw new ServiceError(
        'RequestTooLargeException',
        `Request must be smaller than ${MAX_PAYLOAD_BYTES} bytes for the InvokeFunction operation`,
        413,
      );
    }
    const answer = JSON.stringify((await this.#run(fn, nameOrArn, JSON.parse(request), attempt)) ?? null);
    if (Buffer.byteLength(answer) > MAX_PAYLOAD_BYTES) {
      throw failure(
        'Function.ResponseSizeTooLarge',
        `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`,
      );
    }
    return JSON.parse(answer);
  }

  attempt(requestId?: string): Attempt {
    const id = uuid(this.#random);
    return { id, requestId: requestId ?? id };
  }

  #run(
    fn: DeployedFunction,
    invokedArn: string,
    event: unknown,
    { id, requestId }: Attempt,
  ): Promise<unknown> {
    const { world, transport, dies, onEnd, onLine } = this.#settings;
    const { clock } = world;
    const invocation: Invocation = { function: fn.logicalId, requestId, event };
    const caller: Caller = { kind: 'function', name: fn.logicalId };
    let timer: Timer | undefined;
    const ended = new Promise<unknown>((resolve, reject) => {
      const sandbox = createSandbox(
        transport(caller),
        (callIndex, request) => dies?.(invocation, callIndex, actionOf(request)),
        () => reject(failure('Runtime.ExitError', exited(invocation.requestId))),
      );
      timer = clock.after(fn.timeoutSeconds * 1000, () => {
        sandbox.kill();
        reject(failure('Sandbox.Timedout', timedOut(invocation.requestId, fn.timeoutSeconds)));
      });
      const context = this.#context(fn, invokedArn, invocation.requestId);
      const log = (text: string) => {
        if (!sandbox.alive) return;
        for (const line of text.split('\n')) {
          if (!line) continue;
          this.logs.push({ at: clock.now(), function: fn.logicalId, line });
          onLine?.(line);
        }
      };
      const random = world.random.fork(id);
      captureOutput(log, () =>
        runAs({ caller, world, random, transport: sandbox.transport }, async () =>
          (await this.#handler(fn))(event, context),
        ),
      ).then(resolve, thrown => reject(asFailure(thrown)));
    });
    ended.then(
      () => onEnd?.(fn, invokedArn, false),
      () => onEnd?.(fn, invokedArn, true),
    );
    return ended.finally(() => timer?.cancel());
  }

  #handler(fn: DeployedFunction): Promise<Handler> {
    const known = this.#handlers.get(fn.logicalId);
    if (known) return known;
    const { world, directory, code } = this.#settings;
    const loading = world.clock.hold(loadHandler(handlerFile(fn, directory, code), fn.handler));
    this.#handlers.set(fn.logicalId, loading);
    return loading;
  }

  #context(fn: DeployedFunction, invokedArn: string, requestId: string): LambdaContext {
    const { clock } = this.#settings.world;
    const deadline = clock.now() + fn.timeoutSeconds * 1000;
    const qualified = invokedArn === fn.versionArn || invokedArn === fn.aliasArn;
    return {
      callbackWaitsForEmptyEventLoop: true,
      functionName: fn.name,
      functionVersion: (qualified ? fn.versionArn?.split(':').at(-1) : undefined) ?? '$LATEST',
      invokedFunctionArn: invokedArn === fn.name ? fn.arn : invokedArn,
      memoryLimitInMB: String(fn.memoryMegabytes),
      awsRequestId: requestId,
      logGroupName: `/aws/lambda/${fn.name}`,
      logStreamName: 'local',
      getRemainingTimeInMillis: () => deadline - clock.now(),
    };
  }
}

const exited = (requestId: string) =>
  `RequestId: ${requestId} Error: Runtime exited without providing a reason`;

const timedOut = (requestId: string, seconds: number) =>
  `RequestId: ${requestId} Error: Task timed out after ${seconds.toFixed(2)} seconds`;

function failure(errorType: string, errorMessage: string, trace: readonly string[] = []): TaskFailure {
  return new TaskFailure(errorType, JSON.stringify({ errorType, errorMessage, trace }));
}

/** As the Node runtime reports what a handler throws, errors or not. */
const asFailure = (thrown: unknown): TaskFailure =>
  thrown instanceof Error
    ? failure(thrown.name, thrown.message, thrown.stack?.split('\n'))
    : failure(typeof thrown, String(thrown));
