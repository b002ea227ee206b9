import type { z } from 'zod/mini';
import { concurrently } from '../aws/batch.ts';
import { deleteCheck, disassociate } from '../aws/checks.ts';
import { deleteSecurityGroup, securityGroups } from '../aws/security-groups.ts';
import { InterfaceUse } from '../domain/check-interfaces.ts';
import { markRetirementAct, ownRetirement, type RetirementRecord } from '../ledger/retirements.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';
import { OPT_IN_TAG_KEY } from '../settings.ts';
import { checksInUse } from './checks-in-use.ts';
import { requireUncounted } from './counted-on.ts';
import type { actPayload } from './payloads.ts';
import { requireUnshared } from './plan.ts';

/** What an act answers to the machine. Every member is always there (D15). */
export interface ActAnswer {
  readonly deleted: readonly string[];
  /** Groups that EC2 did not delete, since something depends on them. */
  readonly held: readonly string[];
}

/** One act of a retirement, written down before it is done. Repeating it does what is still to do. */
export async function actOnRetirement(acting: z.output<typeof actPayload>): Promise<ActAnswer> {
  const record = await ownRetirement(acting.subject, acting.execution);
  return acting.act === 'delete-check' ? removeCheck(record) : removeGroups(record, acting.groupIds);
}

/** @throws RunInProgress, AdoptionInProgress, InterfaceShared when somebody has begun to count on it since the plan */
async function removeCheck({ subject, owner, request }: RetirementRecord): Promise<ActAnswer> {
  const checks = await checksInUse();
  const check = checks.find(({ id }) => id === request.checkId);
  if (!check) return { deleted: [], held: [] };
  await requireUncounted(check);
  const others = new InterfaceUse(checks.filter(({ id }) => id !== check.id));
  for (const id of request.securityGroupIds) requireUnshared(id, others);
  await markRetirementAct(subject, owner, 'check-deleted');
  const instanceIds = check.associations.flatMap(one => ('instanceId' in one ? [one.instanceId] : []));
  await disassociate(check.id, { instanceIds });
  for (const one of check.associations) if ('tag' in one) await disassociate(check.id, { tag: one.tag });
  await deleteCheck(check.id);
  return { deleted: [check.id], held: [] };
}

async function removeGroups(
  { subject, owner, plan }: RetirementRecord,
  groupIds: readonly string[],
): Promise<ActAnswer> {
  const groups = await securityGroups(plan.groupIds.filter(id => groupIds.includes(id)));
  // Whoever takes the tag away keeps the group.
  const ours = [...groups.values()].filter(({ tags }) => tags[OPT_IN_TAG_KEY] === plan.optInTagValue);
  await markRetirementAct(subject, owner, 'groups-deleted');
  const results = await concurrently(ours, DESCRIBES_AT_ONCE, async ({ id }) => ({
    id,
    end: await deleteSecurityGroup(id),
  }));
  const idsOf = (end: 'gone' | 'held') => results.filter(one => one.end === end).map(({ id }) => id);
  return { deleted: idsOf('gone'), held: idsOf('held') };
}
