import { z } from 'zod';
import type { Json } from './json.ts';

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const Declaration = z.strictObject({
  Type: z.string(),
  Default: z.union([text, z.array(text).transform(items => items.join(','))]).optional(),
  AllowedValues: z.array(text).optional(),
  AllowedPattern: z.string().optional(),
  MinLength: z.coerce.number().optional(),
  MaxLength: z.coerce.number().optional(),
  MinValue: z.coerce.number().optional(),
  MaxValue: z.coerce.number().optional(),
  ConstraintDescription: z.string().optional(),
  Description: z.string().optional(),
  NoEcho: z.boolean().optional(),
});

type Declaration = z.infer<typeof Declaration>;

/** A parameter's value as Ref gives it. */
export type ParameterValue = string | readonly string[];

/**
 * Chooses each parameter's value, the given one or the default, and checks it as CloudFormation does.
 *
 * @throws Error on a missing or refused value, a parameter that the template does not have, or a type that needs an
 * account to resolve
 */
export function resolveParameters(
  declared: Readonly<Record<string, Json>>,
  given: Readonly<Record<string, string>>,
): ReadonlyMap<string, ParameterValue> {
  const [unknown] = Object.keys(given).filter(name => !Object.hasOwn(declared, name));
  if (unknown !== undefined) throw new Error(`the template has no parameter ${unknown}`);
  return new Map(
    Object.entries(declared).map(([name, declaration]) => {
      const where = `parameter ${name}`;
      const parsed = Declaration.safeParse(declaration);
      if (!parsed.success) throw new Error(`${where}: ${z.prettifyError(parsed.error)}`);
      const value = given[name] ?? parsed.data.Default;
      if (value === undefined) throw new Error(`${where} has no default and needs a value`);
      return [name, checked(value, parsed.data, where)];
    }),
  );
}

function checked(value: string, declaration: Declaration, where: string): ParameterValue {
  const { Type } = declaration;
  const list = Type === 'CommaDelimitedList' || Type.startsWith('List<');
  const known = list || Type === 'String' || Type === 'Number' || /^AWS::(?!SSM)\w+::[\w:]+$/.test(Type);
  if (!known) throw new Error(`${where}: the type ${Type} is not implemented`);
  const items = list ? value.split(',').map(item => item.trim()) : [value];
  const numeric = Type === 'Number' || Type === 'List<Number>';
  for (const item of items) checkItem(item, declaration, numeric, where);
  return list ? items : value;
}

function checkItem(item: string, declaration: Declaration, numeric: boolean, where: string): void {
  const { AllowedValues, AllowedPattern, MinLength, MaxLength, MinValue, MaxValue } = declaration;
  const refuse = (rule: string): never => {
    const why = declaration.ConstraintDescription ?? rule;
    throw new Error(`${where}: the value ${JSON.stringify(item)} is refused: ${why}`);
  };
  if (AllowedValues && !AllowedValues.includes(item))
    refuse(`it has to be one of ${AllowedValues.join(', ')}`);
  if (AllowedPattern !== undefined && !new RegExp(`^(?:${AllowedPattern})$`).test(item))
    refuse(`it has to match ${AllowedPattern}`);
  if (item.length < (MinLength ?? 0)) refuse(`it has to have at least ${MinLength} characters`);
  if (item.length > (MaxLength ?? item.length)) refuse(`it may have at most ${MaxLength} characters`);
  if (!numeric) return;
  const number = item.trim() === '' ? Number.NaN : Number(item);
  if (Number.isNaN(number)) refuse('it has to be a number');
  if (number < (MinValue ?? number)) refuse(`it has to be at least ${MinValue}`);
  if (number > (MaxValue ?? number)) refuse(`it may be at most ${MaxValue}`);
}
