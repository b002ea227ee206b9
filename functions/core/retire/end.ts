import { RetirementEnded } from '../errors.ts';
import { type Failure, readable } from '../failure.ts';
import { readOrFaults } from '../faults.ts';
import { giveRetired } from '../ledger/check-locks.ts';
import { endRetirement, findRetirement, type RetirementRecord } from '../ledger/retirements.ts';
import { abandonedRetirement, retirementRequest, subjectOf } from '../retirement-request.ts';
import { nowSeconds } from '../time.ts';

export interface EndedRetirement extends Failure {
  /** Empty when the machine's input was too broken to have one. */
  readonly subject: string;
  readonly deletedCheck: boolean;
  readonly groupIds: readonly string[];
  readonly interfaceIds: readonly string[];
  /** How long it has taken, in seconds. */
  readonly seconds: number;
}

/** Writes into the record that all of it is gone. @throws RetirementEnded */
export async function concludeRetirement(subject: string, owner: string): Promise<EndedRetirement> {
  const record = await findRetirement(subject);
  if (record?.owner !== owner) throw lost(subject);
  await release(record);
  const at = nowSeconds();
  const said = { error: '', cause: '' };
  if (!(await endRetirement(subject, owner, { outcome: 'succeeded', at, ...said }))) throw lost(subject);
  return told(record, at, said);
}

/** Ends a retirement that has failed: no act of it starts after this write. What is deleted stays so. */
export async function fenceRetirement(
  request: unknown,
  owner: string,
  failure: Failure,
): Promise<EndedRetirement> {
  const said = readable(failure);
  const subject = subjectIn(request);
  const nothing = { subject, deletedCheck: false, groupIds: [], interfaceIds: [], seconds: 0, ...said };
  const record = subject === '' ? undefined : await findRetirement(subject);
  if (record?.owner !== owner) return nothing;
  // First: a retirement that still holds the check is live, so that the sweep goes on with it.
  await release(record);
  const at = nowSeconds();
  const ended = await endRetirement(subject, owner, { outcome: 'failed', at, ...said });
  return ended ? told(record, at, said) : nothing;
}

const lost = (subject: string) =>
  new RetirementEnded(`The retirement of ${subject} was ended before it could be concluded.`);

const release = async ({ request, plan }: RetirementRecord): Promise<void> => {
  if (plan.deletesCheck && request.checkId !== undefined) await giveRetired(request.checkId);
};

const told = (
  { subject, acts, plan, createdAt }: RetirementRecord,
  at: number,
  said: Failure,
): EndedRetirement => ({
  subject,
  deletedCheck: acts.includes('check-deleted'),
  groupIds: plan.groupIds,
  interfaceIds: plan.interfaceIds,
  seconds: at - createdAt,
  ...said,
});

function subjectIn(request: unknown): string {
  const asked = readOrFaults(retirementRequest, request);
  if (!asked.faults) return subjectOf(asked.data);
  const abandoned = readOrFaults(abandonedRetirement, request);
  return abandoned.faults ? '' : abandoned.data.subject;
}
