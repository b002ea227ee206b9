import { createHash } from 'node:crypto';
import { applicationStatuses } from '../aws/application-status.ts';
import { groups, setUnhealthy } from '../aws/auto-scaling.ts';
import { concurrently, inChunks } from '../aws/batch.ts';
import { deregisterTargets, type TargetHealthFacts } from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import { enableSuppression } from '../aws/suppression.ts';
import { decideAfterFailure, mayStayListed, PROOF_SECONDS } from '../domain/after-failure.ts';
import { type Member, membershipKey } from '../domain/fleet.ts';
import { judgeSuppressed, type StatusSeen } from '../domain/goals.ts';
import { listAt } from '../domain/lists.ts';
import { findInstances, writeClaim } from '../ledger/instances.ts';
import type { Claim, Fate, InstanceRecord, RunRecord } from '../ledger/items.ts';
import { beginHolding } from '../ledger/runs.ts';
import {
  LEDGER_WRITES_AT_ONCE,
  SUPPRESSION_INSTANCES,
  SUPPRESSION_MARGIN_SECONDS,
  TARGETS_PER_CALL,
} from '../limits.ts';
import { leaveStandby, unlessGone } from './hold.ts';
import { healthUnlessGone } from './seen-targets.ts';
import { longestClaim, withoutGone } from './suppress.ts';

/** The members of a failed run by what becomes of them. */
export interface Sorted {
  readonly putBack: readonly Member[];
  readonly held: readonly Member[];
  readonly handedOver: readonly Member[];
  /** Nothing is done with these before they are proven ready, or time is up. */
  readonly undecided: readonly Member[];
  /** Why they are undecided, instance by instance. */
  readonly reasons: readonly string[];
  /** When what is held is given back, in seconds since the epoch; 0 when nothing is. */
  readonly heldUntil: number;
}

/**
 * Decides for each member of a failed run, by its policy and from fresh reads, and writes each decision down before it is
 * acted on. Who is held or handed over stays so until the run's hold ends.
 */
export async function sortAfterFailure(
  run: RunRecord,
  owner: string,
  members: readonly Member[],
  records: ReadonlyMap<string, InstanceRecord>,
  now: number,
): Promise<Sorted> {
  const claimOf = ({ instanceId }: Member) => records.get(instanceId)?.claims.get(run.runId);
  const written = (member: Member) => claimOf(member)?.fate?.how;
  const over = await terminatedAmong(members.filter(member => written(member) === 'held'));
  const fateOf = (member: Member) => (over.has(member) ? undefined : written(member));
  const { afterFailure } = run.request.policy;
  const keeps = afterFailure === 'held' || afterFailure === 'replaced';
  if (!keeps || run.goAheadAt === undefined || (run.heldUntil ?? now + 1) <= now) {
    const [ours, handedOver] = parted(members, member => fateOf(member) !== 'handed-over');
    await writeFates(run, records, new Map(ours.filter(written).map(member => [member, undefined])));
    return { putBack: ours, held: [], handedOver, undecided: [], reasons: [], heldUntil: 0 };
  }

  await writeFates(run, records, new Map([...over].map(member => [member, undefined])));
  const open = members.filter(
    member => !written(member) && records.get(member.instanceId)?.releasing !== run.runId,
  );
  const decided = await decide(run, open, now);
  const fates = new Map(
    [...decided].flatMap(([member, decision]): [Member, Fate][] => {
      if (decision.verdict !== 'held' && decision.verdict !== 'replaced') return [];
      const how = decision.verdict === 'held' ? 'held' : 'handed-over';
      return [[member, { how, reason: decision.reason, since: now }]];
    }),
  );
  const until =
    [...fates.values()].some(({ how }) => how === 'held') && run.endedAt !== undefined
      ? await beginHolding(run.runId, owner, run.endedAt + run.request.policy.heldSeconds)
      : (run.heldUntil ?? 0);
  await writeFates(run, records, fates, until + SUPPRESSION_MARGIN_SECONDS);
  const becomes = (member: Member) => fateOf(member) ?? fates.get(member)?.how;
  const waiting = members.flatMap(member => {
    const decision = decided.get(member);
    return decision?.verdict === 'wait' ? [{ member, reason: decision.reason }] : [];
  });
  const undecided = new Set(waiting.map(({ member }) => member));
  return {
    putBack: members.filter(member => !becomes(member) && !undecided.has(member)),
    held: members.filter(member => becomes(member) === 'held'),
    handedOver: members.filter(member => becomes(member) === 'handed-over'),
    undecided: [...undecided],
    reasons: waiting.map(({ member, reason }) => `${member.instanceId} is not proven ready: ${reason}`),
    heldUntil: until,
  };
}

