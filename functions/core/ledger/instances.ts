import type { Membership } from '../domain/fleet.ts';
import { type Claim, type Deployed, type InstanceRecord, pk } from './items.ts';
import { change, get, getAll, type Item, json, number, parsed, remove, text } from './table.ts';

const CLAIM = 'claim#';

/** Reads what the ledger knows of these instances, strongly consistently. */
export async function findInstances(instanceIds: readonly string[]): Promise<Map<string, InstanceRecord>> {
  const items = await getAll(instanceIds.map(pk.instance));
  const records = new Map<string, InstanceRecord>();
  for (const instanceId of instanceIds) {
    const item = items.get(pk.instance(instanceId));
    if (item) records.set(instanceId, toRecord(instanceId, item));
  }
  return records;
}

export type ClaimAnswer =
  | { readonly claimed: true }
  | { readonly claimed: false; readonly by: string; readonly why: 'traffic' | 'releasing' };

/**
 * Claims an instance for a run, and its traffic with it when the run moves it. Refused while another run moves its traffic,
 * or is just disabling its suppression (that would undo ours). A release that should be over by now is overruled: whoever
 * announced it ends no claim but its own any more.
 *
 * @param superseded a run that has ended: its hold on the traffic is taken over, recorded memberships and all (D2)
 */
export async function claimInstance(
  runId: string,
  instanceId: string,
  claim: Claim,
  movesTraffic: boolean,
  nowSeconds: number,
  superseded = runId,
): Promise<ClaimAnswer> {
  const takesOver = movesTraffic && superseded !== runId;
  const claimed = await change(pk.instance(instanceId), {
    UpdateExpression: `SET #claim = :claim${movesTraffic ? ', traffic = :run, memberships = :memberships' : ''}${takesOver ? ', tookOver = :run' : ''} ADD claimants :runs REMOVE releasing, releasingUntil`,
    ConditionExpression: `(attribute_not_exists(releasing) OR releasing = :run OR releasingUntil < :now)${
      movesTraffic ? ' AND (attribute_not_exists(traffic) OR traffic IN (:run, :superseded))' : ''
    }`,
    ExpressionAttributeNames: { '#claim': CLAIM + runId },
    ExpressionAttributeValues: {
      ':claim': json(claim),
      ':run': text(runId),
      ':runs': { SS: [runId] },
      ':now': number(nowSeconds),
      ...(movesTraffic
        ? { ':memberships': json(claim.member.memberships), ':superseded': text(superseded) }
        : {}),
    },
    ReturnValues: 'NONE',
  });
  if (claimed) return { claimed: true };
  const item = await get(pk.instance(instanceId));
  const releasing = item?.releasing?.S;
  if (releasing && releasing !== runId && Number(item?.releasingUntil?.N) >= nowSeconds)
    return { claimed: false, by: releasing, why: 'releasing' };
  return { claimed: false, by: item?.traffic?.S ?? 'another run', why: 'traffic' };
}

/** Writes memberships that were found only when the traffic was about to be moved, before they are. */
export async function recordMemberships(
  runId: string,
  instanceId: string,
  memberships: readonly Membership[],
): Promise<boolean> {
  const written = await change(pk.instance(instanceId), {
    UpdateExpression: 'SET memberships = :memberships',
    ConditionExpression: 'traffic = :run',
    ExpressionAttributeValues: { ':memberships': json(memberships), ':run': text(runId) },
    ReturnValues: 'NONE',
  });
  return written !== undefined;
}

/** The run needs its claim for longer than it knew when it claimed. */
export async function lengthenClaim(runId: string, record: InstanceRecord, until: number): Promise<void> {
  const claim = record.claims.get(runId);
  if (claim) await writeClaim(runId, record.instanceId, { ...claim, until });
}

/** Writes the run's claim anew, if the instance still has one of it. */
export async function writeClaim(runId: string, instanceId: string, claim: Claim): Promise<void> {
  await change(pk.instance(instanceId), {
    UpdateExpression: 'SET #claim = :claim',
    ConditionExpression: 'attribute_exists(#claim)',
    ExpressionAttributeNames: { '#claim': CLAIM + runId },
    ExpressionAttributeValues: { ':claim': json(claim) },
    ReturnValues: 'NONE',
  });
}

/**
 * Announces that this run disables the instance's suppression. Holds only while the claims are those that were read: a run
 * that claims afterwards waits until the release is over, and one that has just lengthened its claim is not dead.
 */
export async function beginRelease(
  runId: string,
  record: InstanceRecord,
  releasingUntil: number,
): Promise<boolean> {
  const asRead = unchanged(runId, record);
  const begun = await change(pk.instance(record.instanceId), {
    UpdateExpression: 'SET releasing = :run, releasingUntil = :until',
    ConditionExpression: `${asRead.condition} AND (attribute_not_exists(releasing) OR releasing = :run)`,
    ...asRead.names,
    ExpressionAttributeValues: {
      ':run': text(runId),
      ':until': number(releasingUntil),
      ...asRead.values,
    },
    ReturnValues: 'NONE',
  });
  return begun !== undefined;
}

/**
 * Leaves an instance that another run still claims. False when this run is the last: then it is its to release. Two runs
 * that leave at once cannot both take the other for the last one.
 *
 * @param handsOn leaves the instance suppressed: whoever claims it last has to release it, whatever it has done itself
 */
export const leaveClaim = (runId: string, record: InstanceRecord, handsOn = false): Promise<boolean> =>
  takeOff(runId, record, {
    sets: handsOn ? 'SET handedOn = :yes' : '',
    condition: 'contains(claimants, :run) AND size(claimants) > :one',
    values: { ':one': number(1), ...(handsOn ? { ':yes': { BOOL: true } } : {}) },
  });

