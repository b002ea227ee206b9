import { groups } from '../../functions/core/aws/auto-scaling.ts';
import { describeExecution } from '../../functions/core/aws/step-functions.ts';
import { instancesOf } from '../../functions/core/bracket/members.ts';
import type { HandledRun } from '../../functions/core/domain/by-hand.ts';
import { findHold } from '../../functions/core/ledger/auto-scaling-holds.ts';
import { findInstances } from '../../functions/core/ledger/instances.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import { readGuards } from '../../functions/core/ledger/target-group-guards.ts';

/** Reads everything that has to be known to close a run by hand. */
export async function readHandled(run: RunRecord): Promise<HandledRun> {
  const { runId, status, plan, owner } = run;
  const [execution, records, guards, holds, standby] = await Promise.all([
    owner.startsWith('arn:') ? describeExecution(owner) : undefined,
    findInstances(instancesOf(run)),
    readGuards(plan.groups.map(({ arn }) => arn)),
    Promise.all(plan.holdings.map(async ({ group }) => ({ group, hold: await findHold(group) }))),
    groups(plan.holdings.filter(({ mode }) => mode === 'standby').map(({ group }) => group)),
  ]);
  return {
    runId,
    status,
    plan,
    running: execution?.status === 'RUNNING' ? [owner] : [],
    instances: [...records.values()],
    outByGroup: new Map([...guards].map(([arn, { outByRun }]) => [arn, [...outByRun.keys()]])),
    holds: holds.flatMap(({ group, hold }) => (hold ? [{ group, ...hold }] : [])),
    inStandby: new Set(
      [...standby.values()]
        .flatMap(({ instances }) => instances)
        .filter(({ lifecycleState }) => lifecycleState === 'Standby')
        .map(({ instanceId }) => instanceId),
    ),
  };
}

/** What a run still has, thing by thing; empty when its bracket is closed. */
export function whatIsLeft({ runId, instances, outByGroup, holds }: HandledRun): string[] {
  return [
    ...instances
      .filter(({ claims, traffic }) => claims.has(runId) || traffic === runId)
      .map(({ instanceId }) => `instance ${instanceId}`),
    ...[...outByGroup].filter(([, runs]) => [...runs].includes(runId)).map(([arn]) => `targets of ${arn}`),
    ...holds.filter(({ runs }) => runs.includes(runId)).map(({ group }) => `Auto Scaling group ${group}`),
  ];
}
