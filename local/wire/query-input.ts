import { InvalidInput, type Shape, type Structure } from './shapes.ts';

/** The keys of a form as a tree: `Filters.1.Name=x` is `{ Filters: { 1: { Name: x } } }`. */
type Tree = Map<string, string | Tree>;

/**
 * Reads the parameters of an EC2 Query (`listsAreFlat`) or AWS Query request as the operation's input.
 *
 * @throws InvalidInput for unknown, missing and malformed parameters
 */
export function readQueryInput(
  shape: Structure,
  parameters: Iterable<readonly [string, string]>,
  listsAreFlat: boolean,
): Record<string, unknown> {
  return readStructure(shape, toTree(parameters), listsAreFlat);
}

function toTree(parameters: Iterable<readonly [string, string]>): Tree {
  const root: Tree = new Map();
  for (const [key, value] of parameters) {
    let tree = root;
    let rest = key;
    for (let dot = rest.indexOf('.'); dot >= 0; dot = rest.indexOf('.')) {
      const step = rest.slice(0, dot);
      rest = rest.slice(dot + 1);
      const below: string | Tree = tree.get(step) ?? new Map();
      if (typeof below === 'string')
        throw new InvalidInput('malformed', `${key} and ${step} exclude each other.`);
      tree.set(step, below);
      tree = below;
    }
    if (tree.has(rest)) throw new InvalidInput('malformed', `${key} is given twice.`);
    tree.set(rest, value);
  }
  return root;
}

function read(shape: Shape, value: string | Tree, flat: boolean, path: string): unknown {
  if (shape.kind === 'structure' || shape.kind === 'list' || shape.kind === 'map') {
    // An empty list is sent as the bare key.
    if (value === '' && shape.kind === 'list') return [];
    if (typeof value === 'string') throw new InvalidInput('malformed', `${path} must be a ${shape.kind}.`);
    if (shape.kind === 'structure') return readStructure(shape, value, flat);
    if (shape.kind === 'list') {
      const items = flat ? value : onlyChild(value, shape.itemElement, path);
      return inOrder(items, path).map(item => read(shape.item, item, flat, path));
    }
    const entries = inOrder(onlyChild(value, 'entry', path), path);
    return Object.fromEntries(
      entries.map(entry => {
        const key = typeof entry === 'string' ? undefined : entry.get(shape.keyElement);
        const held = typeof entry === 'string' ? undefined : entry.get(shape.valueElement);
        if (typeof key !== 'string' || held === undefined) {
          throw new InvalidInput('malformed', `${path} must have a key and a value in every entry.`);
        }
        return [key, read(shape.value, held, flat, path)];
      }),
    );
  }
  if (typeof value !== 'string') throw new InvalidInput('malformed', `${path} must be a ${shape.kind}.`);
  return readScalar(shape.kind, value, path);
}

function readStructure(shape: Structure, tree: Tree, flat: boolean): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [key, value] of tree) {
    const member = shape.byRequestKey.get(key);
    if (!member)
      throw new InvalidInput('unknown', `The parameter ${key} is not recognized in ${shape.name}.`);
    input[member.name] = read(member.shape, value, flat, member.path);
  }
  shape.check(input);
  return input;
}

function readScalar(
  kind: 'string' | 'number' | 'boolean' | 'timestamp' | 'blob',
  text: string,
  path: string,
): unknown {
  switch (kind) {
    case 'string':
      return text;
    case 'number':
      if (text.trim() === '' || Number.isNaN(Number(text))) break;
      return Number(text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') break;
      return text === 'true';
    case 'timestamp':
      if (Number.isNaN(Date.parse(text))) break;
      return new Date(text);
    case 'blob':
      return Uint8Array.from(Buffer.from(text, 'base64'));
  }
  throw new InvalidInput('malformed', `${path} must be a ${kind}, not '${text}'.`);
}

function onlyChild(tree: Tree, name: string, path: string): Tree {
  const child = tree.get(name);
  if (tree.size !== 1 || child === undefined || typeof child === 'string') {
    throw new InvalidInput('unknown', `${path} must be numbered as ${name}.1, ${name}.2 and so on.`);
  }
  return child;
}

/** The items of a list numbered 1, 2, 3 and so on. */
function inOrder(tree: Tree, path: string): readonly (string | Tree)[] {
  return Array.from({ length: tree.size }, (_, place) => {
    const item = tree.get(String(place + 1));
    if (item === undefined) throw new InvalidInput('malformed', `${path} lacks the item ${place + 1}.`);
    return item;
  });
}
