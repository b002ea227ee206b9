import type { Json } from './json.ts';
import type { TaskResource } from './resource.ts';
import type { Field, Template } from './template.ts';

/** What a state, a Choice Rule or a Catcher leaves behind. Without `output` the default output stays; without `next` it ends. */
export interface Leave {
  readonly output: Template | undefined;
  readonly assign: ReadonlyMap<string, Template> | undefined;
  readonly next: string | undefined;
}

export interface Retrier {
  readonly errorEquals: readonly string[];
  readonly intervalSeconds: number;
  readonly maxAttempts: number;
  readonly backoffRate: number;
  readonly maxDelaySeconds: number;
  readonly jitter: 'FULL' | 'NONE';
}

export interface Catcher {
  readonly errorEquals: readonly string[];
  readonly leave: Leave;
}

interface Recoverable {
  readonly retriers: readonly Retrier[];
  readonly catchers: readonly Catcher[];
}

export interface PassState {
  readonly type: 'Pass' | 'Succeed';
  readonly name: string;
  readonly leave: Leave;
}

export interface FailState {
  readonly type: 'Fail';
  readonly name: string;
  readonly error: Field<string> | undefined;
  readonly cause: Field<string> | undefined;
}

export interface WaitState {
  readonly type: 'Wait';
  readonly name: string;
  readonly seconds: Field<number> | undefined;
  readonly timestamp: Field<string> | undefined;
  readonly leave: Leave;
}

export interface ChoiceState {
  readonly type: 'Choice';
  readonly name: string;
  readonly rules: readonly { readonly condition: Field<boolean>; readonly leave: Leave }[];
  /** Taken when no rule matches; undefined without a Default. */
  readonly otherwise: Leave | undefined;
}

export interface TaskState extends Recoverable {
  readonly type: 'Task';
  readonly name: string;
  readonly resource: TaskResource;
  readonly args: Template | undefined;
  readonly timeoutSeconds: Field<number> | undefined;
  readonly heartbeatSeconds: Field<number> | undefined;
  readonly leave: Leave;
}

export interface ParallelState extends Recoverable {
  readonly type: 'Parallel';
  readonly name: string;
  readonly args: Template | undefined;
  readonly branches: readonly Flow[];
  readonly leave: Leave;
}

export interface MapState extends Recoverable {
  readonly type: 'Map';
  readonly name: string;
  /** Undefined: the state input. */
  readonly items: Field<readonly Json[]> | undefined;
  readonly itemSelector: Template | undefined;
  readonly maxConcurrency: Field<number> | undefined;
  readonly toleratedFailureCount: Field<number> | undefined;
  readonly toleratedFailurePercentage: Field<number> | undefined;
  readonly processor: Flow;
  readonly leave: Leave;
}

export type RecoverableState = TaskState | ParallelState | MapState;
export type State = PassState | FailState | WaitState | ChoiceState | RecoverableState;

/** A `States` field with its `StartAt`: a machine, a branch, or an ItemProcessor. */
export interface Flow {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, State>;
}

export interface CompiledMachine {
  readonly flow: Flow;
  readonly timeoutSeconds: number | undefined;
}
