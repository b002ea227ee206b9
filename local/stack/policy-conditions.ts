import { matchesWildcards } from './wildcards.ts';

/** The condition keys of one request. A key that is not there is absent, as in IAM. */
export type RequestContext = ReadonlyMap<string, readonly string[]>;
type Comparison = (actual: string, wanted: string) => boolean;

interface Operator {
  readonly compare: Comparison;
  /** The Not form: it holds when no value compares, so also when the key is absent. */
  readonly negated: boolean;
}

/** One operator over one key of a Condition block. */
export interface Condition {
  readonly operator: Operator | 'Null';
  /** The set operator before the colon. */
  readonly over: 'ForAllValues' | 'ForAnyValue' | undefined;
  readonly ifExists: boolean;
  readonly key: string;
  readonly values: readonly string[];
}

const numeric =
  (compare: (actual: number, wanted: number) => boolean): Comparison =>
  (actual, wanted) =>
    compare(Number(actual), Number(wanted));

/** ARNs compare part by part, so that a wildcard does not reach over a colon among the first five. */
const arnLike: Comparison = (actual, wanted) => {
  const parts = arnParts(wanted);
  const actualParts = arnParts(actual);
  return (
    parts.length === actualParts.length &&
    parts.every((part, place) => matchesWildcards(part, actualParts[place] ?? ''))
  );
};

const arnParts = (arn: string): readonly string[] => {
  const parts = arn.split(':');
  return [...parts.slice(0, 5), parts.slice(5).join(':')];
};

const equals: Comparison = (actual, wanted) => actual === wanted;
const equalsIgnoringCase: Comparison = (actual, wanted) => actual.toLowerCase() === wanted.toLowerCase();
const like: Comparison = (actual, wanted) => matchesWildcards(wanted, actual);

const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  Object.entries({
    StringEquals: { compare: equals, negated: false },
    StringNotEquals: { compare: equals, negated: true },
    StringEqualsIgnoreCase: { compare: equalsIgnoringCase, negated: false },
    StringNotEqualsIgnoreCase: { compare: equalsIgnoringCase, negated: true },
    StringLike: { compare: like, negated: false },
    StringNotLike: { compare: like, negated: true },
    ArnEquals: { compare: arnLike, negated: false },
    ArnLike: { compare: arnLike, negated: false },
    ArnNotEquals: { compare: arnLike, negated: true },
    ArnNotLike: { compare: arnLike, negated: true },
    Bool: { compare: equalsIgnoringCase, negated: false },
    NumericEquals: { compare: numeric((actual, wanted) => actual === wanted), negated: false },
    NumericNotEquals: { compare: numeric((actual, wanted) => actual === wanted), negated: true },
    NumericLessThan: { compare: numeric((actual, wanted) => actual < wanted), negated: false },
    NumericLessThanEquals: { compare: numeric((actual, wanted) => actual <= wanted), negated: false },
    NumericGreaterThan: { compare: numeric((actual, wanted) => actual > wanted), negated: false },
    NumericGreaterThanEquals: { compare: numeric((actual, wanted) => actual >= wanted), negated: false },
  }),
);

/** Keys whose value in a request is a list: IAM wants a set operator for them. */
const MULTIVALUED_KEYS: ReadonlySet<string> = new Set([
  'aws:TagKeys',
  'cloudwatch:AlarmActions',
  'dynamodb:LeadingKeys',
]);

const SINGLE_KEYS: ReadonlySet<string> = new Set([
  'aws:PrincipalAccount',
  'aws:RequestedRegion',
  'aws:SourceAccount',
  'aws:SourceArn',
  'cloudwatch:namespace',
  'ec2:CreateAction',
  'ec2:Region',
]);

const TAG_KEY = /^(aws:RequestTag|(aws|ec2|elasticloadbalancing|autoscaling):ResourceTag)\/.+$/;

/**
 * Reads one operator of a Condition block for one key.
 *
 * @throws Error on an operator or a key that the simulated account cannot interpret
 */
export function readCondition(
  operatorName: string,
  key: string,
  values: readonly string[],
  where: string,
): Condition {
  const [, over, base = '', ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?(.+?)(IfExists)?$/.exec(operatorName) ?? [];
  const operator = base === 'Null' ? base : OPERATORS.get(base);
  if (!operator) throw new Error(`${where}: the condition operator ${operatorName} is not implemented`);
  const multivalued = MULTIVALUED_KEYS.has(key);
  if (!multivalued && !SINGLE_KEYS.has(key) && !TAG_KEY.test(key))
    throw new Error(`${where}: the condition key ${key} is not known to the simulated account`);
  if (multivalued && !over && operator !== 'Null')
    throw new Error(`${where}: ${key} has many values and needs ForAllValues or ForAnyValue`);
  if (values.some(value => value.includes('${')))
    throw new Error(`${where}: policy variables are not implemented`);
  return {
    operator,
    over: over === 'ForAllValues' || over === 'ForAnyValue' ? over : undefined,
    ifExists: ifExists !== undefined,
    key,
    values,
  };
}

/** Whether the condition holds for a request; an absent key holds only as IAM has it. */
export function holds(
  { operator, over, ifExists, key, values }: Condition,
  context: RequestContext,
): boolean {
  const actual = context.get(key) ?? [];
  const absent = actual.length === 0;
  if (operator === 'Null') return values.some(value => (value.toLowerCase() === 'true') === absent);
  const matches = (value: string): boolean =>
    values.some(wanted => operator.compare(value, wanted)) !== operator.negated;
  if (absent) return ifExists || over === 'ForAllValues' || (operator.negated && !over);
  return over === 'ForAnyValue' ? actual.some(matches) : actual.every(matches);
}