/** Nobody looks any more at what was held and is terminated: its group is not held for it either (R-GONE). */
async function terminatedAmong(held: readonly Member[]): Promise<ReadonlySet<Member>> {
  const facts = await describeInstances(held.map(({ instanceId }) => instanceId));
  return new Set(
    held.filter(({ instanceId }) => (facts.get(instanceId)?.state ?? 'terminated') === 'terminated'),
  );
}

async function decide(run: RunRecord, members: readonly Member[], now: number) {
  const statuses = await applicationStatuses(
    members.filter(({ includedChecks }) => includedChecks.length > 0).map(({ instanceId }) => instanceId),
  );
  const listed = await listedTargets(run, members);
  const { endedAt = now, goAheadAt } = run;
  const decided = new Map(
    members.map(member => [
      member,
      decideAfterFailure({
        policy: run.request.policy.afterFailure,
        deployed: goAheadAt !== undefined,
        member,
        status: statuses.get(member.instanceId),
        targets: listAt(listed, member.instanceId).map(({ health }) => ({
          ...health,
          shifted: health.zonalShift,
        })),
        failedAt: endedAt * 1000,
        late: now >= endedAt + PROOF_SECONDS,
      }),
    ]),
  );
  // R-GONE: nobody looks at an instance that was terminated, and nobody replaces it once more.
  const unproven = members.filter(member => decided.get(member)?.verdict !== 'put-back');
  const facts = await describeInstances(unproven.map(({ instanceId }) => instanceId));
  for (const member of unproven)
    if (facts.get(member.instanceId)?.state !== 'running') decided.set(member, { verdict: 'put-back' });
  return decided;
}

async function writeFates(
  run: RunRecord,
  records: ReadonlyMap<string, InstanceRecord>,
  fates: ReadonlyMap<Member, Fate | undefined>,
  until = 0,
): Promise<void> {
  await concurrently([...fates], LEDGER_WRITES_AT_ONCE, async ([{ instanceId }, fate]) => {
    const known = records.get(instanceId)?.claims.get(run.runId);
    if (!known) return;
    const { fate: _, ...claim }: Claim = known;
    const longer = { ...claim, until: Math.max(claim.until, until) };
    await writeClaim(run.runId, instanceId, fate ? { ...longer, fate } : claim);
  });
}

/**
 * Keeps held members suppressed until the hold ends, and out of traffic where they do not receive it anyway. Repeating it
 * acts only on what is not so yet.
 *
 * @returns what EC2 or Elastic Load Balancing did not do, instance by instance
 */
