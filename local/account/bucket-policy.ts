import { ServiceError } from '../wire/contract.ts';

interface Statement {
  readonly Effect: string;
  readonly Principal: unknown;
  readonly Action: unknown;
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What a request is, by the condition keys that bucket policies for logs use. */
export interface BucketRequest {
  /** A service, such as `logdelivery.elasticloadbalancing.amazonaws.com`. */
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly context: Readonly<Record<string, string>>;
}

/**
 * Does a bucket's policy let a service do this? A Deny that applies decides.
 *
 * @throws Error on a condition that the simulated account cannot interpret
 */
export function policyAllows(policy: string | undefined, request: BucketRequest): boolean {
  if (policy === undefined) return false;
  const applying = statementsOf(policy).filter(statement => applies(statement, request));
  const effects = new Set(applying.map(({ Effect }) => Effect));
  return effects.has('Allow') && !effects.has('Deny');
}

/** GUIDE, "The meaning of public": conditions that keep a statement from being public, where their value is a fixed one. */
const FIXES = new Set([
  'aws:principalorgid',
  'aws:sourceaccount',
  'aws:sourcearn',
  'aws:sourceip',
  'aws:sourceowner',
  'aws:sourcevpc',
  'aws:sourcevpce',
  'aws:userid',
]);

/** Does it let everybody in? @throws ServiceError MalformedPolicy */
export const isPublic = (policy: string): boolean =>
  statementsOf(policy).some(
    ({ Effect, Principal, Condition = {} }) =>
      Effect === 'Allow' &&
      [Principal === '*' ? '*' : Reflect.get(Object(Principal), 'AWS')].flat().includes('*') &&
      !Object.values(Condition).flatMap(Object.entries).some(isFixed),
  );

const isFixed = ([key, values]: [string, unknown]): boolean =>
  FIXES.has(key.toLowerCase()) && ![values].flat().some(value => /[*?]/.test(String(value)));

/** @throws ServiceError MalformedPolicy */
export function statementsOf(policy: string): readonly Statement[] {
  try {
    const { Statement: given } = JSON.parse(policy);
    const statements: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (statements.every(isStatement)) return statements;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ServiceError('MalformedPolicy', 'Policies must be valid JSON with statements in them');
}

const isStatement = (value: unknown): value is Statement =>
  typeof value === 'object' && value !== null && 'Effect' in value && 'Principal' in value;

function applies(statement: Statement, { principal, action, resource, context }: BucketRequest): boolean {
  const { Principal, Action, Resource, Condition = {} } = statement;
  const services: unknown = Principal === '*' ? '*' : Reflect.get(Object(Principal), 'Service');
  return (
    matches(services, principal) &&
    matches(Action, action) &&
    matches(Resource, resource) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, wanted]) => holds(operator, wanted, context[key], key)),
    )
  );
}

function holds(operator: string, wanted: unknown, actual: string | undefined, key: string): boolean {
  if (actual === undefined) throw new Error(`the condition key ${key} of bucket policies is not simulated`);
  if (!/^(Bool|(String|Arn)(Equals|Like))$/.test(operator))
    throw new Error(`the condition operator ${operator} of bucket policies is not simulated`);
  return matches(wanted, actual);
}

const matches = (patterns: unknown, value: string): boolean =>
  [patterns].flat().some(pattern => typeof pattern === 'string' && wildcards(pattern).test(value));

const wildcards = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
