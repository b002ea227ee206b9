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
