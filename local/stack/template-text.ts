import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from 'yaml';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** CloudFormation's short tags, by the long name that each stands for. */
const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ['!Ref', 'Ref'],
  ['!Condition', 'Condition'],
  ...[
    ...['And', 'Base64', 'Cidr', 'Equals', 'FindInMap', 'GetAtt', 'GetAZs', 'If', 'ImportValue', 'Join'],
    ...['Not', 'Or', 'Select', 'Split', 'Sub', 'Transform'],
  ].map((name): [string, string] => [`!${name}`, `Fn::${name}`]),
]);

/** By its text: simulations by the hundred read the same template, and parsing takes longer than a tenth of a short one. */
const documents = new Map<string, JsonObject>();

/**
 * Reads a YAML or JSON document; CloudFormation's short tags become their long form.
 *
 * @throws Error on a syntax error, an unknown tag, or a document that is not a map
 */
export function readYaml(text: string, where: string): JsonObject {
  const known = documents.get(text);
  if (known) return known;
  const read = parseYaml(text, where);
  documents.set(text, read);
  return read;
}

function parseYaml(text: string, where: string): JsonObject {
  const document = parseDocument(text, { logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw new Error(`${where}: ${error.message}`);
  const value = toJson(document.contents, document, where);
  if (!isObject(value)) throw new Error(`${where}: a map is expected`);
  return value;
}

function toJson(node: unknown, document: Document, where: string): Json {
  if (isAlias(node)) return toJson(node.resolve(document), document, where);
  const value = untagged(node, document, where);
  const tag = isScalar(node) || isMap(node) || isSeq(node) ? tagOf(node) : undefined;
  if (tag === undefined) return value;
  const name = LONG_NAMES.get(tag);
  if (!name) throw new Error(`${where}: the tag ${tag} is unknown`);
  return { [name]: value };
}

function untagged(node: unknown, document: Document, where: string): Json {
  if (isMap(node)) return mapToJson(node, document, where);
  if (isSeq(node)) return node.items.map(item => toJson(item, document, where));
  const value = isScalar(node) ? node.value : null;
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Error(`${where}: a value of type ${typeof value} is not implemented`);
}

function mapToJson(map: YAMLMap, document: Document, where: string): JsonObject {
  const entries = map.items.map(({ key, value }) => {
    if (!isScalar(key)) throw new Error(`${where}: a key has to be a plain value`);
    return [String(key.value), toJson(value, document, where)];
  });
  return Object.fromEntries(entries);
}

/** YAML's own tags (`tag:yaml.org,2002:str`) say nothing that the value does not. */
const tagOf = ({ tag }: Node): string | undefined =>
  tag === undefined || tag.startsWith('tag:yaml.org') ? undefined : tag;

/** One section of a template, empty when absent. */
export function section(document: JsonObject, name: string): JsonObject {
  const value = document[name] ?? {};
  if (!isObject(value)) throw new Error(`the section ${name} has to be a map`);
  return value;
}

/** @throws Error when `object` has a member that is not among `known` */
export function refuseMembers(object: JsonObject, known: readonly string[], where: string): void {
  const unknown = Object.keys(object).find(member => !known.includes(member));
  if (unknown !== undefined) throw new Error(`${where}: ${unknown} is not implemented`);
}

/** SAM's Globals: maps are merged, lists are joined, anything else is overridden. */
export function mergeGlobals(globals: Json | undefined, own: JsonObject): JsonObject {
  if (!isObject(globals)) return own;
  const merged = Object.entries(own).map(([name, value]) => {
    const inherited = globals[name];
    if (isList(inherited) && isList(value)) return [name, [...inherited, ...value]];
    const mergeable =
      isObject(inherited) && isObject(value) && !isIntrinsic(inherited) && !isIntrinsic(value);
    return [name, mergeable ? mergeGlobals(inherited, value) : value];
  });
  return { ...globals, ...Object.fromEntries(merged) };
}

function isIntrinsic(value: JsonObject): boolean {
  const [name = '', ...others] = Object.keys(value);
  return others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'));
}
