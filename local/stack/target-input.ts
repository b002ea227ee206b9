import type { TargetInput } from './deployed-template.ts';
import { isList, isObject, type Json } from './json.ts';

/**
 * What a rule's target receives for `event`.
 *
 * @throws Error when a template leaves invalid JSON, or a variable outside quotes has no value: EventBridge drops such
 * events, which nobody wants to find out in production
 */
export function shapeInput(input: TargetInput, event: Json): Json {
  switch (input.kind) {
    case 'event':
      return event;
    case 'constant':
      return input.value;
    case 'path':
      return at(event, input.path) ?? null;
    case 'transformer':
      return transform(input, event);
  }
}

/** The variables that a template names. */
export const variablesOf = (template: string): readonly string[] =>
  [...template.matchAll(VARIABLE)].map(([, name = '']) => name);

/** `$`, `$.detail.instance`, `$.resources[0]`. */
export const isSimplePath = (path: string): boolean => /^\$(\.[\w-]+|\[\d+\])*$/.test(path);

const VARIABLE = /<([\w.-]+)>/g;

/** A JSON string, or a variable outside of one. */
const STRING_OR_VARIABLE = /"(?:[^"\\]|\\.)*"|<[\w.-]+>/g;

function transform({ paths, template }: TargetInput & { kind: 'transformer' }, event: Json): Json {
  const lookUp = (name: string): Json | undefined => at(event, paths[name] ?? '');
  const text = template.replace(STRING_OR_VARIABLE, part => {
    if (part.startsWith('"')) return part.replace(VARIABLE, (_, name: string) => inString(lookUp(name)));
    const value = lookUp(part.slice(1, -1));
    if (value === undefined) throw new Error(`the event has no value for ${part} of the input template`);
    return JSON.stringify(value);
  });
  return JSON.parse(text);
}

/** A value as it stands between the quotes of a JSON string; a missing one leaves nothing. */
const inString = (value: Json | undefined): string =>
  value === undefined
    ? ''
    : JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value)).slice(1, -1);

function at(event: Json, path: string): Json | undefined {
  let value: Json | undefined = event;
  for (const [, member, place] of path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)) {
    if (member !== undefined) value = isObject(value) ? value[member] : undefined;
    else value = isList(value) ? value[Number(place)] : undefined;
  }
  return value;
}
