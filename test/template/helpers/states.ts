import { isList, isObject, type JsonObject } from '../../../local/stack/json.ts';

/** Every state of a flow, by its name, those of its branches included. */
export function statesOf(flow: JsonObject): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const [name, state] of Object.entries(object(flow.States))) {
    found.set(name, object(state));
    const { Branches = [], ItemProcessor } = object(state);
    for (const inner of [...(isList(Branches) ? Branches : []), ...(ItemProcessor ? [ItemProcessor] : [])])
      for (const [innerName, innerState] of statesOf(object(inner))) found.set(innerName, innerState);
  }
  return found;
}

export const tasksOf = (definition: JsonObject): readonly (readonly [string, JsonObject])[] =>
  [...statesOf(definition)].filter(([, { Type }]) => Type === 'Task');

/** The tasks that invoke a function of ours. */
export const invocationsOf = (definition: JsonObject): readonly (readonly [string, JsonObject])[] =>
  tasksOf(definition).filter(([, { Resource }]) => String(Resource).endsWith(':lambda:invoke'));

/** Its last invocation as the definition is written: where `brokenDefinition` breaks a passage that each of them has. */
export const lastInvocationOf = (definition: JsonObject): string =>
  invocationsOf(definition).at(-1)?.[0] ?? 'no invocation';

/** @throws Error when it is no object */
export function object(value: JsonObject[string] | undefined): JsonObject {
  if (!isObject(value)) throw new Error(`${JSON.stringify(value)} is no object`);
  return value;
}