/**
 * Leaves an instance to the run that covers it, and says from when on that run's evidence counts: in one write, so that the
 * instance is never without a run that has to prove and to release it.
 *
 * @returns false when that run does not claim the instance any more: then nothing was left
 */
export const leaveToCover = (
  runId: string,
  record: InstanceRecord,
  coveredBy: string,
  deployed: Deployed,
): Promise<boolean> =>
  takeOff(runId, record, {
    sets: 'SET deployed = :deployed',
    condition: 'contains(claimants, :cover) AND attribute_not_exists(releasing)',
    values: { ':cover': text(coveredBy), ':deployed': json(deployed) },
  });

/** What is said on an instance of one run at a time, with the attributes that belong to it. */
const MARKS = {
  traffic: ['traffic', 'memberships', 'tookOver'],
  releasing: ['releasing', 'releasingUntil'],
} as const;

/**
 * Takes the run's claim off an instance, and the marks that are its own. Since they were read another run may have taken the
 * traffic over (D2), or claimed the instance when a release should have been over: its marks stay, and what it needs to undo.
 */
async function takeOff(
  runId: string,
  record: InstanceRecord,
  { sets, condition, values }: { readonly sets: string; readonly condition: string; readonly values: Item },
): Promise<boolean> {
  for (const own of ownMarks(runId, record)) {
    const removed = ['#claim', ...own.flatMap(mark => MARKS[mark])];
    const marked = (mark: keyof typeof MARKS) =>
      own.includes(mark) ? `${mark} = :run` : `(attribute_not_exists(${mark}) OR ${mark} <> :run)`;
    const taken = await change(pk.instance(record.instanceId), {
      UpdateExpression: `${sets} REMOVE ${removed.join(', ')} DELETE claimants :me`,
      ConditionExpression: [condition, marked('traffic'), marked('releasing')].join(' AND '),
      ExpressionAttributeNames: { '#claim': CLAIM + runId },
      ExpressionAttributeValues: { ':me': { SS: [runId] }, ':run': text(runId), ...values },
      ReturnValues: 'NONE',
    });
    if (taken) return true;
  }
  return false;
}

/** The run's marks as they were read, then what may be left of them. */
function ownMarks(
  runId: string,
  { traffic, releasing }: InstanceRecord,
): readonly (readonly (keyof typeof MARKS)[])[] {
  const either = <M extends keyof typeof MARKS>(mark: M, own: boolean): readonly (readonly M[])[] =>
    own ? [[mark], []] : [[]];
  return either('traffic', traffic === runId).flatMap(moved =>
    either('releasing', releasing === runId).map(released => [...moved, ...released]),
  );
}

/**
 * Ends the last claim and with it the record. With a released suppression the claims of dead runs end too, but not the
 * memberships that one of them has still to put back.
 *
 * @returns false when the record has to stay for another run
 */
export async function endLastClaim(runId: string, record: InstanceRecord): Promise<boolean> {
  const asRead = unchanged(runId, record);
  return remove(pk.instance(record.instanceId), {
    ConditionExpression: `attribute_not_exists(pk) OR claimants = :onlyMe OR (releasing = :run AND ${asRead.condition} AND (attribute_not_exists(traffic) OR traffic = :run))`,
    ...asRead.names,
    ExpressionAttributeValues: {
      ':onlyMe': { SS: [runId] },
      ':run': text(runId),
      ...asRead.values,
    },
  });
}

/** The condition that the claimants, and the claims of the others, are still those that were read. */
function unchanged(runId: string, { claims }: InstanceRecord) {
  const others = [...claims].filter(([claimant]) => claimant !== runId);
  const names = Object.fromEntries(others.map(([claimant], index) => [`#other${index}`, CLAIM + claimant]));
  const values = Object.fromEntries(others.map(([, claim], index) => [`:other${index}`, json(claim)]));
  return {
    condition: ['claimants = :asRead', ...others.map((_, index) => `#other${index} = :other${index}`)].join(
      ' AND ',
    ),
    // DynamoDB does not take an empty map.
    names: others.length > 0 ? { ExpressionAttributeNames: names } : {},
    values: { ':asRead': { SS: [...claims.keys()] }, ...values },
  };
}

/**
 * Ends the last claim, of a run that has done nothing, and with it the record.
 *
 * @returns false when another run has left the instance to it, or claims it too
 */
export async function endUnusedClaim(runId: string, record: InstanceRecord): Promise<boolean> {
  return remove(pk.instance(record.instanceId), {
    ConditionExpression:
      'attribute_not_exists(pk) OR (claimants = :onlyMe AND attribute_not_exists(handedOn))',
    ExpressionAttributeValues: { ':onlyMe': { SS: [runId] } },
  });
}

/** Reads an instance's item. */
export function toRecord(instanceId: string, item: Item): InstanceRecord {
  const claims = new Map<string, Claim>();
  for (const [name, value] of Object.entries(item)) {
    const claim = name.startsWith(CLAIM) ? parsed<Claim>(value) : undefined;
    if (claim) claims.set(name.slice(CLAIM.length), claim);
  }
  const deployed = parsed<Deployed>(item.deployed);
  return {
    instanceId,
    claims,
    memberships: parsed<Membership[]>(item.memberships) ?? [],
    ...(item.traffic?.S ? { traffic: item.traffic.S } : {}),
    ...(item.releasing?.S ? { releasing: item.releasing.S } : {}),
    ...(item.tookOver?.S ? { tookOver: item.tookOver.S } : {}),
    ...(deployed && { deployed }),
  };
}
