import { type Condition, holds, type RequestContext } from './policy-conditions.ts';
import { matchesWildcards } from './wildcards.ts';

/** One statement of a policy document, as `readPolicy` has checked it. */
export interface Statement {
  /** The Sid, or the statement's place in its document. */
  readonly sid: string;
  readonly effect: 'Allow' | 'Deny';
  /** `service:Action`, without wildcards. */
  readonly actions: readonly string[];
  /** ARNs with `*` and `?`, or `*`. */
  readonly resources: readonly string[];
  readonly conditions: readonly Condition[];
}

/** A statement of a resource policy, which also names who it is for. */
export interface ResourceStatement extends Statement {
  readonly principals: readonly string[];
}

export interface AccessRequest {
  readonly action: string;
  /** The ARN, or `*` for an action without resource-level permissions. */
  readonly resource: string;
  readonly context: RequestContext;
}

export type Decision =
  | { readonly kind: 'allowed'; readonly by: Statement }
  | { readonly kind: 'denied'; readonly by: Statement }
  | { readonly kind: 'not-allowed' };

/** IAM's evaluation of identity policies within one account: a Deny that applies wins, then an Allow, else nothing. */
export function decide(statements: readonly Statement[], request: AccessRequest): Decision {
  const applying = statements.filter(statement => applies(statement, request));
  const denial = applying.find(({ effect }) => effect === 'Deny');
  if (denial) return { kind: 'denied', by: denial };
  const allowance = applying[0];
  return allowance ? { kind: 'allowed', by: allowance } : { kind: 'not-allowed' };
}

const applies = (statement: Statement, { action, resource, context }: AccessRequest): boolean =>
  statement.actions.some(name => name.toLowerCase() === action.toLowerCase()) &&
  statement.resources.some(pattern => matchesWildcards(pattern, resource)) &&
  statement.conditions.every(condition => holds(condition, context));
