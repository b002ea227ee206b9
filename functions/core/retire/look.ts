import { applicationStatusChecks } from '../aws/application-status.ts';
import { interfacesById } from '../aws/network-interfaces.ts';
import { securityGroups } from '../aws/security-groups.ts';
import { hourlyCost, InterfaceUse } from '../domain/check-interfaces.ts';
import {
  type HeldGroup,
  heldInWords,
  type InterfaceFacts,
  interfaceInWords,
  isHeldByChecksAlone,
  isOfChecks,
} from '../domain/group-blockers.ts';
import { growingWait } from '../domain/retirement.ts';
import { GroupHeld, InterfacesLinger } from '../errors.ts';
import { ownRetirement, type RetirementRecord } from '../ledger/retirements.ts';
import { ACT_TIMEOUT_SECONDS } from '../limits.ts';
import { OPT_IN_TAG_KEY } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { checksInUse } from './checks-in-use.ts';
import { requireUnshared } from './plan.ts';
import { whatHolds } from './what-holds.ts';

/** What a look answers to the machine. Every member is always there (D15). */
export interface LookAnswer {
  /** `free`: nothing holds the groups of `free` any more. */
  readonly verdict: 'met' | 'free' | 'waiting';
  /** Until the next look, whatever is done in between. */
  readonly waitSeconds: number;
  readonly lingering: number;
  readonly usDollarsPerHour: number;
  readonly free: readonly string[];
  readonly reasons: readonly string[];
}

/** What is left of a retirement. */
interface Left {
  readonly check: string | undefined;
  /** Interfaces of checks that nothing needs any more. */
  readonly lingering: readonly InterfaceFacts[];
  readonly groups: readonly HeldGroup[];
}

/**
 * One look at what is left of a retirement. Reads only.
 *
 * @throws InterfaceShared as soon as another check is asked from a group that was named (D45)
 * @throws InterfacesLinger, GroupHeld at the limit, with what is in the way
 */
export async function lookAtRetirement(subject: string, owner: string): Promise<LookAnswer> {
  const record = await ownRetirement(subject, owner);
  const left = await whatIsLeft(record);
  const { check, lingering, groups } = left;
  const now = nowSeconds();
  // The groups go last (R-ENI).
  const free =
    check === undefined ? groups.filter(({ blockers }) => blockers.length === 0).map(({ id }) => id) : [];
  const answer = {
    waitSeconds: Math.max(1, growingWait(now, record.createdAt, record.deadline)),
    lingering: lingering.length,
    usDollarsPerHour: hourlyCost(lingering.length),
    free,
    reasons: reasonsOf(left).slice(0, 10),
  };
  if (check === undefined && lingering.length === 0 && groups.length === 0)
    return { ...answer, verdict: 'met' };
  // What has become free at the limit is still deleted, once.
  const spent = now >= record.deadline + (free.length > 0 ? ACT_TIMEOUT_SECONDS : 0);
  if (spent) throw atTheLimit(record, left);
  return { ...answer, verdict: free.length > 0 ? 'free' : 'waiting' };
}

async function whatIsLeft({ request, plan }: RetirementRecord): Promise<Left> {
  const { deletesCheck, interfaceIds, groupIds, optInTagValue } = plan;
  const { checkId = '' } = request;
  const exists = deletesCheck && (await applicationStatusChecks([checkId])).has(checkId);
  const use = new InterfaceUse((await checksInUse()).filter(({ id }) => !deletesCheck || id !== checkId));
  for (const id of request.securityGroupIds) requireUnshared(id, use);
  const there = [...(await securityGroups(groupIds)).values()]
    // Whoever takes the tag away, or has come to be asked from a group that nobody has named, keeps it.
    .filter(({ id, tags }) => tags[OPT_IN_TAG_KEY] === optInTagValue && use.usersOfGroup(id).length === 0);
  const groups = await whatHolds(there.map(({ id }) => id));
  const onGroups = groups
    .flatMap(({ blockers }) => blockers.flatMap(one => (one.kind === 'interface' ? one.found : [])))
    .filter(isOfChecks);
  const left = new Map([...(await interfacesById(interfaceIds)), ...onGroups].map(one => [one.id, one]));
  const lingering = [...left.values()].filter(one => use.usersOf(one).length === 0);
  return { check: exists ? checkId : undefined, lingering, groups };
}

/** The groups first: whoever waits for them wants to know what to do. */
function reasonsOf({ check, lingering, groups }: Left): string[] {
  return [
    ...(check === undefined ? [] : [`${check} is still there`]),
    ...groups.filter(({ blockers }) => blockers.length > 0).map(heldInWords),
    ...lingering
      .filter(one => !groups.some(({ id }) => one.securityGroupIds.includes(id)))
      .map(one => `interface ${interfaceInWords(one)} is still there`),
  ];
}

function atTheLimit({ request }: RetirementRecord, left: Left): GroupHeld | InterfacesLinger {
  const { groups, check } = left;
  const words = [
    ...reasonsOf(left),
    ...groups.filter(({ blockers }) => blockers.length === 0).map(heldInWords),
  ].join('. ');
  const said = `After ${request.limitSeconds} s: ${words}.`;
  if (check === undefined && groups.every(isHeldByChecksAlone) && left.lingering.length > 0)
    return new InterfacesLinger(`${said} AWS deletes them by itself, and nobody else can.`);
  return new GroupHeld(said);
}
