import { createHash } from 'node:crypto';
import type { AdoptionRequest } from '../adoption-request.ts';
import { applicationStatusChecks } from '../aws/application-status.ts';
import { groups } from '../aws/auto-scaling.ts';
import { associationValue, checkAssociations } from '../aws/check-associations.ts';
import { checkBesides } from '../aws/checks.ts';
import { describeInstances, type InstanceFacts } from '../aws/instances.ts';
import { leastObservation, sampleOf } from '../domain/adoption.ts';
import type { CheckRoute } from '../domain/ingress.ts';
import type { CheckCounts } from '../domain/precheck.ts';
import {
  AutoScalingGroupUnknown,
  BudgetExceedsTimeout,
  CheckInUse,
  CheckUnknown,
  IngressClosed,
  NothingToDo,
  NotOptedIn,
} from '../errors.ts';
import { createAdoption } from '../ledger/adoptions.ts';
import { takeCheck } from '../ledger/check-locks.ts';
import {
  ADOPTION_ROOM_SECONDS,
  CHECK_INTERVAL_SECONDS,
  DESCRIBE_LAG_SECONDS,
  MACHINE_TIMEOUT_SECONDS,
  RETRY_ROOM_SECONDS,
} from '../limits.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { isOnGroup } from './group-tag.ts';
import { missingIngress } from './missing-ingress.ts';
import { type Adoptee, type Precheck, precheck } from './precheck.ts';

export interface Planned extends Precheck {
  readonly group: string;
  readonly instances: number;
  readonly sample: readonly string[];
  readonly observeSeconds: number;
  readonly watchSeconds: number;
}

/**
 * Decides everything about an adoption, or refuses it, and writes it into the ledger. Nothing in AWS is touched.
 *
 * @throws AutoScalingGroupUnknown, NothingToDo, NotOptedIn, CheckUnknown, CheckInUse, IngressClosed, BudgetExceedsTimeout,
 *   AdoptionInProgress
 */
export async function planAdoption(
  request: AdoptionRequest,
  owner: string,
  optIn: OptInTag,
  quotas: CheckCounts,
): Promise<Planned> {
  const { autoScalingGroupName: name, evaluations, watchSeconds } = request;
  const group = (await groups([name])).get(name);
  if (!group) throw new AutoScalingGroupUnknown(`There is no Auto Scaling group ${name}.`);
  requireOptIn(optIn, group.tags, `Auto Scaling group ${name}`);
  const inService = group.instances.filter(({ lifecycleState }) => lifecycleState === 'InService');
  const facts = await describeInstances(inService.map(({ instanceId }) => instanceId));
  const instances = [...facts.values()];
  if (instances.length === 0)
    throw new NothingToDo(`${name} has no instance in service, so nothing could prove the check.`);
  for (const { id, tags } of instances) requireOptIn(optIn, tags, `instance ${id}`);
  const check = await settingsOf(request, optIn);
  await requireIngress(instances, check.port, check.route);
  const least = leastObservation(check, evaluations, DESCRIBE_LAG_SECONDS);
  const observeSeconds = Math.max(request.observeSeconds, least);
  const total = 2 * observeSeconds + watchSeconds + ADOPTION_ROOM_SECONDS;
  if (total > MACHINE_TIMEOUT_SECONDS - RETRY_ROOM_SECONDS)
    throw new BudgetExceedsTimeout(
      `The adoption may take ${total} s, and the machine waits ${MACHINE_TIMEOUT_SECONDS - RETRY_ROOM_SECONDS} s: lower observeSeconds or watchSeconds.`,
    );
  const members = instances.map(({ id, zone }) => ({ instanceId: id, zone }));
  const sample = check.isOnGroup ? [] : sampleOf(members, request.sample);
  const { cost, warnings } = await precheck(check, group, instances, quotas);
  const token = createHash('sha256').update(owner).digest('hex').slice(0, 32);
  const plan = {
    token,
    sample,
    wasOnGroup: check.isOnGroup,
    observeSeconds,
    optInTagValue: optIn.value,
  };
  await createAdoption({ group: name, owner, request, plan, createdAt: nowSeconds(), checkId: check.id });
  if (check.id !== undefined) await takeCheck(check.id, name, owner);
  return { group: name, instances: instances.length, sample, observeSeconds, watchSeconds, cost, warnings };
}

function requireOptIn({ key, value }: OptInTag, tags: Readonly<Record<string, string>>, what: string): void {
  if (tags[key] !== value) throw new NotOptedIn(`${what} does not carry the tag ${key}=${value}.`);
}

interface CheckSettings extends Adoptee {
  readonly port: number;
  readonly successThreshold: number;
  readonly intervalSeconds: number;
  readonly route: CheckRoute;
  /** Is it associated with the whole group already? */
  readonly isOnGroup: boolean;
}

async function settingsOf(
  { check, autoScalingGroupName }: AdoptionRequest,
  optIn: OptInTag,
): Promise<CheckSettings> {
  if (!('id' in check))
    return {
      ...check,
      id: undefined,
      intervalSeconds: CHECK_INTERVAL_SECONDS,
      route: { deviceIndex: 0, ipVersion: 'ipv4', paths: [] },
      isOnGroup: false,
    };
  const facts = (await applicationStatusChecks([check.id])).get(check.id);
  const besides = await checkBesides(check.id);
  if (!facts || !besides) throw new CheckUnknown(`There is no application status check ${check.id}.`);
  requireOptIn(optIn, besides.tags, `application status check ${check.id}`);
  if (facts.aggregation === 'included')
    throw new CheckInUse(`${check.id} is included already: exclude it first, then it can be proven.`);
  const found = (await checkAssociations()).filter(({ checkId }) => checkId === check.id);
  // What is associated elsewhere would be promoted there too, without any evidence.
  const elsewhere = found.filter(one => !isOnGroup(one, autoScalingGroupName));
  if (elsewhere.length > 0)
    throw new CheckInUse(
      `${check.id} is associated with ${elsewhere.map(associationValue).slice(0, 3).join(', ')} already, and its promotion would reach whatever that holds: disassociate it first, or let a check of its own be created.`,
    );
  return { ...facts, ...besides, isOnGroup: found.length > 0 };
}

/** A check that is closed out finds every instance impaired (R-BUDGET: said before anything is touched). */
async function requireIngress(
  instances: readonly InstanceFacts[],
  port: number,
  route: CheckRoute,
): Promise<void> {
  const add = await missingIngress(instances, port, route);
  if (add.length > 0)
    throw new IngressClosed(
      `The security groups do not let a check reach port ${port}, so it would find every instance impaired. Add:\n${add.join('\n')}`,
    );
}
