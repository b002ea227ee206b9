import { abandonedAdoption, adoptionRequest } from '../adoption-request.ts';
import { checkQuotas } from '../check-quotas.ts';
import type { Failure } from '../failure.ts';
import { takeAdoptionOver } from '../ledger/adoptions.ts';
import { requireOpen } from '../ledger/closing.ts';
import { readRequest } from '../request.ts';
import { optInTag, setting } from '../settings.ts';
import { type Planned, planAdoption } from './plan.ts';

/** What the first step answers to the machine. Every member is always there (D15). */
export interface Begun extends Planned, Failure {
  readonly verdict: 'planned' | 'abandoned';
}

const NOTHING = {
  instances: 0,
  sample: [],
  observeSeconds: 0,
  watchSeconds: 0,
  cost: { interfaces: 0, metrics: 0, usDollars: 0 },
  warnings: [],
};

/**
 * Decides everything about an adoption, or takes one over that was abandoned, so that it is undone.
 *
 * @throws InvalidRequest, StackClosing, and what planAdoption throws
 */
export async function beginAdoption(
  request: unknown,
  execution: string,
  optInTagValue: string,
): Promise<Begun> {
  if (request !== null && typeof request === 'object' && 'from' in request) {
    const { autoScalingGroupName: group, from, error, cause } = readRequest(abandonedAdoption, request);
    await takeAdoptionOver(group, from, execution);
    return { ...NOTHING, verdict: 'abandoned', group, error, cause };
  }
  const asked = readRequest(adoptionRequest, request);
  await requireOpen();
  const planned = await planAdoption(
    asked,
    execution,
    optInTag(optInTagValue),
    checkQuotas(setting('CHECK_QUOTAS')),
  );
  return { ...planned, verdict: 'planned', error: '', cause: '' };
}
