import { InvalidInput, type Member, type Shape, type Structure } from './shapes.ts';

/**
 * AWS JSON's values and the SDK's: a blob is base64 text and a Uint8Array, a timestamp seconds since the epoch and a
 * Date. DynamoDB's attribute values need nothing more: `{ "B": "AAE=" }`, `{ "NULL": true }`, `{ "N": "1.5" }`,
 * `{ "L": [..] }` and `{ "M": {..} }` are members of one union, whose numbers are strings on both sides.
 */

/** @throws InvalidInput */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new InvalidInput('malformed', 'The body is not JSON.');
  }
}

/** @throws InvalidInput for unknown, missing and malformed members */
export function readJsonInput(shape: Structure, value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new InvalidInput('malformed', `${shape.name} must be an object.`);
  const input: Record<string, unknown> = {};
  for (const [name, held] of Object.entries(value)) {
    const member = shape.members.get(name);
    if (!member) throw new InvalidInput('unknown', `${shape.name} has no member ${name}.`);
    // AWS JSON takes null as absent.
    if (held !== null) input[name] = read(member.shape, held, member);
  }
  shape.check(input);
  return input;
}

function read(shape: Shape, value: unknown, member: Member): unknown {
  switch (shape.kind) {
    case 'string':
    case 'boolean':
    case 'number':
      if (typeof value === shape.kind) return value;
      break;
    case 'timestamp':
      if (typeof value === 'number') return new Date(Math.round(value * 1000));
      break;
    case 'blob':
      if (typeof value === 'string') return Uint8Array.from(Buffer.from(value, 'base64'));
      break;
    case 'list':
      if (Array.isArray(value)) return value.map(item => read(shape.item, item, member));
      break;
    case 'map':
      if (!isObject(value)) break;
      return Object.fromEntries(
        Object.entries(value).map(([key, held]) => [key, read(shape.value, held, member)]),
      );
    case 'structure':
      return readJsonInput(shape, value);
  }
  throw new InvalidInput('malformed', `${member.path} must be a ${shape.kind}.`);
}

/** @throws Error when the value does not fit its shape: a mistake in the simulated service */
export function toJson(shape: Structure, value: object): object {
  const json: Record<string, unknown> = {};
  for (const [name, held] of Object.entries(value)) {
    if (held === undefined || name === '$metadata') continue;
    const member = shape.members.get(name);
    if (!member) throw new Error(`${shape.name} has no member ${name}`);
    json[name] = write(member.shape, held, member);
  }
  return json;
}

function write(shape: Shape, value: unknown, member: Member): unknown {
  switch (shape.kind) {
    case 'string':
    case 'boolean':
      if (typeof value === shape.kind) return value;
      break;
    case 'number':
      // JSON itself has no NaN and no infinity.
      if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
      break;
    case 'timestamp':
      if (value instanceof Date) return value.getTime() / 1000;
      break;
    case 'blob':
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
      break;
    case 'list':
      if (Array.isArray(value)) return value.map(item => write(shape.item, item, member));
      break;
    case 'map':
      if (!isObject(value)) break;
      return Object.fromEntries(
        Object.entries(value).map(([key, held]) => [key, write(shape.value, held, member)]),
      );
    case 'structure':
      if (isObject(value)) return toJson(shape, value);
      break;
  }
  throw new Error(`${member.path} must be a ${shape.kind}, not ${String(value)}`);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
