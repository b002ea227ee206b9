/** A JSON text, parsed. States pass these by reference, so nothing may change one. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy that shares nothing with `value`; members that JSON cannot express are left out, as on the wire. */
export function toJson(value: unknown): Json {
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? null : parseJson(text);
}

/** @throws SyntaxError */
export const parseJson = (text: string): Json => JSON.parse(text);
