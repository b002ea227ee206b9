import { readFileSync } from 'node:fs';
import { locateFaults } from '../located-faults.ts';
import { readScenario, type Scenario, ScenarioRefused } from '../simulate/scenario.ts';
import { UsageError } from './command.ts';

/** @throws UsageError when the scenario cannot be read or used */
export function scenarioAt(path: string): Scenario {
  try {
    return readScenario(path);
  } catch (error) {
    if (error instanceof ScenarioRefused) throw new UsageError(error.message);
    throw error;
  }
}

/** A line for each event that its deployment did not last for. */
export const sayMissedEvents = (path: string, events: readonly number[]): readonly string[] =>
  locateFaults(
    readFileSync(path, 'utf8'),
    path,
    events.map(index => ({
      path: ['events', index],
      message: 'the deployment was over before it: let it happen earlier, or say mayMiss: true',
    })),
    'the scenario',
  );