export async function keepHeld(
  run: RunRecord,
  { held, heldUntil }: Pick<Sorted, 'held' | 'heldUntil'>,
  now: number,
): Promise<string[]> {
  if (held.length === 0) return [];
  const watched = held.filter(member => member.suppression !== 'none').map(({ instanceId }) => instanceId);
  const statuses = await applicationStatuses(watched);
  const lacking = held.filter(
    member => !isKeptSuppressed(member, statuses.get(member.instanceId), heldUntil * 1000),
  );
  const reasons: string[] = [];
  await inChunks(
    lacking.map(({ instanceId }) => instanceId).sort(),
    SUPPRESSION_INSTANCES,
    1,
    async chunk => {
      const ids = await notTakenOver(run, chunk);
      if (ids.length === 0) return;
      const seconds = (await longestClaim(ids)) - now;
      const { failed } = await enableSuppression(
        ids,
        seconds,
        tokenOf([run.runId, 'hold', now, seconds, ids]),
      );
      for (const { instanceId, reason } of await withoutGone(failed))
        reasons.push(`${instanceId} cannot be suppressed for as long as it is held: ${reason}`);
    },
  );
  const listed = await listedTargets(run, held);
  for (const { arn, targetType } of run.plan.groups) {
    const leaving = [...listed].flatMap(([instanceId, targets]) =>
      targets
        .filter(
          ({ group, health }) => group === arn && !mayStayListed({ ...health, shifted: health.zonalShift }),
        )
        .map(({ health }) => ({ instanceId, target: health.target })),
    );
    await inChunks(leaving, TARGETS_PER_CALL, 1, async chunk => {
      const ours = new Set(
        await notTakenOver(
          run,
          chunk.map(({ instanceId }) => instanceId),
        ),
      );
      const targets = chunk.filter(({ instanceId }) => ours.has(instanceId)).map(({ target }) => target);
      if (targets.length > 0) await deregisterTargets(arn, targets, targetType);
    });
  }
  return reasons;
}

/** Those whose traffic no other run has taken over meanwhile: from then on it is the other's to act on them (D2, D5). */
async function notTakenOver(run: RunRecord, instanceIds: readonly string[]): Promise<string[]> {
  const records = await findInstances(instanceIds);
  return instanceIds.filter(id => (records.get(id)?.traffic ?? run.runId) === run.runId);
}

const isKeptSuppressed = (member: Member, seen: StatusSeen | undefined, until: number): boolean =>
  judgeSuppressed(member, seen, until).verdict === 'met' &&
  (member.suppression === 'none' || seen?.status === 'suppressed');

/**
 * Marks members Unhealthy that Auto Scaling is to replace. It does so at once, or as soon as the processes of its group are
 * resumed. In Standby a mark has no effect, so they leave it first.
 *
 * @returns who is not described so yet
 */
export async function handOver(run: RunRecord, members: readonly Member[]): Promise<string[]> {
  const inStandby = await leaveStandby(run, members);
  if (inStandby.size > 0) return [...inStandby.values()];
  const ours = new Set(members.map(({ instanceId }) => instanceId));
  const names = new Set(members.flatMap(({ autoScalingGroup }) => autoScalingGroup ?? []));
  const facts = await groups([...names]);
  const pending = [...facts.values()]
    .flatMap(({ instances }) => instances)
    .filter(({ instanceId }) => ours.has(instanceId))
    .filter(
      ({ lifecycleState, healthStatus }) => lifecycleState === 'InService' && healthStatus === 'Healthy',
    );
  for (const { instanceId } of pending)
    for (const id of await notTakenOver(run, [instanceId])) await unlessGone(() => setUnhealthy(id));
  return pending.map(({ instanceId }) => `${instanceId} is not described as Unhealthy yet`);
}

interface ListedOf {
  readonly group: string;
  readonly health: TargetHealthFacts;
}

/** The members' own targets that their groups list now, by instance. */
async function listedTargets(
  run: RunRecord,
  members: readonly Member[],
): Promise<ReadonlyMap<string, readonly ListedOf[]>> {
  const owners = new Map(
    members.flatMap(({ instanceId, memberships }) =>
      memberships.map(membership => [membershipKey(membership), instanceId] as const),
    ),
  );
  const listed = new Map<string, ListedOf[]>();
  if (owners.size === 0) return listed;
  for (const { arn } of run.plan.groups)
    for (const health of (await healthUnlessGone(arn)) ?? []) {
      const owner = owners.get(membershipKey({ targetGroupArn: arn, target: health.target }));
      if (owner && health.state !== 'unused')
        listed.set(owner, [...listAt(listed, owner), { group: arn, health }]);
    }
  return listed;
}

function parted<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter(one => !isFirst(one))];
}

const tokenOf = (intention: unknown): string =>
  createHash('sha256').update(JSON.stringify(intention)).digest('hex').slice(0, 64);
