import type { World } from '../account/world.ts';
import { decide, type ResourceStatement } from './permissions.ts';

/** An AWS service that acts under a resource's own policy, on behalf of one resource of this account. */
export interface ActingService {
  readonly principal: 'cloudwatch.amazonaws.com' | 'events.amazonaws.com' | 'sns.amazonaws.com';
  readonly sourceArn: string;
}

/** Does a resource's policy let a service act on it? */
export function letsIn(
  policy: readonly ResourceStatement[],
  { principal, sourceArn }: ActingService,
  request: { readonly action: string; readonly resource: string },
  { accountId }: World,
): boolean {
  const statements = policy.filter(
    ({ principals }) => principals.includes(principal) || principals.includes('*'),
  );
  const context = new Map([
    ['aws:SourceArn', [sourceArn]],
    ['aws:SourceAccount', [accountId]],
  ]);
  return decide(statements, { ...request, context }).kind === 'allowed';
}
