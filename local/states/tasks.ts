import type { Execution } from './execution.ts';
import type { Json } from './json.ts';
import type { TaskResource } from './resource.ts';

/** One piece of work that a Task state asks for. */
export interface TaskRequest {
  readonly resource: TaskResource;
  /** The Arguments, evaluated. Nothing else holds them. */
  readonly args: Json;
  readonly execution: Execution;
  /** The state's name. */
  readonly state: string;
  /**
   * Aborted when nobody waits for the answer any more. As on AWS this is no reason to stop: "Running Lambda functions
   * cannot be stopped" (AWS's guide on Parallel states).
   */
  readonly signal: AbortSignal;
}

/** Whatever does the work of Task states. */
export interface Tasks {
  /**
   * Resolves with the state's result: `{ ExecutedVersion, Payload, StatusCode }` for `lambda:invoke`, the payload for a
   * function's ARN, the API's output for `aws-sdk`. With `.waitForTaskToken` the answer only says that the work began.
   * Rejects with TaskFailure; any other error is a fault of the simulation and ends it.
   */
  run(request: TaskRequest): Promise<unknown>;
}
