import type { Json } from './json.ts';
import { isObject } from './json.ts';
import type { Kind } from './template.ts';

const JSONPATH = 'belongs to JSONPath, which is not implemented';
const MISSING = 'is not implemented';

/** Fields that Step Functions knows and this runner does not. */
const unimplemented: Readonly<Record<string, string>> = {
  CausePath: JSONPATH,
  ErrorPath: JSONPATH,
  HeartbeatSecondsPath: JSONPATH,
  InputPath: JSONPATH,
  ItemsPath: JSONPATH,
  MaxConcurrencyPath: JSONPATH,
  OutputPath: JSONPATH,
  Parameters: JSONPATH,
  Result: JSONPATH,
  ResultPath: JSONPATH,
  ResultSelector: JSONPATH,
  SecondsPath: JSONPATH,
  TimeoutSecondsPath: JSONPATH,
  TimestampPath: JSONPATH,
  ToleratedFailureCountPath: JSONPATH,
  ToleratedFailurePercentagePath: JSONPATH,
  Variable: JSONPATH,
  Credentials: MISSING,
  ItemBatcher: MISSING,
  ItemReader: MISSING,
  Iterator: 'is deprecated: use ItemProcessor',
  Label: MISSING,
  ResultWriter: MISSING,
};

/** One JSON object of a definition, read field by field; what nobody reads is a problem. */
export class Fields {
  /** Where the object stands, for messages. */
  readonly where: string;
  readonly #problems: string[];
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();

  constructor(value: unknown, where: string, problems: string[]) {
    this.where = where;
    this.#problems = problems;
    this.#members = isObject(value) ? value : {};
    if (!isObject(value)) this.problem('must be an object');
  }

  problem(what: string): void {
    this.#problems.push(`${this.where}: ${what}`);
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  take(name: string): unknown {
    this.#read.add(name);
    return this.#members[name];
  }

  /** A field that takes no JSONata. */
  plain<T extends Json>(name: string, kind: Kind<T>): T | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (kind.accepts(value) && !isQuery(value)) return value;
    this.problem(`${name} must be ${kind.words} and takes no JSONata, but is ${JSON.stringify(value)}`);
    return undefined;
  }

  required<T extends Json>(name: string, kind: Kind<T>): T | undefined {
    if (!this.has(name)) this.problem(`${name} is missing`);
    return this.plain(name, kind);
  }

  /** The objects of an array; `least` of them are required. */
  list(name: string, least = 0): readonly Fields[] {
    const value = this.take(name) ?? [];
    if (Array.isArray(value) && value.length >= least) {
      return value.map((item, index) => new Fields(item, `${this.where}, ${name}[${index}]`, this.#problems));
    }
    this.problem(`${name} must be an array${least > 0 ? ' that is not empty' : ''}`);
    return [];
  }

  object(name: string): Fields {
    return new Fields(this.take(name), `${this.where}, ${name}`, this.#problems);
  }

  /** The members of an object whose names are data, such as States and Assign. */
  entries(name: string): readonly (readonly [string, unknown])[] {
    const value = this.take(name);
    if (isObject(value)) return Object.entries(value);
    this.problem(`${name} must be an object`);
    return [];
  }

  /** To be called last. */
  refuseTheRest(): void {
    for (const name of Object.keys(this.#members)) {
      if (!this.#read.has(name)) {
        this.problem(`the field ${name} ${unimplemented[name] ?? 'is not one that may stand here'}`);
      }
    }
  }
}

const isQuery = (value: unknown): boolean => typeof value === 'string' && value.startsWith('{%');
