import type { z } from 'zod/mini';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { BudgetSpent, InvalidRequest, ObservationPending } from '../errors.ts';
import { requireUnanswered } from '../ledger/resource-requests.ts';
import { ANSWER_ROOM_SECONDS } from '../limits.ts';
import { type OptInTag, optInTag } from '../settings.ts';
import { nowSeconds, toSeconds } from '../time.ts';
import { serveAssociation, undoAssociation } from './association.ts';
import { serveGuard } from './guard.ts';
import type { servePayload } from './payloads.ts';
import { physicalIdOf } from './properties.ts';
import { type ResourceRequest, serviceTimeoutOf } from './request.ts';

/** What a turn has found: nothing is missing, or what is. */
export type Missing = readonly string[];

/** What every kind of resource is served with. */
export interface Context {
  readonly optIn: OptInTag;
  /** When the request came, in seconds since the epoch. */
  readonly since: number;
  /** Until when it may be waited for. */
  readonly deadline: number;
}

/** What a turn answers to the machine. Every member is always there (D15). */
export interface Served {
  readonly verdict: 'met' | 'waiting';
  /** Seconds until the next turn; 0 unless waiting. */
  readonly waitSeconds: number;
  readonly physicalId: string;
  readonly reasons: readonly string[];
}

/**
 * Brings about what the request asks for, as far as that is possible now, and looks whether it is there. Repeating it does what
 * is still to do.
 *
 * @throws InvalidRequest, RequestAnswered, BudgetSpent when it is still not there and CloudFormation has to be answered, and what
 *   the resource's own kind throws
 */
export async function serveRequest(serving: z.output<typeof servePayload>): Promise<Served> {
  const { request } = serving;
  if (serving.step === 'undo') {
    await undoAssociation(request);
    return { verdict: 'met', waitSeconds: 0, physicalId: physicalIdOf(request), reasons: [] };
  }
  const deadline = deadlineOf(serving);
  const since = toSeconds(new Date(serving.startedAt));
  const context = { optIn: optInTag(serving.optInTagValue), since, deadline };
  await requireUnanswered(request.RequestId);
  return served(request, deadline, await turn(request, context).catch(orPending));
}

async function turn(request: ResourceRequest, context: Context): Promise<Missing> {
  const { ResourceType, RequestType } = request;
  switch (ResourceType) {
    case 'Custom::QuiesceCheckAssociation':
      return serveAssociation(request, context);
    case 'Custom::QuiesceSecurityGroupGuard':
      return serveGuard(request, context);
    default:
      // Nothing was made of it, so nothing is left.
      if (RequestType === 'Delete') return [];
      throw new InvalidRequest(
        `${ResourceType} is no custom resource of Quiesce's: use Custom::QuiesceCheckAssociation or Custom::QuiesceSecurityGroupGuard.`,
      );
  }
}

/** What does not show yet is waited for like everything else that is missing, until the same end. */
function orPending(error: unknown): Missing {
  if (error instanceof ObservationPending) return [error.message.replace(/\.$/, '')];
  throw error;
}

/** Until when a request may be waited for, in seconds since the epoch. @throws InvalidRequest */
export const deadlineOf = ({
  request,
  startedAt,
}: {
  readonly request: ResourceRequest;
  readonly startedAt: string;
}): number => toSeconds(new Date(startedAt)) + Math.max(0, serviceTimeoutOf(request) - ANSWER_ROOM_SECONDS);

/** @throws BudgetSpent */
export function served(request: ResourceRequest, deadline: number, missing: Missing): Served {
  const { RequestType, PhysicalResourceId } = request;
  // What is deleted keeps the id that CloudFormation knows it by.
  const known = RequestType === 'Delete' ? PhysicalResourceId : undefined;
  const physicalId = known ?? physicalIdOf(request);
  if (missing.length === 0) return { verdict: 'met', waitSeconds: 0, physicalId, reasons: [] };
  const now = nowSeconds();
  const waitSeconds = nextWait(now, deadline, pollSeconds(deadline - now));
  if (waitSeconds > 0) return { verdict: 'waiting', waitSeconds, physicalId, reasons: missing.slice(0, 10) };
  throw new BudgetSpent(
    `CloudFormation has to be answered, and this was still missing: ${missing.join('; ')}.`,
  );
}
