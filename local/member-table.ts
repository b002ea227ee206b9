import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** As much of JSON Schema as the published schemas use. */
const jsonSchema = z.object({
  type: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), jsonSchema).optional();
  },
  get items() {
    return jsonSchema.optional();
  },
  get anyOf() {
    return z.array(jsonSchema).optional();
  },
});
type JsonSchema = z.output<typeof jsonSchema>;

/** Every member of a JSON Schema, nested ones by their path, as a table in Markdown. */
export function memberTable(schema: unknown): string {
  const rows = rowsOf(jsonSchema.parse(schema), '');
  return ['| member | is | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function rowsOf({ properties = {}, required }: JsonSchema, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const [form, isList] = formOf(member);
    const path = `${prefix}${name}`;
    const without = required.includes(name) ? 'required' : shownDefault(member, form);
    const row = `| \`${path}\` | ${kindOf(member)} | ${without} | ${member.description ?? ''} |`;
    return [row, ...rowsOf(withoutThoseOf(properties, name, form), `${path}${isList ? '[]' : ''}.`)];
  });
}

/** What has members of its own: the value itself, an entry of the list, or the one that is not null. */
function formOf(member: JsonSchema): [form: JsonSchema, isList: boolean] {
  if (member.items) return [member.items, true];
  return [member.anyOf?.find(({ properties }) => properties) ?? member, false];
}

/** A rival has the members of a deployment: those are not told again. */
function withoutThoseOf(
  siblings: Readonly<Record<string, JsonSchema>>,
  name: string,
  form: JsonSchema,
): JsonSchema {
  const told = name === 'rivals' ? (siblings.deployment?.properties ?? {}) : {};
  const others = Object.entries(form.properties ?? {}).filter(
    ([member, own]) => !isDeepStrictEqual(own, told[member]),
  );
  return { ...form, properties: Object.fromEntries(others) };
}

function kindOf({ type, items, anyOf, enum: values, const: only, minimum, maximum }: JsonSchema): string {
  if (anyOf) return [...new Set(anyOf.map(kindOf))].join(' or ');
  if (items) return `list of ${items.properties ? 'objects' : kindOf(items)}`;
  if (values) return values.map(value => `\`${String(value)}\``).join(', ');
  if (only !== undefined) return `\`${String(only)}\``;
  const most = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : '';
  const bounds = minimum === undefined ? '' : most ? ` from ${minimum}${most}` : ` from ${minimum}`;
  return `${KINDS[type ?? ''] ?? type}${bounds}`;
}

const KINDS: Readonly<Record<string, string>> = {
  integer: 'whole number',
  string: 'text',
  boolean: '`true`, `false`',
};

function shownDefault({ default: value }: JsonSchema, form: JsonSchema): string {
  if (value === undefined || value === '' || form.properties) return '';
  return `\`${JSON.stringify(value)}\``;
}
