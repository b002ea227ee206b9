import type { z } from 'zod';
import { smallFleet } from '../../../local/simulate/passages.ts';
import { type Scenario, scenario } from '../../../local/simulate/scenario.ts';

type Written = z.input<typeof scenario>;

/** What differs from the usual scenario. */
export interface Given {
  readonly fleet?: Partial<Written['fleet']>;
  readonly deployment?: Written['deployment'];
  readonly events?: Written['events'];
  readonly parameters?: Written['parameters'];
}

/** Half of the small fleet is deployed to, unless the deployment says otherwise. */
export const given = ({ fleet, deployment, events = [], parameters = {} }: Given): Scenario =>
  scenario.parse({
    name: 'mutated',
    fleet: { ...smallFleet, ...fleet },
    deployment: { instances: [0, 1], batches: 'all', downSeconds: 60, ...deployment },
    events,
    parameters,
  });
