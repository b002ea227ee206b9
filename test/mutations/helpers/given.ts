import type { z } from 'zod';
import { type Scenario, scenario } from '../../../local/simulate/scenario.ts';

type Written = z.input<typeof scenario>;

/** What differs from the usual scenario. */
export interface Given {
  readonly fleet?: Partial<Written['fleet']>;
  readonly deployment?: Written['deployment'];
  readonly events?: Written['events'];
}

const DELAY = { 'deregistration_delay.timeout_seconds': '30' };

/** Half of four instances in two zones, behind two target groups, with a check, in a group whose verdicts are held. */
export const given = ({ fleet, deployment, events = [] }: Given): Scenario =>
  scenario.parse({
    name: 'mutated',
    fleet: {
      instances: 4,
      zones: ['eu-west-1a', 'eu-west-1b'],
      startUpSeconds: 10,
      targetGroups: [
        { name: 'web', port: 8080, attributes: DELAY },
        { name: 'admin', port: 8081, attributes: DELAY },
      ],
      checks: [{ port: 8080 }],
      ...fleet,
    },
    deployment: { instances: [0, 1], batches: 'all', downSeconds: 60, ...deployment },
    events,
  });
