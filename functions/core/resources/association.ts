import { GROUP_TAG_KEY } from '../adopt/group-tag.ts';
import { groups } from '../aws/auto-scaling.ts';
import { isNotFound } from '../aws/call.ts';
import { type Association, checkBesides, disassociate } from '../aws/checks.ts';
import { associateOrConfirm, shownOn } from '../aws/confirmed-association.ts';
import { describeInstances, instancesWithTag } from '../aws/instances.ts';
import {
  AutoScalingGroupUnknown,
  CheckUnknown,
  InstanceUnknown,
  NotOptedIn,
  ObservationPending,
} from '../errors.ts';
import { dropAssociation, forgetAssociation, holdAssociation } from '../ledger/associations.ts';
import { DESCRIBE_LAG_SECONDS } from '../limits.ts';
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
export async function serveAssociation(
  request: ResourceRequest,
  { optIn, since }: Context,
): Promise<Missing> {
  const wanted = propertiesOf(associationProperties, request);
  if (request.RequestType === 'Delete') return wanted ? letGo(request, wanted, valuesOf(wanted)) : [];
  if (!wanted) return [];
  await requireCheck(wanted.CheckId, optIn, since);
  await requireFleet(wanted, optIn);
  const missing = await bringAbout(request, wanted).catch((error: unknown) => {
    throw isNotFound(error) ? unknown(wanted.CheckId, since) : error;
  });
  return missing.length > 0 ? missing : letGo(request, wanted, droppedBy(request, wanted));
}

/** Lets go what a failed creation or update has brought about: CloudFormation may never ask for that. */
export async function undoAssociation(request: ResourceRequest): Promise<void> {
  const wanted = readOr(associationProperties, request.ResourceProperties);
  if (!wanted || request.RequestType === 'Delete') return;
  const before = readOr(associationProperties, request.OldResourceProperties);
  const kept = before?.CheckId === wanted.CheckId ? valuesOf(before) : [];
  const brought = valuesOf(wanted).filter(value => !kept.includes(value));
  await letGo(request, wanted, brought);
}

async function bringAbout(request: ResourceRequest, wanted: AssociationProperties): Promise<Missing> {
  const { CheckId: checkId } = wanted;
  const shown = await shownOn(checkId);
  const missing = valuesOf(wanted).filter(value => !shown.includes(value));
  for (const value of valuesOf(wanted))
    await holdAssociation({ checkId, value }, holderOf(request), missing.includes(value));
  if (missing.length === 0) return [];
  await associateOrConfirm(checkId, associationOf(wanted, missing));
  return missing.map(value => `${checkId} does not show its association with ${value} yet`);
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
  await disassociate(checkId, associationOf(properties, unwanted));
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

/** CloudFormation has made the check just before, and a description may not show it yet (R-EVENTUAL). */
const unknown = (id: string, since: number): ObservationPending | CheckUnknown =>
  nowSeconds() - since < DESCRIBE_LAG_SECONDS
    ? new ObservationPending(`${id} does not show yet.`)
    : new CheckUnknown(`There is no application status check ${id}.`);

/** A tag association names no instance, so IAM cannot hold it to the fleets that have opted in (D19). */
async function requireFleet(
  { Tag, InstanceIds = [] }: AssociationProperties,
  optIn: OptInTag,
): Promise<void> {
  if (Tag?.Key === GROUP_TAG_KEY) {
    const group = (await groups([Tag.Value])).get(Tag.Value);
    if (!group) throw new AutoScalingGroupUnknown(`There is no Auto Scaling group ${Tag.Value}.`);
    return requireTag(optIn, group.tags, `Auto Scaling group ${Tag.Value}`);
  }
  const facts = Tag ? await instancesWithTag(Tag.Key, Tag.Value) : await named(InstanceIds);
  for (const { id, tags } of facts) requireTag(optIn, tags, `instance ${id}`);
}

async function named(instanceIds: readonly string[]) {
  const facts = await describeInstances(instanceIds);
  return instanceIds.map(id => {
    const instance = facts.get(id);
    if (!instance) throw new InstanceUnknown(`There is no instance ${id}.`);
    return instance;
  });
}

function requireTag({ key, value }: OptInTag, tags: Readonly<Record<string, string>>, what: string): void {
  if (tags[key] !== value) throw new NotOptedIn(`${what} does not carry the tag ${key}=${value}.`);
}
