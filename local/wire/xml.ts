import type { Member, Shape, Structure } from './shapes.ts';

/**
 * Writes the members of `value` as XML elements.
 *
 * @throws Error when the value does not fit its shape: a mistake in the simulated service
 */
export function toXml(shape: Structure, value: object): string {
  let xml = '';
  for (const [name, held] of Object.entries(value)) {
    if (held === undefined || name === '$metadata') continue;
    const member = shape.members.get(name);
    if (!member) throw new Error(`${shape.name} has no member ${name}`);
    xml += element(member.element, content(member.shape, held, member));
  }
  return xml;
}

export const element = (name: string, inner: string): string => `<${name}>${inner}</${name}>`;

function content(shape: Shape, value: unknown, member: Member): string {
  switch (shape.kind) {
    case 'string':
      if (typeof value === 'string') return escapeXml(value);
      break;
    case 'number':
    case 'boolean':
      if (typeof value === shape.kind) return String(value);
      break;
    case 'timestamp':
      if (value instanceof Date) return value.toISOString();
      break;
    case 'blob':
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
      break;
    case 'list': {
      if (!Array.isArray(value)) break;
      let xml = '';
      for (const item of value) xml += element(shape.itemElement, content(shape.item, item, member));
      return xml;
    }
    case 'map': {
      if (!isObject(value)) break;
      let xml = '';
      for (const [key, held] of Object.entries(value)) {
        const pair = element(shape.keyElement, escapeXml(key));
        xml += element('entry', pair + element(shape.valueElement, content(shape.value, held, member)));
      }
      return xml;
    }
    case 'structure':
      if (isObject(value)) return toXml(shape, value);
      break;
  }
  throw new Error(`${member.path} must be a ${shape.kind}, not ${String(value)}`);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** @throws Error for control characters that XML 1.0 cannot carry */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\u2028]/gu, character => entities[character] ?? reference(character));
}

/** White space as it is would be normalised or trimmed by parsers. */
function reference(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20 && !'\t\n\r'.includes(character)) throw new Error(`XML cannot carry the character ${code}`);
  return `&#x${code.toString(16)};`;
}
