import type { FaultKind } from '../fault-spec.ts';
import { scenario } from '../scenario.ts';
import { simulate } from '../simulation.ts';
import type { ScenarioInput } from './generate.ts';

/** What broke. Without an invariant the simulation itself ended with an error. */
export interface Breach {
  readonly invariant: number | undefined;
  readonly what: string;
  /** In seconds from the start of the deployment; undefined with an error. */
  readonly atSeconds: number | undefined;
}

/** What came of one scenario. */
export interface Attempt {
  /** How many runs ended how, by outcome and error: `failed BudgetSpent`. */
  readonly runs: Readonly<Record<string, number>>;
  readonly injected: Partial<Readonly<Record<FaultKind, number>>>;
  readonly checkedInstants: number;
  readonly virtualMinutes: number;
  readonly breaches: readonly Breach[];
}

/** Simulates a scenario to its end and some time beyond. An error of the simulation is an answer too. */
export async function attempt(input: ScenarioInput): Promise<Attempt> {
  try {
    const { deployment, rivals, violations, faults, checkedInstants, startedAt, account } = await simulate({
      scenario: scenario.parse(input),
    });
    const runs: Record<string, number> = {};
    for (const { outcome, error } of [deployment, ...rivals]) {
      const name = [outcome, error].filter(Boolean).join(' ');
      runs[name] = (runs[name] ?? 0) + 1;
    }
    return {
      runs,
      injected: Object.fromEntries(faults?.injected ?? []),
      checkedInstants,
      virtualMinutes: (account.world.clock.now() - startedAt) / 60_000,
      breaches: violations.map(({ invariant, what, at }) => ({
        invariant,
        what,
        atSeconds: (at - startedAt) / 1000,
      })),
    };
  } catch (error) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const breaches = [{ invariant: undefined, what, atSeconds: undefined }];
    return { runs: {}, injected: {}, checkedInstants: 0, virtualMinutes: 0, breaches };
  }
}
