import { z } from 'zod';
import type { Budgets } from '../../functions/core/domain/budgets.ts';
import type { Execution } from '../states/execution.ts';
import type { PhaseName } from './phases.ts';

/** The budget of the plan that each phase may spend. The others last as long as one act, or as another run does. */
export const budgetOf: Partial<Record<PhaseName, keyof Budgets>> = {
  suppressing: 'lead',
  draining: 'traffic',
  deploying: 'deployment',
  ready: 'ready',
  'in service': 'inService',
  evidence: 'readyAgain',
  released: 'release',
  undoing: 'undo',
};

const planned = z.object({ budgets: z.record(z.string(), z.number()) });

/** What the Plan state of a before-deploy execution answered, in seconds; undefined when it refused. */
export function plannedBudgets(before: Execution): Readonly<Partial<Record<string, number>>> | undefined {
  const exits = before.history.events().map(event => event.stateExitedEventDetails);
  const plan = exits.findLast(exit => exit?.name === 'Plan');
  return plan?.output === undefined ? undefined : planned.parse(JSON.parse(plan.output)).budgets;
}
