import { GROUP_TAG_KEY } from '../adopt/group-tag.ts';
import { groups } from '../aws/auto-scaling.ts';
import { isNotFound } from '../aws/call.ts';
import { type Association, checkBesides } from '../aws/checks.ts';
import { associateOrConfirm, disassociateOrConfirm, shownOn } from '../aws/confirmed-association.ts';
import { describeInstances, instancesWithTag } from '../aws/instances.ts';
import {
  AutoScalingGroupUnknown,
  CheckUnknown,
  InstanceUnknown,
  NotOptedIn,
  ObservationPending,
} from '../errors.ts';
import {
  type AssociationKey,
  dropAssociation,
  findHolds,
  forgetAssociation,
  holdAssociation,
  retakeAssociation,
} from '../ledger/associations.ts';
import { broughtBy, noteBrought } from '../ledger/resource-requests.ts';
import { ACT_TIMEOUT_SECONDS, DESCRIBE_LAG_SECONDS } from '../limits.ts';
import { holderOf } from '../naming.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { propertiesOf, readOr } from './properties.ts';
import { type AssociationProperties, associationProperties, type ResourceRequest } from './request.ts';
import type { Context, Missing } from './serve.ts';

/**
 * Associates what a resource wants with its check, and lets go what it does not want any more: what another resource wants, or
 * somebody else had associated before, stays.
 *
 * @throws CheckUnknown, NotOptedIn, InstanceUnknown, AutoScalingGroupUnknown, QuotaExceeded
 */
export async function serveAssociation(request: ResourceRequest, context: Context): Promise<Missing> {
  const wanted = propertiesOf(associationProperties, request);
  if (request.RequestType === 'Delete') return wanted ? letGo(request, wanted, valuesOf(wanted)) : [];
  if (!wanted) return [];
  const { optIn, since } = context;
  await requireCheck(wanted.CheckId, optIn, since);
  const values = await requireFleet(request, wanted, context);
  const missing = await bringAbout(request, wanted, values).catch((error: unknown) => {
    throw isNotFound(error) ? unknown(wanted.CheckId, since) : error;
  });
  return missing.length > 0 ? missing : letGo(request, wanted, droppedBy(request, wanted));
}

/** Lets go what a failed creation or update has brought about: CloudFormation may never ask for that. */
export async function undoAssociation(request: ResourceRequest): Promise<void> {
  const wanted = readOr(associationProperties, request.ResourceProperties);
  if (wanted) await letGo(request, wanted, await broughtBy(request.RequestId));
}

async function bringAbout(
  request: ResourceRequest,
  wanted: AssociationProperties,
  values: readonly string[],
): Promise<Missing> {
  const { CheckId: checkId } = wanted;
  const keys = values.map(value => ({ checkId, value }));
  const going = await takeHold(request, keys);
  if (going.length > 0)
    return going.map(value => `${checkId} may still show its association with ${value}, which was let go`);
  const shown = await shownOn(checkId);
  const missing = values.filter(value => !shown.includes(value));
  for (const key of keys) await holdAssociation(key, holderOf(request), missing.includes(key.value));
  if (missing.length === 0) return [];
  await associateOrConfirm(checkId, associationOf(wanted, missing));
  return missing.map(value => `${checkId} does not show its association with ${value} yet`);
}

/** An act that lets go ends, and descriptions stop showing what is gone, within so long. */
const GOING_SECONDS = ACT_TIMEOUT_SECONDS + DESCRIBE_LAG_SECONDS;

/**
 * Keeps for the resource what another one is just letting go.
 *
 * @returns what was, so lately that nobody can see whether it is there (R-STATE)
 */
async function takeHold(request: ResourceRequest, keys: readonly AssociationKey[]): Promise<string[]> {
  const now = nowSeconds();
  const holder = holderOf(request);
  const holds = await findHolds(keys);
  const isHeld = ({ value }: AssociationKey) => holds.get(value)?.holders.includes(holder) === true;
  await noteBrought(
    request.RequestId,
    keys.filter(key => !isHeld(key)).map(({ value }) => value),
  );
  const going: string[] = [];
  for (const key of keys) {
    const hold = holds.get(key.value);
    const isLetGo = hold && !isHeld(key) && (await retakeAssociation(key, holder, now));
    if (isLetGo || now < (hold?.retakenAt ?? 0) + GOING_SECONDS) going.push(key.value);
  }
  return going;
}

