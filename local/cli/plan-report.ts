import { type PlannedRun, planRun } from '../../functions/core/bracket/plan-run.ts';
import { readsFor } from '../../functions/core/bracket/reads.ts';
import type { Budgets } from '../../functions/core/domain/budgets.ts';
import type { Bystander, Member } from '../../functions/core/domain/fleet.ts';
import type { PlannedGroup, PlannedHolding } from '../../functions/core/domain/plan.ts';
import { Refusal, RunEnded, RunInProgress } from '../../functions/core/errors.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import type { Policy, RunRequest } from '../../functions/core/request.ts';
import type { OptInTag } from '../../functions/core/settings.ts';
import { list } from './format.ts';
import { contradictionsIn } from './plan-contradictions.ts';
import type { StackDefaults } from './stack-defaults.ts';

/** What `quiesce plan --json` prints. */
export interface PlanReport {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.plan/1';
  readonly runId: string;
  /** The ledger's table; null when the plan was made without one, as if there were no other runs. */
  readonly ledger: string | null;
  /** What the run is planned by: the request's own policy, over the stack's, over the defaults. */
  readonly policy: Policy;
  /** The stack's part of it, as its parameter says; null when no stack was named. */
  readonly stack: { readonly machineArn: string; readonly defaultPolicy: string } | null;
  /** Why the run would be refused; empty when it would begin. */
  readonly refusals: readonly NamedRefusal[];
  /** Null when the fleet could not be planned for. */
  readonly plan: PlanFacts | null;
}

export interface NamedRefusal {
  readonly error: string;
  readonly cause: string;
}

export interface PlanFacts {
  readonly members: readonly Member[];
  readonly bystanders: readonly Bystander[];
  readonly targetGroups: readonly PlannedGroup[];
  readonly holdings: readonly PlannedHolding[];
  /** In seconds. */
  readonly budgets: Budgets;
  readonly remarks: readonly string[];
  /** Health check settings that contradict each other, in sentences. */
  readonly contradictions: readonly string[];
  readonly blindness: Blindness;
}

/** How much nobody sees because of the run (D41), at most: if every phase takes its whole budget. */
export interface Blindness {
  readonly instances: number;
  /** Suppressed, from before-deploy's start to after-deploy's end. */
  readonly suppressedInstanceMinutes: number;
  /** Of these, while nobody deploys to the instance. */
  readonly blindInstanceMinutes: number;
}

/** Plans a run without beginning it. @throws QuiesceError when AWS cannot be read */
export async function reportOnPlan(
  request: RunRequest,
  optIn: OptInTag,
  { table, stack }: { readonly table: string | undefined; readonly stack: StackDefaults | undefined },
): Promise<PlanReport> {
  const refusals: NamedRefusal[] = [];
  const refuse = ({ name, message }: Refusal) => refusals.push({ error: name, cause: message });
  const used = await usedRun(request.runId);
  if (used) refuse(used);
  let planned: PlannedRun | undefined;
  try {
    planned = await planRun(request, optIn, Date.now() / 1000, await readsFor(undefined, 0));
    const rival = whoMovesTraffic(request, planned);
    if (rival) refuse(rival);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(error);
  }
  return {
    format: 'quiesce.plan/1',
    runId: request.runId,
    ledger: table ?? null,
    policy: request.policy,
    stack: stack ? { machineArn: stack.machineArn, defaultPolicy: stack.defaultPolicy } : null,
    refusals,
    plan: planned ? factsOf(planned, await contradictionsIn(planned)) : null,
  };
}

/** A run is begun once. */
async function usedRun(runId: string): Promise<Refusal | undefined> {
  const run = await findRun(runId);
  if (!run) return undefined;
  if (run.status === 'live')
    return new RunInProgress(`Run ${runId} is live in ${run.owner}. Wait for it, or use another runId.`);
  return new RunEnded(`Run ${runId} has ended. Start a new one with a runId of its own.`);
}

/** Refused when it begins, unless it may wait for its turn. */
function whoMovesTraffic(request: RunRequest, { members, movedBy }: PlannedRun): Refusal | undefined {
  const moved = members.filter(
    ({ instanceId, memberships }) => memberships.length > 0 && movedBy.has(instanceId),
  );
  if (moved.length === 0 || request.queue) return undefined;
  const runs = [...new Set(moved.map(({ instanceId }) => movedBy.get(instanceId) ?? ''))];
  return new RunInProgress(
    `Run ${list(runs)} is live on ${list(moved.map(({ instanceId }) => instanceId))} and moves the same traffic. Wait for it, or say queue: true.`,
  );
}

function factsOf({ plan, members }: PlannedRun, contradictions: readonly string[]): PlanFacts {
  const { bystanders, groups, holdings, budgets, remarks, suppressing } = plan;
  const minutes = (seconds: number) => (suppressing * seconds) / 60;
  return {
    members,
    bystanders,
    targetGroups: groups,
    holdings,
    budgets,
    remarks,
    contradictions,
    blindness: {
      instances: suppressing,
      suppressedInstanceMinutes: minutes(budgets.whole),
      blindInstanceMinutes: minutes(budgets.before + budgets.after),
    },
  };
}
