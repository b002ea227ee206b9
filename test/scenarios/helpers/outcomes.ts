import type { Scenario } from '../../../local/simulate/scenario.ts';
import type { Simulated } from '../../../local/simulate/simulation.ts';

/** What a run amounts to, as `expected` gives it. */
export function outcomeOf({ deployment, rivals, measures, held, violations, missed }: Simulated) {
  const ending = ({ outcome, error }: Simulated['deployment']) => ({ outcome, error });
  return {
    ...ending(deployment),
    rivals: rivals.map(ending),
    replaced: measures.replaced,
    held: held.length,
    failedRequests: measures.requestsFailed,
    violations: violations.map(({ invariant, what }) => `${invariant}: ${what}`),
    missed,
  };
}

/** What the scenario says of itself, and no invariant broken. */
export function expected({
  expect: { outcome, error = '', replaced, held, failedRequests },
  rivals,
}: Scenario) {
  return {
    outcome,
    error,
    rivals: rivals.map(rival => ({ outcome: rival.expect.outcome, error: rival.expect.error ?? '' })),
    replaced,
    held,
    failedRequests,
    violations: [],
    missed: [],
  };
}

/** Everything that happened, as text: two long lists of texts are compared fast. */
export const happenings = ({ account }: Simulated): readonly string[] =>
  account.world.journal.entries.map(entry => JSON.stringify(entry));

export const accessDenied = ({ stack }: Simulated): readonly string[] =>
  (stack?.lambda.logs ?? []).map(({ line }) => line).filter(line => line.includes('AccessDenied'));
