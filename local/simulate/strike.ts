import '../clock/lambda-globals.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import type { Execution } from '../states/execution.ts';
import { runAs } from '../wire/invocation.ts';
import { FaultInjector } from './fault-injector.ts';
import type { Fault } from './faults.ts';
import { type PassageName, pass } from './passages.ts';
import type { Simulated } from './simulation.ts';

/** A passage and the one fault that it is to meet. */
export interface Strike {
  readonly passage: PassageName;
  readonly fault: Fault;
}

/** How a passage with one fault has ended. */
export interface Struck extends Strike {
  readonly outcome: Simulated['deployment']['outcome'];
  /** The named error; empty when the deployment succeeded all the same. */
  readonly error: string;
  /** What should not be; empty when all is well. */
  readonly wrong: readonly string[];
}

/** Lets a passage meet one fault, and tells what broke by it; a simulation that ends with an error is broken too. */
export async function strike(one: Strike): Promise<Struck> {
  try {
    return await struckBy(one);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.name : 'Error';
    return { ...one, outcome: 'failed', error, wrong: [String(thrown)] };
  }
}

async function struckBy({ passage, fault }: Strike): Promise<Struck> {
  const injector = new FaultInjector(fault);
  const simulated = await pass(passage, injector.settings);
  const { outcome, error } = simulated.deployment;
  const wrong = [
    ...(injector.struck ? [] : ['the call was never made']),
    ...unhealed(fault, simulated),
    ...(await overruns(simulated)),
  ];
  return { passage, fault, outcome, error, wrong };
}

/**
 * The invariants that are broken. Where an undo may never do what it has to, what it owes stays open, and in the ledger, so
 * that it is known and undone when it may be (R-FAIL); and where the sweep may never look, a run ends late. So it is with a
 * retirement or an adoption that may never end.
 */
function unhealed({ way }: Fault, { violations }: Simulated): readonly string[] {
  const told = violations.map(({ invariant, what }) => `${invariant}: ${what}`);
  if (way !== 'denied') return told;
  const isOwed = told.some(one =>
    /^(4: the ledger still holds instance|7: (retirement|adoption))#/.test(one),
  );
  return told.filter(one => !/^7: (run|retirement|adoption)#/.test(one) && !(isOwed && one.startsWith('4:')));
}

/** What a task that is retried to its end may add to a loop's budget (functions/core/bracket/plan-run.ts). */
const RETRY_ROOM_SECONDS = 900;

/** Every execution ends within the budgets that its run was planned with. */
async function overruns({ stack, deployment, account: { world } }: Simulated): Promise<readonly string[]> {
  if (!stack) return [];
  const caller = { kind: 'operator', name: 'operator' } as const;
  const operator = { caller, world, random: world.random.fork('budgets'), transport: stack.wire.transport() };
  const late: string[] = [];
  for (const { runId } of deployment.batches) {
    const run = await world.clock.runFor(runAs(operator, () => findRun(runId)));
    if (!run) continue;
    const { plan, request } = run;
    const phase = Math.max(request.policy.waitSeconds + plan.budgets.before, plan.budgets.after);
    const longest = phase + plan.budgets.undo + RETRY_ROOM_SECONDS;
    for (const execution of stack.executions.all())
      if (isOf(execution, runId) && secondsOf(execution) > longest)
        late.push(`7: ${execution.name} lasted ${secondsOf(execution)} s, and its budget is ${longest} s`);
  }
  return late;
}

const isOf = ({ input }: Execution, runId: string): boolean =>
  input !== null && typeof input === 'object' && 'runId' in input && input.runId === runId;

const secondsOf = ({ startedAt, stoppedAt }: Execution): number =>
  ((stoppedAt ?? Number.POSITIVE_INFINITY) - startedAt) / 1000;