/** @returns what is still to go, or shows still */
async function letGo(
  request: ResourceRequest,
  properties: AssociationProperties,
  values: readonly string[],
): Promise<Missing> {
  const { CheckId: checkId } = properties;
  const unwanted: string[] = [];
  for (const value of values) {
    const left = await dropAssociation({ checkId, value }, holderOf(request));
    if (left?.holders.length === 0) {
      if (left.made) unwanted.push(value);
      else await forgetAssociation({ checkId, value });
    }
  }
  if (unwanted.length === 0) return [];
  await disassociateOrConfirm(checkId, associationOf(properties, unwanted));
  const shown = await shownOn(checkId);
  for (const value of unwanted) if (!shown.includes(value)) await forgetAssociation({ checkId, value });
  return unwanted
    .filter(value => shown.includes(value))
    .map(value => `${checkId} still shows its association with ${value}`);
}

/** Of a replacement nothing: CloudFormation deletes the old one when everything else is updated. */
function droppedBy({ OldResourceProperties }: ResourceRequest, wanted: AssociationProperties): string[] {
  const before = readOr(associationProperties, OldResourceProperties);
  const isInPlace = before?.CheckId === wanted.CheckId && before.InstanceIds && wanted.InstanceIds;
  return isInPlace ? valuesOf(before).filter(value => !wanted.InstanceIds?.includes(value)) : [];
}

/** As descriptions name them. */
const valuesOf = ({ Tag, InstanceIds = [] }: AssociationProperties): readonly string[] =>
  Tag ? [`${Tag.Key}=${Tag.Value}`] : InstanceIds;

const associationOf = ({ Tag }: AssociationProperties, values: readonly string[]): Association =>
  Tag ? { tag: { key: Tag.Key, value: Tag.Value } } : { instanceIds: values };

async function requireCheck(id: string, optIn: OptInTag, since: number): Promise<void> {
  const check = await checkBesides(id);
  if (!check) throw unknown(id, since);
  requireTag(optIn, check.tags, `application status check ${id}`);
}

const unknown = (id: string, since: number): Error =>
  unlessNew(id, since, new CheckUnknown(`There is no application status check ${id}.`));

/** CloudFormation may have made it just before, and a description does not show it yet (R-EVENTUAL). */
const unlessNew = (what: string, since: number, refusal: Error): Error =>
  mayBeNew(since) ? new ObservationPending(`${what} does not show yet.`) : refusal;

const mayBeNew = (since: number): boolean => nowSeconds() - since < DESCRIBE_LAG_SECONDS;

/**
 * A tag association names no instance, so IAM cannot hold it to the fleets that have opted in (D19).
 *
 * @returns what to associate: of instances those that are there. One that never was is a mistake, one that is gone is not (R-GONE)
 */
async function requireFleet(
  { RequestType }: ResourceRequest,
  wanted: AssociationProperties,
  { optIn, since }: Context,
): Promise<readonly string[]> {
  const { Tag, InstanceIds = [] } = wanted;
  if (Tag?.Key === GROUP_TAG_KEY) {
    const group = (await groups([Tag.Value])).get(Tag.Value);
    const name = `Auto Scaling group ${Tag.Value}`;
    if (!group) throw unlessNew(name, since, new AutoScalingGroupUnknown(`There is no ${name}.`));
    requireTag(optIn, group.tags, name);
    return valuesOf(wanted);
  }
  if (Tag) {
    const tagged = await instancesWithTag(Tag.Key, Tag.Value);
    for (const { id, tags } of tagged) requireTag(optIn, tags, `instance ${id}`);
    return valuesOf(wanted);
  }
  const found = await describeInstances(InstanceIds);
  const there = [...found.values()].filter(({ state }) => state !== 'terminated');
  for (const { id, tags } of there) requireTag(optIn, tags, `instance ${id}`);
  const unseen = InstanceIds.find(id => !found.has(id));
  if (unseen !== undefined && mayBeNew(since))
    throw new ObservationPending(`instance ${unseen} does not show yet.`);
  const isThere = (id: string) => there.some(instance => instance.id === id);
  const gone = InstanceIds.find(id => !isThere(id));
  if (gone !== undefined && RequestType === 'Create')
    throw new InstanceUnknown(`There is no instance ${gone}.`);
  return InstanceIds.filter(isThere);
}

function requireTag({ key, value }: OptInTag, tags: Readonly<Record<string, string>>, what: string): void {
  if (tags[key] !== value) throw new NotOptedIn(`${what} does not carry the tag ${key}=${value}.`);
}
