import { createHash } from 'node:crypto';
import { uuid } from '../account/uuid.ts';
import { Random } from '../clock/random.ts';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import { parseJson } from './json.ts';

/** The functions of JSONata 2.0.6 that Step Functions has, by name without `$`. */
export const builtInFunctions: ReadonlySet<string> = new Set(
  (
    'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad ' +
    'match contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round ' +
    'abs sqrt power random boolean not map zip filter single reduce sift keys lookup append exists spread merge ' +
    'reverse each error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl ' +
    'decodeUrlComponent decodeUrl toMillis fromMillis clone now millis partition range hash uuid parse'
  ).split(' '),
);

const algorithms: Readonly<Record<string, string>> = {
  MD5: 'md5',
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

/** The specification's limit for States.ArrayRange, which `$range` replaces. */
const LONGEST_RANGE = 1000;

const wholeNumber = (value: unknown, what: string): number => {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new TypeError(`${what} must be an integer`);
};

/** What Step Functions adds to JSONata and that depends on its arguments alone. */
export const addedFunctions = {
  partition(array: unknown, size: unknown): unknown[] {
    if (!Array.isArray(array)) throw new TypeError("$partition's first argument must be an array");
    const step = wholeNumber(size, "$partition's second argument");
    if (step < 1) throw new RangeError("$partition's second argument must be positive");
    return Array.from({ length: Math.ceil(array.length / step) }, (_, part) =>
      array.slice(part * step, (part + 1) * step),
    );
  },
  range(first: unknown, last: unknown, delta: unknown): number[] {
    const from = wholeNumber(first, "$range's first argument");
    const by = wholeNumber(delta, "$range's third argument");
    const span = wholeNumber(last, "$range's second argument") - from;
    if (by === 0) throw new RangeError("$range's third argument must not be zero");
    const length = Math.max(0, Math.floor(span / by) + 1);
    if (length > LONGEST_RANGE) throw new RangeError(`$range makes at most ${LONGEST_RANGE} items`);
    return Array.from({ length }, (_, index) => from + index * by);
  },
  hash(data: unknown, algorithm: unknown): string {
    const name = algorithms[String(algorithm)];
    if (!name) throw new RangeError(`$hash needs one of ${Object.keys(algorithms).join(', ')}`);
    return createHash(name)
      .update(typeof data === 'string' ? data : JSON.stringify(data))
      .digest('hex');
  },
  parse(text: unknown): unknown {
    if (typeof text !== 'string') throw new TypeError('$parse needs a string');
    return parseJson(text);
  },
} as const;

/** The functions whose answers depend on the world, as bindings for an evaluation. */
export function worldFunctions(clock: VirtualClock, random: Random): Readonly<Record<string, unknown>> {
  return {
    now: () => clock.date().toISOString(),
    millis: () => clock.now(),
    random: (seed: unknown) =>
      seed === undefined ? random.next() : new Random(wholeNumber(seed, "$random's argument")).next(),
    uuid: () => uuid(random),
    shuffle: (array: unknown) => shuffled(Array.isArray(array) ? array : [array], random),
  };
}

function shuffled(array: readonly unknown[], random: Random): unknown[] {
  const result: unknown[] = [];
  for (const item of array) {
    const place = random.whole(0, result.length);
    result.push(result[place]);
    result[place] = item;
  }
  return result;
}
