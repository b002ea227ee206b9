import * as z from 'zod/mini';
import type { CheckQuotas } from './domain/monitoring.ts';
import { ASSOCIATIONS_PER_CHECK, CHECK_QUOTAS } from './limits.ts';
import { readRequest } from './request.ts';

export const DEFAULT_QUOTAS: CheckQuotas = { ...CHECK_QUOTAS, associationsPerCheck: ASSOCIATIONS_PER_CHECK };

const quota = z.int().check(z.minimum(1));

const raised = z.strictObject({
  checks: z.optional(quota),
  associations: z.optional(quota),
  associationsPerCheck: z.optional(quota),
  targets: z.optional(quota),
});

/**
 * The account's quotas: AWS's defaults, but for those that it has raised.
 *
 * @param text the stack's parameter CheckQuotas, as JSON
 * @throws InvalidRequest naming each field
 */
export function checkQuotas(text: string): CheckQuotas {
  const { checks, associations, associationsPerCheck, targets } = readRequest(raised, JSON.parse(text));
  return {
    checks: checks ?? DEFAULT_QUOTAS.checks,
    associations: associations ?? DEFAULT_QUOTAS.associations,
    associationsPerCheck: associationsPerCheck ?? DEFAULT_QUOTAS.associationsPerCheck,
    targets: targets ?? DEFAULT_QUOTAS.targets,
  };
}
