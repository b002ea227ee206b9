import type { Batch, DeploymentResult } from '../simulate/deployment.ts';
import type { Scenario } from '../simulate/scenario.ts';
import type { Simulated } from '../simulate/simulation.ts';
import { plannedBudgets } from './budgets.ts';
import { type PhaseReport, reportPhases } from './phase-report.ts';
import type { Timeline } from './phases.ts';

/** What `quiesce simulate --json` prints. Every time is in virtual time, from the beginning of its deployment. */
export interface SimulationReport {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.simulation/1';
  readonly scenario: string;
  readonly seed: number;
  /** Which of the two deployments was asked for; the other one is the comparison. */
  readonly asked: 'withQuiesce' | 'without';
  readonly passed: boolean;
  /** Why it has not passed, in sentences. */
  readonly differences: readonly string[];
  readonly withQuiesce: DeploymentReport;
  readonly without: DeploymentReport;
  readonly invariants: {
    /** At how many instants something happened that they were checked against. */
    readonly checkedInstants: number;
    readonly violations: readonly {
      readonly atSeconds: number;
      /** Its number in the list of what must always hold. */
      readonly invariant: number;
      readonly what: string;
    }[];
  };
  /** The only member that differs between two runs of one scenario and seed. */
  readonly real: { readonly seconds: number };
}

export interface DeploymentReport extends Ending {
  readonly replacedInstances: number;
  /** Kept out of traffic for somebody to look at (D38). */
  readonly heldInstances: number;
  /** Application status checks that are included in the end. */
  readonly includedChecks: number;
  /** What befell the target groups, as the view of the zones told it. */
  readonly zoneClasses: readonly string[];
  /** The stack's alarms that rang, by their logical ids. */
  readonly alarms: readonly string[];
  /** Security groups from which checks were asked, and nothing else, that are left. */
  readonly ownGroups: number;
  /** The subjects of what people were told, in order. */
  readonly told: readonly string[];
  readonly requestsSent: number;
  readonly requestsFailed: number;
  readonly minutes: number;
  /** Minutes in which an instance was suppressed and nobody worked on it, summed over the instances (D41). */
  readonly blindInstanceMinutes: number;
  readonly batches: readonly BatchReport[];
  /** How other deployments to the same fleet ended, in the scenario's order. */
  readonly rivals: readonly Ending[];
}

export interface Ending {
  readonly outcome: 'succeeded' | 'refused' | 'failed';
  /** The named error of a refused or failed deployment, and its sentence; empty when it succeeded. */
  readonly error: string;
  readonly cause: string;
}

export interface BatchReport {
  readonly runId: string;
  readonly instanceIds: readonly string[];
  readonly phases: readonly PhaseReport[];
}

/** A deployment that has been simulated, and when its phases were. */
export interface Told {
  readonly simulated: Simulated;
  readonly timeline: Timeline;
}

export function reportOn(told: {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly asked: SimulationReport['asked'];
  readonly withQuiesce: Told;
  readonly without: Told;
  /** Which events of the scenario came too late, each with its line. */
  readonly missedEvents?: readonly string[];
  readonly realSeconds: number;
}): SimulationReport {
  const { scenario, seed, asked } = told;
  const { violations, checkedInstants, startedAt } = told.withQuiesce.simulated;
  const reports = {
    withQuiesce: reportDeployment(told.withQuiesce),
    without: reportDeployment(told.without),
  };
  const expected = asked === 'withQuiesce' ? scenario : UNPROTECTED;
  const differences = [
    ...differencesFrom('', expected.expect, reports[asked]),
    ...expected.rivals.flatMap(({ expect }, index) =>
      differencesFrom(`Rival ${index + 1}: `, expect, reports[asked].rivals[index]),
    ),
    ...(told.missedEvents ?? []),
    ...(violations.length > 0 ? [`Violated invariants: ${violations.length}.`] : []),
  ];
  return {
    format: 'quiesce.simulation/1',
    scenario: scenario.name,
    seed,
    asked,
    passed: differences.length === 0,
    differences,
    ...reports,
    invariants: {
      checkedInstants,
      violations: violations.map(({ at, invariant, what }) => ({
        atSeconds: (at - startedAt) / 1000,
        invariant,
        what,
      })),
    },
    real: { seconds: told.realSeconds },
  };
}

/** A scenario's expectations are about the deployment with Quiesce. */
const UNPROTECTED: { readonly expect: Expected; readonly rivals: Scenario['rivals'] } = {
  expect: { outcome: 'succeeded' },
  rivals: [],
};

type Expected = Pick<Scenario['expect'], 'outcome' | 'error' | 'says'> & Partial<Scenario['expect']>;

function differencesFrom(whose: string, expected: Expected, seen: Partial<DeploymentReport> = {}): string[] {
  if (expected.outcome === 'any') return [];
  const said = (what: string, wanted: string | number | undefined, got: string | number | undefined) =>
    wanted === undefined || wanted === got ? [] : [`${whose}${what}: ${got ?? 'none'} instead of ${wanted}.`];
  return [
    ...said('outcome', expected.outcome, seen.outcome),
    ...said('error', expected.error, seen.error || undefined),
    ...(expected.says === undefined || seen.cause?.includes(expected.says)
      ? []
      : [`${whose}It does not say ${JSON.stringify(expected.says)}: ${seen.cause ?? ''}`]),
    ...said('included checks', expected.included, seen.includedChecks),
    ...said('zone classes', listed(expected.zoneClasses), listed(seen.zoneClasses)),
    ...said('alarms', listed(expected.alarms), listed(seen.alarms)),
    ...said('own groups', expected.ownGroups, seen.ownGroups),
    ...said('replaced instances', expected.replaced, seen.replacedInstances),
    ...said('held instances', expected.held, seen.heldInstances),
    ...said('failed requests', expected.failedRequests, seen.requestsFailed),
    ...said('told', listed(expected.told), listed(seen.told)),
  ];
}

const listed = (names: readonly string[] | undefined): string | undefined =>
  names && (names.join(', ') || 'none');

function reportDeployment({ simulated, timeline }: Told): DeploymentReport {
  const { deployment, measures, rivals } = simulated;
  return {
    ...endingOf(deployment),
    replacedInstances: measures.replaced,
    heldInstances: simulated.held.length,
    includedChecks: measures.includedChecks,
    ...simulated.warnings,
    ownGroups: measures.ownGroups,
    requestsSent: measures.requestsSent,
    requestsFailed: measures.requestsFailed,
    minutes: measures.minutes,
    blindInstanceMinutes: measures.blindInstanceMinutes,
    batches: deployment.batches.map(batch => reportBatch(batch, simulated, timeline)),
    rivals: rivals.map(endingOf),
  };
}

const endingOf = ({ outcome, error, cause }: DeploymentResult): Ending => ({ outcome, error, cause });

function reportBatch(
  { runId, instanceIds, executions: [before] }: Batch,
  { startedAt, account }: Simulated,
  timeline: Timeline,
): BatchReport {
  const budgets = before && plannedBudgets(before.history.events());
  const now = account.world.clock.now();
  const phases = timeline.run(runId)?.phases ?? [];
  return { runId, instanceIds, phases: reportPhases(phases, budgets, { startedAt, now }) };
}
