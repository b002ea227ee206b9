import { compileState } from './compile-states.ts';
import type { CompiledMachine, Flow, Leave, State } from './definition.ts';
import { DefinitionRefused } from './failure.ts';
import { Fields } from './fields.ts';
import { Scope } from './scope.ts';
import { kinds } from './template.ts';

/** A service quota: "Maximum state machine definition size". */
const LONGEST_DEFINITION_BYTES = 1_048_576;

/**
 * Reads a definition in the Amazon States Language with the JSONata query language.
 *
 * @throws DefinitionRefused with every problem, among them whatever this runner does not implement
 */
export function compileMachine(definition: unknown): CompiledMachine {
  const problems: string[] = [];
  const fields = new Fields(definition, 'the state machine', problems);
  if (Buffer.byteLength(JSON.stringify(definition) ?? '') > LONGEST_DEFINITION_BYTES) {
    fields.problem('the definition is longer than 1 MB');
  }
  if (fields.required('QueryLanguage', kinds.string) !== 'JSONata') {
    fields.problem('only QueryLanguage JSONata is implemented, and it must be named');
  }
  fields.plain('Comment', kinds.string);
  if ((fields.plain('Version', kinds.string) ?? '1.0') !== '1.0') fields.problem('only Version 1.0 exists');
  const timeoutSeconds = fields.plain('TimeoutSeconds', kinds.positiveInteger);
  const scope = new Scope();
  const flow = new FlowReader(problems).read(fields, scope);
  problems.push(...scope.problems());
  if (problems.length > 0) throw new DefinitionRefused(problems);
  return { flow, timeoutSeconds };
}

/** Reads `States` fields, of the machine and of its branches. */
class FlowReader {
  readonly #problems: string[];
  /** State names are unique in the whole machine. */
  readonly #names = new Set<string>();

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  read(fields: Fields, scope: Scope): Flow {
    const startAt = fields.required('StartAt', kinds.string) ?? '';
    const states = new Map<string, State>();
    for (const [name, value] of fields.entries('States')) {
      const state = new Fields(value, `state '${name}'`, this.#problems);
      if (this.#names.has(name)) state.problem('another state of the machine has this name');
      if ([...name].length > 80) state.problem('the name is longer than 80 characters');
      this.#names.add(name);
      const inner = (branch: Fields) => this.read(branch, new Scope(scope));
      states.set(name, compileState({ name, fields: state, scope, flow: inner }));
    }
    if (fields.has('Comment')) fields.plain('Comment', kinds.string);
    fields.refuseTheRest();
    this.#follow(fields, startAt, states);
    return { startAt, states };
  }

  /** Every target exists, and every state can be reached. */
  #follow(fields: Fields, startAt: string, states: ReadonlyMap<string, State>): void {
    if (!states.has(startAt)) fields.problem(`StartAt names '${startAt}', which is not one of its States`);
    const reached = new Set([startAt]);
    for (const name of reached) {
      const state = states.get(name);
      for (const { next } of state ? waysOut(state) : []) {
        if (next === undefined) continue;
        if (!states.has(next))
          this.#problems.push(`state '${name}': there is no state '${next}' beside it to go to`);
        reached.add(next);
      }
    }
    for (const name of states.keys()) {
      if (!reached.has(name)) this.#problems.push(`state '${name}': no transition leads to it`);
    }
  }
}

function waysOut(state: State): readonly Leave[] {
  switch (state.type) {
    case 'Fail':
      return [];
    case 'Choice':
      return [...state.rules.map(rule => rule.leave), ...(state.otherwise ? [state.otherwise] : [])];
    case 'Task':
    case 'Parallel':
    case 'Map':
      return [state.leave, ...state.catchers.map(catcher => catcher.leave)];
    default:
      return [state.leave];
  }
}
