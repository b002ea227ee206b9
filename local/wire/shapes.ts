import { NormalizedSchema } from '@smithy/core/schema';
import type { $SchemaRef, StaticErrorSchema, StaticOperationSchema } from '@smithy/types';
import type { Service } from './contract.ts';

/** The shapes that a client's schemas describe, with the names that they have on the wire. */
export type Shape =
  | Structure
  | List
  | Mapping
  | { readonly kind: 'string' | 'number' | 'boolean' | 'timestamp' | 'blob' };

export interface List {
  readonly kind: 'list';
  readonly item: Shape;
  /** The element around each item; in AWS Query requests the part of the key before the item's number. */
  readonly itemElement: string;
}

export interface Mapping {
  readonly kind: 'map';
  readonly value: Shape;
  readonly keyElement: string;
  readonly valueElement: string;
}

export interface Member {
  readonly name: string;
  /** For messages: `TargetDescription.Port`. */
  readonly path: string;
  readonly requestKey: string;
  readonly element: string;
  readonly shape: Shape;
}

interface StructureSource {
  readonly name: string;
  readonly isUnion: boolean;
  /** How many of the first members a value must have. */
  readonly requiredCount: number;
  readonly members: () => readonly Member[];
}

/** A structure, or a union of which one member is given. Members are found at first use: structures may nest in themselves. */
export class Structure {
  readonly kind = 'structure';
  readonly name: string;
  readonly isUnion: boolean;
  readonly #source: StructureSource;
  #members: ReadonlyMap<string, Member> | undefined;
  #byRequestKey: ReadonlyMap<string, Member> | undefined;
  #required: readonly Member[] | undefined;

  constructor(source: StructureSource) {
    this.name = source.name;
    this.isUnion = source.isUnion;
    this.#source = source;
  }

  get members(): ReadonlyMap<string, Member> {
    this.#members ??= new Map(this.#source.members().map(member => [member.name, member]));
    return this.#members;
  }

  get byRequestKey(): ReadonlyMap<string, Member> {
    this.#byRequestKey ??= new Map([...this.members.values()].map(member => [member.requestKey, member]));
    return this.#byRequestKey;
  }

  get required(): readonly Member[] {
    this.#required ??= [...this.members.values()].slice(0, this.#source.requiredCount);
    return this.#required;
  }

  /** @throws InvalidInput when `value` lacks a required member, or is not one member of a union */
  check(value: Readonly<Record<string, unknown>>): void {
    for (const { name, path } of this.required) {
      if (value[name] === undefined) throw new InvalidInput('missing', `${path} is required.`);
    }
    if (this.isUnion && Object.keys(value).length !== 1) {
      throw new InvalidInput('malformed', `${this.name} must have one member.`);
    }
  }
}

/** What is wrong with a request; each protocol has its own error codes for it. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  readonly problem: 'unknown' | 'missing' | 'malformed';

  constructor(problem: InvalidInput['problem'], message: string) {
    super(message);
    this.problem = problem;
  }
}

export interface OperationShapes {
  readonly action: string;
  readonly input: Structure;
  readonly output: Structure;
}

/** An error that a client models, with the schema whose traits say how it looks on the wire. */
export interface ErrorShape {
  readonly name: string;
  readonly shape: Structure;
  readonly schema: NormalizedSchema;
}

const byClient = new WeakMap<object, ClientShapes>();

/** The shapes of a service's client, the same for every account in this process: a client speaks one protocol. */
export function shapesOf(service: Pick<Service, 'client' | 'protocol'>): ClientShapes {
  const shapes = byClient.get(service.client) ?? new ClientShapes(service);
  byClient.set(service.client, shapes);
  return shapes;
}

/** The shapes of one client's operations and errors, each worked out once. */
class ClientShapes {
  readonly #client: object;
  readonly #usesEc2Keys: boolean;
  readonly #structures = new WeakMap<object, Structure>();
  #errors: readonly ErrorShape[] | undefined;

  constructor({ client, protocol }: Pick<Service, 'client' | 'protocol'>) {
    this.#client = client;
    this.#usesEc2Keys = protocol.kind === 'ec2-query';
  }

