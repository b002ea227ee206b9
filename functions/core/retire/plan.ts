import { checkBesides } from '../aws/checks.ts';
import type { InstanceFacts } from '../aws/instances.ts';
import { type SecurityGroupFacts, securityGroups } from '../aws/security-groups.ts';
import { hourlyCost, InterfaceUse } from '../domain/check-interfaces.ts';
import type { InterfaceFacts } from '../domain/group-blockers.ts';
import { InterfaceShared, NotOptedIn, RetirementInProgress } from '../errors.ts';
import { takeToRetire } from '../ledger/check-locks.ts';
import { requireOpen } from '../ledger/closing.ts';
import {
  createRetirement,
  findRetirement,
  inProgress,
  type RetirementPlan,
  type RetirementRecord,
  takeRetirementOver,
} from '../ledger/retirements.ts';
import { readRequest } from '../request.ts';
import {
  abandonedRetirement,
  type RetirementRequest,
  retirementRequest,
  subjectOf,
} from '../retirement-request.ts';
import { DELETE_WHEN_FREE_KEY, type OptInTag, optInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { type AssociatedCheck, checksInUse } from './checks-in-use.ts';
import { requireUncounted } from './counted-on.ts';
import { awaitedGroups, everyCheckInterface, type RememberedInterface } from './every-interface.ts';

/** What the first step answers to the machine. Every member is always there (D15). */
export interface Planned {
  /** `nothing`: it is all gone already, or another execution is at it. */
  readonly verdict: 'planned' | 'nothing';
  readonly subject: string;
  readonly deletesCheck: boolean;
  readonly interfaceIds: readonly string[];
  readonly groupIds: readonly string[];
  /** Interfaces that stay, and the checks that need them (D45). */
  readonly shared: readonly { readonly interfaceId: string; readonly checkIds: readonly string[] }[];
  /** US dollars that the interfaces cost for as long as they stay. */
  readonly usDollarsPerHour: number;
  /** How long what is left is waited for. */
  readonly limitSeconds: number;
}

/**
 * Decides everything about a retirement, or refuses it, and writes it into the ledger. Nothing in AWS is touched.
 *
 * @throws InvalidRequest, StackClosing, NotOptedIn, RunInProgress, AdoptionInProgress, RetirementInProgress, InterfaceShared
 */
export async function planRetirement(
  request: unknown,
  owner: string,
  optInTagValue: string,
): Promise<Planned> {
  if (request !== null && typeof request === 'object' && 'from' in request)
    return resume(readRequest(abandonedRetirement, request), owner);
  const asked = readRequest(retirementRequest, request);
  await requireOpen();
  const subject = subjectOf(asked);
  const other = await findRetirement(subject);
  if (other?.status === 'live' && other.owner !== owner) {
    // What is left of a check is looked after: an event tells of our own deletion too.
    if (asked.keepCheck) return nothing(subject);
    throw inProgress(subject, other);
  }
  const seen = await see(asked, optInTag(optInTagValue));
  const { interfaces, groupIds, check, shared } = seen;
  if (!check && interfaces.length === 0 && groupIds.length === 0) return { ...nothing(subject), shared };
  const now = nowSeconds();
  const plan: RetirementPlan = {
    deletesCheck: check !== undefined,
    interfaceIds: interfaces.map(({ id }) => id),
    groupIds,
    optInTagValue,
  };
  const { limitSeconds } = asked;
  try {
    await createRetirement({ owner, request: asked, plan, createdAt: now, deadline: now + limitSeconds });
  } catch (error) {
    // Begun meanwhile: of one deletion several events tell at once.
    if (asked.keepCheck && error instanceof RetirementInProgress) return nothing(subject);
    throw error;
  }
  if (check) await takeToRetire(check.id, owner);
  return { ...answerOf(subject, plan, limitSeconds), shared };
}

async function resume(
  { subject, from }: { readonly subject: string; readonly from: string },
  owner: string,
): Promise<Planned> {
  const record = await takeRetirementOver(subject, from, owner);
  if (!record) return nothing(subject);
  return answerOf(subject, record.plan, Math.max(0, record.deadline - nowSeconds()));
}

const answerOf = (
  subject: string,
  { deletesCheck, interfaceIds, groupIds }: RetirementRecord['plan'],
  limitSeconds: number,
): Planned => ({
  verdict: 'planned',
  subject,
  deletesCheck,
  interfaceIds,
  groupIds,
  shared: [],
  usDollarsPerHour: hourlyCost(interfaceIds.length),
  limitSeconds,
});

const nothing = (subject: string): Planned => ({
  ...answerOf(subject, { deletesCheck: false, interfaceIds: [], groupIds: [], optInTagValue: '' }, 0),
  verdict: 'nothing',
});

interface Seen {
  /** The check to delete. */
  readonly check: AssociatedCheck | undefined;
  /** Those that only it needs, or has needed. */
  readonly interfaces: readonly InterfaceFacts[];
  readonly groupIds: readonly string[];
  readonly shared: Planned['shared'];
}

async function see(request: RetirementRequest, optIn: OptInTag): Promise<Seen> {
  const { checkId, keepCheck, securityGroupIds } = request;
  const checks = await checksInUse();
  const check = keepCheck ? undefined : checks.find(({ id }) => id === checkId);
  if (check) {
    requireOptIn(optIn, (await checkBesides(check.id))?.tags ?? {}, `application status check ${check.id}`);
    for (const { id, tags } of associatedById(check)) requireOptIn(optIn, tags, `instance ${id}`);
    await requireUncounted(check);
  }
  const others = new InterfaceUse(checks.filter(({ id }) => id !== check?.id));
  const every = await everyCheckInterface();
  const its = checkId === undefined ? [] : ofCheck(checkId, check, every.there, others);
  const shared = its
    .map(one => ({ interfaceId: one.id, checkIds: others.usersOf(one) }))
    .filter(({ checkIds }) => checkIds.length > 0);
  const interfaces = its.filter(one => others.usersOf(one).length === 0);
  const groups = await securityGroups([
    ...securityGroupIds,
    ...interfaces.flatMap(one => one.securityGroupIds),
  ]);
  const named = securityGroupIds.flatMap(id => groups.get(id) ?? []);
  for (const { id, tags } of named) requireOptIn(optIn, tags, `security group ${id}`);
  for (const { id } of named) requireUnshared(id, others);
  const awaited = awaitedGroups(every, others);
  const tagged = [...groups.values()]
    .filter(group => isDeletedWhenFree(group, optIn))
    .filter(({ id }) => others.usersOfGroup(id).length === 0 && !awaited.has(id));
  const groupIds = new Set([...named, ...tagged].map(({ id }) => id));
  return { check, interfaces, groupIds: [...groupIds], shared };
}

/** Of those EC2 asks for a permission on the instance too. */
const associatedById = ({ members, associations }: AssociatedCheck): readonly InstanceFacts[] =>
  members.filter(({ id }) => associations.some(one => 'instanceId' in one && one.instanceId === id));

/** The interfaces of a check: those it needs, or of one that is gone those that it was seen to need, or that nobody was. */
function ofCheck(
  checkId: string,
  check: AssociatedCheck | undefined,
  all: readonly RememberedInterface[],
  others: InterfaceUse,
): readonly RememberedInterface[] {
  if (check) {
    const own = new InterfaceUse([check]);
    return all.filter(one => own.usersOf(one).length > 0);
  }
  return all.filter(one => {
    const { checkIds = [] } = one.known ?? {};
    return checkIds.includes(checkId) || (checkIds.length === 0 && others.usersOf(one).length === 0);
  });
}

/**
 * It would stay for as long as the other check does: said before anything is touched (D45), and as soon as one comes.
 *
 * @throws InterfaceShared
 */
export function requireUnshared(id: string, others: InterfaceUse): void {
  const users = others.usersOfGroup(id);
  if (users.length > 0)
    throw new InterfaceShared(
      `${users.join(', ')} is asked from ${id} too, so that its interfaces stay and the group cannot be deleted. Retire that first, or leave the group out.`,
    );
}

function requireOptIn({ key, value }: OptInTag, tags: Readonly<Record<string, string>>, what: string): void {
  if (tags[key] !== value) throw new NotOptedIn(`${what} does not carry the tag ${key}=${value}.`);
}

/** May it be deleted although nobody has named it? */
export const isDeletedWhenFree = ({ tags }: SecurityGroupFacts, { key, value }: OptInTag): boolean =>
  tags[key] === value && tags[DELETE_WHEN_FREE_KEY] === 'true';
