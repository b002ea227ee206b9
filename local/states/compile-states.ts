import { TemplateReader } from './compile-template.ts';
import type {
  Catcher,
  ChoiceState,
  FailState,
  Flow,
  Leave,
  MapState,
  ParallelState,
  PassState,
  Retrier,
  State,
  TaskState,
  WaitState,
} from './definition.ts';
import { predefinedErrors } from './failure.ts';
import type { Fields } from './fields.ts';
import { parseResource } from './resource.ts';
import type { Reach, Scope } from './scope.ts';
import { kinds, type Template } from './template.ts';

/** Where a state stands while it is read. */
export interface Surroundings {
  readonly name: string;
  readonly fields: Fields;
  readonly scope: Scope;
  /** Reads a branch or an ItemProcessor, a scope of its own. */
  readonly flow: (fields: Fields) => Flow;
}

/** Reads one state. Problems go to the fields; the state that is returned then is never run. */
export function compileState(around: Surroundings): State {
  const { fields } = around;
  const type = fields.required('Type', kinds.string);
  fields.plain('Comment', kinds.string);
  const language = fields.plain('QueryLanguage', kinds.string);
  if (language !== undefined && language !== 'JSONata')
    fields.problem('only QueryLanguage JSONata is implemented');
  const state = readers[type ?? '']?.(around);
  if (!state) {
    if (type !== undefined) fields.problem(`${type} is not a state type`);
    return { type: 'Fail', name: around.name, error: undefined, cause: undefined };
  }
  fields.refuseTheRest();
  return state;
}

const readers: Readonly<Record<string, (around: Surroundings) => State>> = {
  Pass: around => pass(around),
  Succeed: around => succeed(around),
  Fail: around => fail(around),
  Wait: around => wait(around),
  Choice: around => choice(around),
  Task: around => task(around),
  Parallel: around => parallel(around),
  Map: around => map(around),
};

const pass = (around: Surroundings): PassState => ({
  type: 'Pass',
  name: around.name,
  leave: leaveByNextOrEnd(around, 'entry'),
});

function succeed({ name, fields, scope }: Surroundings): PassState {
  const output = new TemplateReader(fields, scope).any('Output');
  return { type: 'Succeed', name, leave: { output, assign: undefined, next: undefined } };
}

function fail({ name, fields, scope }: Surroundings): FailState {
  const read = new TemplateReader(fields, scope);
  return {
    type: 'Fail',
    name,
    error: read.typed('Error', kinds.string),
    cause: read.typed('Cause', kinds.string),
  };
}

function wait(around: Surroundings): WaitState {
  const read = new TemplateReader(around.fields, around.scope);
  const seconds = read.typed('Seconds', kinds.nonNegativeInteger);
  const timestamp = read.typed('Timestamp', kinds.timestamp);
  if ((seconds === undefined) === (timestamp === undefined)) {
    around.fields.problem('exactly one of Seconds and Timestamp is needed');
  }
  return { type: 'Wait', name: around.name, seconds, timestamp, leave: leaveByNextOrEnd(around, 'entry') };
}

function choice({ name, fields, scope }: Surroundings): ChoiceState {
  const rules = fields.list('Choices', 1).flatMap(rule => {
    rule.plain('Comment', kinds.string);
    if (!rule.has('Condition')) rule.problem('Condition is missing');
    const condition = new TemplateReader(rule, scope).typed('Condition', kinds.boolean);
    const leave = leaveTo(rule, scope, 'entry', rule.required('Next', kinds.string));
    rule.refuseTheRest();
    return condition ? [{ condition, leave }] : [];
  });
  const otherwise = fields.plain('Default', kinds.string);
  const leave = leaveTo(fields, scope, 'entry', otherwise);
  if (otherwise === undefined && (leave.output || leave.assign)) {
    fields.problem('Output and Assign of a Choice state are used with Default only');
  }
  return { type: 'Choice', name, rules, otherwise: otherwise === undefined ? undefined : leave };
}

function task(around: Surroundings): TaskState {
  const { name, fields, scope } = around;
  const arn = fields.required('Resource', kinds.string) ?? '';
  const resource = parseResource(arn);
  if (!resource && arn !== '') fields.problem(`the Resource ${arn} is not implemented`);
  const read = new TemplateReader(fields, scope);
  if (fields.has('HeartbeatSeconds')) {
    if (resource?.waitsForToken === false) {
      fields.problem(
        'HeartbeatSeconds is implemented for .waitForTaskToken only: nothing else sends heartbeats',
      );
    }
    const [heartbeat, timeout] = [fields.take('HeartbeatSeconds'), fields.take('TimeoutSeconds')];
    if (typeof heartbeat === 'number' && typeof timeout === 'number' && heartbeat >= timeout) {
      fields.problem('HeartbeatSeconds must be smaller than TimeoutSeconds');
    }
  }
  return {
    type: 'Task',
    name,
    resource: resource ?? { kind: 'function', arn, waitsForToken: false },
    args: read.any('Arguments'),
    timeoutSeconds: read.typed('TimeoutSeconds', kinds.positiveInteger),
    heartbeatSeconds: read.typed('HeartbeatSeconds', kinds.positiveInteger),
    ...recovery(fields, scope),
    leave: leaveByNextOrEnd(around, 'result'),
  };
}

