import { z } from 'zod';
import { isObject, type Json, type JsonObject } from './json.ts';

/** CloudFormation takes `30` and `"30"`, `true` and `"true"` alike. */
export const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

export const whole = z.coerce.number().int().nonnegative();

/** A property that has no effect in the simulated account. */
export const ignored = z.unknown().optional();

export const json = z.custom<Json>(value => value !== undefined);

export const jsonObject = z.custom<JsonObject>(value => isObject(json.parse(value)));

/**
 * Checks resolved properties.
 *
 * @throws Error with the logical id and what is missing, unknown or wrong
 */
export function parseProperties<Schema extends z.ZodType>(
  schema: Schema,
  properties: Json,
  logicalId: string,
): z.output<Schema> {
  const parsed = schema.safeParse(properties);
  if (parsed.success) return parsed.data;
  throw new Error(`${logicalId}: ${z.prettifyError(parsed.error)}`);
}
