import { readFileSync } from 'node:fs';
import { locateFaults } from '../located-faults.ts';
import type { EventRefused } from '../simulate/events.ts';
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

/** A line for each event that its deployment did not last for, or whose state no machine entered. */
export const sayMissedEvents = (
  path: string,
  scenario: Scenario,
  events: readonly number[],
): readonly string[] =>
  locateFaults(
    readFileSync(path, 'utf8'),
    path,
    events.map(index => ({ path: ['events', index], message: whyMissed(scenario.events[index]?.after) })),
    'the scenario',
  );

const whyMissed = (after: string | undefined): string =>
  after === undefined
    ? 'the deployment was over before it: let it happen earlier, or say mayMiss: true'
    : `the deployment was over before it: no machine entered the state ${after}, which one of statemachines/ has to have, or it was entered too late. Name another, let it happen earlier, or say mayMiss: true`;

/** The same of the event that could not happen. */
export const sayRefusedEvent = (path: string, { event, message }: EventRefused): string =>
  locateFaults(
    readFileSync(path, 'utf8'),
    path,
    [
      {
        path: ['events', event],
        message: `it cannot happen then: ${message} Let it happen at another time, or say mayMiss: true`,
      },
    ],
    'the scenario',
  ).join('\n');