  /** @returns undefined when the client knows no such operation */
  operation(action: string): OperationShapes | undefined {
    const schema: unknown = Reflect.get(this.#client, `${action}$`);
    if (!isOperationSchema(schema)) return undefined;
    return { action, input: this.#message(schema[4]), output: this.#message(schema[5]) };
  }

  get errors(): readonly ErrorShape[] {
    this.#errors ??= Object.values(this.#client)
      .filter(isErrorSchema)
      .map(schema => ({
        name: schema[2],
        shape: this.#message(schema),
        schema: NormalizedSchema.of(schema),
      }));
    return this.#errors;
  }

  #message(ref: $SchemaRef): Structure {
    const schema = NormalizedSchema.of(ref);
    if (schema.isUnitSchema()) return noMembers;
    const shape = this.#shape(schema);
    if (shape.kind !== 'structure') throw new Error(`${schema.getName()} is not a structure`);
    return shape;
  }

  #shape(schema: NormalizedSchema): Shape {
    if (schema.isStructSchema()) return this.#structure(schema);
    if (schema.isListSchema()) {
      const item = schema.getValueSchema();
      const itemElement = item.getMergedTraits().xmlName ?? 'member';
      return { kind: 'list', item: this.#shape(item), itemElement };
    }
    if (schema.isMapSchema()) {
      const value = schema.getValueSchema();
      return {
        kind: 'map',
        value: this.#shape(value),
        keyElement: schema.getKeySchema().getMergedTraits().xmlName ?? 'key',
        valueElement: value.getMergedTraits().xmlName ?? 'value',
      };
    }
    if (schema.isStringSchema()) return { kind: 'string' };
    if (schema.isNumericSchema()) return { kind: 'number' };
    if (schema.isBooleanSchema()) return { kind: 'boolean' };
    if (schema.isBlobSchema()) return { kind: 'blob' };
    if (schema.getSchema() === protocolTimestamp) return { kind: 'timestamp' };
    throw new Error(`the wire does not implement the schema of ${schema.getName()}`);
  }

  #structure(schema: NormalizedSchema): Structure {
    const key = schema.getSchema();
    if (!isStructureSchema(key)) throw new Error(`${schema.getName()} is not a structure`);
    const known = this.#structures.get(key);
    if (known) return known;
    const name = key[2];
    const structure = new Structure({
      name,
      isUnion: schema.isUnionSchema(),
      requiredCount: key[6] ?? 0,
      members: () =>
        [...schema.structIterator()].map(([memberName, member]) => this.#member(name, memberName, member)),
    });
    this.#structures.set(key, structure);
    return structure;
  }

  #member(structureName: string, name: string, schema: NormalizedSchema): Member {
    const traits = schema.getMergedTraits();
    const path = `${structureName}.${name}`;
    // No client of this product flattens its lists in answers.
    if (traits.xmlFlattened || traits.xmlAttribute) {
      throw new Error(`the wire does not implement the XML traits of ${path}`);
    }
    const element = traits.xmlName ?? name;
    const { ec2QueryName } = traits;
    const ec2Key = typeof ec2QueryName === 'string' ? ec2QueryName : capitalised(element);
    const requestKey = this.#usesEc2Keys ? ec2Key : element;
    return { name, path, element, requestKey, shape: this.#shape(schema) };
  }
}

/** Smithy's code for a timestamp in the protocol's own format: ISO 8601 in XML, seconds since the epoch in JSON. */
const protocolTimestamp = 4;

/** What an operation without input, or without output, has instead. */
export const noMembers = new Structure({ name: 'Unit', isUnion: false, requiredCount: 0, members: () => [] });

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const isOperationSchema = (value: unknown): value is StaticOperationSchema =>
  Array.isArray(value) && value[0] === 9;

const isErrorSchema = (value: unknown): value is StaticErrorSchema => Array.isArray(value) && value[0] === -3;

/** [kind, namespace, name, traits, member names, member schemas, how many of the first members are required]. */
type StructureSchema = readonly [
  number,
  string,
  string,
  unknown,
  readonly string[],
  readonly unknown[],
  number?,
];

const isStructureSchema = (value: unknown): value is StructureSchema =>
  Array.isArray(value) && (value[0] === 3 || value[0] === 4 || value[0] === -3);