function parallel(around: Surroundings): ParallelState {
  const { name, fields, scope, flow } = around;
  return {
    type: 'Parallel',
    name,
    args: new TemplateReader(fields, scope).any('Arguments'),
    branches: fields.list('Branches', 1).map(flow),
    ...recovery(fields, scope),
    leave: leaveByNextOrEnd(around, 'result'),
  };
}

function map(around: Surroundings): MapState {
  const { name, fields, scope, flow } = around;
  const read = new TemplateReader(fields, scope);
  const processor = fields.object('ItemProcessor');
  if (processor.has('ProcessorConfig')) {
    const config = processor.object('ProcessorConfig');
    const mode = config.plain('Mode', kinds.string);
    if (mode !== undefined && mode !== 'INLINE') config.problem(`Mode ${mode} is not implemented`);
    config.refuseTheRest();
  }
  return {
    type: 'Map',
    name,
    items: read.typed('Items', kinds.array),
    itemSelector: read.any('ItemSelector'),
    maxConcurrency: read.typed('MaxConcurrency', kinds.nonNegativeInteger),
    toleratedFailureCount: read.typed('ToleratedFailureCount', kinds.nonNegativeInteger),
    toleratedFailurePercentage: read.typed('ToleratedFailurePercentage', kinds.percentage),
    processor: flow(processor),
    ...recovery(fields, scope),
    leave: leaveByNextOrEnd(around, 'result'),
  };
}

function leaveByNextOrEnd({ fields, scope }: Surroundings, reach: Reach): Leave {
  const next = fields.plain('Next', kinds.string);
  const end = fields.plain('End', kinds.boolean) ?? false;
  if ((next !== undefined) === end) fields.problem('exactly one of Next and "End": true is needed');
  return leaveTo(fields, scope, reach, next);
}

function leaveTo(fields: Fields, scope: Scope, reach: Reach, next: string | undefined): Leave {
  const read = new TemplateReader(fields, scope, reach);
  return { output: read.any('Output'), assign: assignment(fields, scope, read), next };
}

function assignment(
  fields: Fields,
  scope: Scope,
  read: TemplateReader,
): ReadonlyMap<string, Template> | undefined {
  if (!fields.has('Assign')) return undefined;
  const assigned = new Map<string, Template>();
  for (const [variable, value] of fields.entries('Assign')) {
    if (variable === 'states') fields.problem('Assign: the variable states is reserved');
    if (!/^\p{ID_Start}\p{ID_Continue}*$/u.test(variable) || [...variable].length > 80) {
      fields.problem(`Assign: ${variable} is not an identifier of at most 80 characters`);
    }
    scope.assign(variable, fields.where);
    assigned.set(variable, read.template(value, `Assign/${variable}`));
  }
  return assigned;
}

function recovery(
  fields: Fields,
  scope: Scope,
): { readonly retriers: readonly Retrier[]; readonly catchers: readonly Catcher[] } {
  const retriers = fields.list('Retry');
  const catchers = fields.list('Catch');
  return {
    retriers: retriers.map((item, index) => retrier(item, index === retriers.length - 1)),
    catchers: catchers.map((item, index) => {
      item.plain('Comment', kinds.string);
      const errors = errorEquals(item, index === catchers.length - 1);
      const leave = leaveTo(item, scope, 'errorOutput', item.required('Next', kinds.string));
      item.refuseTheRest();
      return { errorEquals: errors, leave };
    }),
  };
}

function retrier(fields: Fields, isLast: boolean): Retrier {
  fields.plain('Comment', kinds.string);
  const jitter = fields.plain('JitterStrategy', kinds.string) ?? 'NONE';
  if (jitter !== 'FULL' && jitter !== 'NONE') fields.problem('JitterStrategy must be FULL or NONE');
  const result: Retrier = {
    errorEquals: errorEquals(fields, isLast),
    intervalSeconds: fields.plain('IntervalSeconds', kinds.positiveInteger) ?? 1,
    maxAttempts: fields.plain('MaxAttempts', kinds.nonNegativeInteger) ?? 3,
    backoffRate: fields.plain('BackoffRate', kinds.backoffRate) ?? 2,
    maxDelaySeconds: fields.plain('MaxDelaySeconds', kinds.positiveInteger) ?? Number.POSITIVE_INFINITY,
    jitter: jitter === 'FULL' ? 'FULL' : 'NONE',
  };
  if (result.maxDelaySeconds < result.intervalSeconds) {
    fields.problem('MaxDelaySeconds must not be smaller than IntervalSeconds');
  }
  fields.refuseTheRest();
  return result;
}

function errorEquals(fields: Fields, isLast: boolean): readonly string[] {
  const names = fields.required('ErrorEquals', kinds.array) ?? [];
  const errors = names.filter(name => typeof name === 'string');
  if (errors.length === 0 || errors.length < names.length) {
    fields.problem('ErrorEquals must be an array of strings that is not empty');
  }
  for (const error of errors) {
    if (error.startsWith('{%')) fields.problem('ErrorEquals takes no JSONata');
    if (error.startsWith('States.') && !predefinedErrors.has(error)) {
      fields.problem(`${error} is not a predefined Error Name`);
    }
  }
  if (errors.includes('States.ALL') && (errors.length > 1 || !isLast)) {
    fields.problem('States.ALL must stand alone, and last');
  }
  return errors;
}
