import type { Random } from '../../clock/random.ts';
import type { ScenarioInput } from './generate.ts';
import type { DeploymentInput } from './generate-deployment.ts';
import type { FleetInput } from './generate-fleet.ts';

type EventInput = NonNullable<ScenarioInput['events']>[number];

/** Of the seeds whose fleet has a check. */
const RETIRING_SHARE = 0.05;

const ACTS = [
  'use-own-group',
  'refer-to-own-group',
  'stop-execution',
  'delete-check',
  'terminate-instance',
] as const satisfies readonly EventInput['do'][];

/** Instead of a deployment. */
export interface DrawnRetirement {
  readonly deployment: DeploymentInput;
  readonly fleet: FleetInput;
  readonly events: readonly EventInput[];
  readonly physics: Readonly<Record<string, unknown>>;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * In some seeds a check is retired: by us, or, where the watch of the interfaces is on, also by a person who deletes it before.
 * Interfaces stay for a while, and others may come to hold the group. Requests of hours would only take time: there are none.
 */
export function drawRetirement(random: Random, fleet: FleetInput): DrawnRetirement | undefined {
  const [first, ...others] = fleet.checks ?? [];
  if (!first || !random.chance(RETIRING_SHARE)) return undefined;
  const ownGroup = random.pick(['deleted-when-free', 'deleted-when-free', 'kept'] as const);
  const lingers = random.whole(1, 30);
  return {
    deployment: {
      retire: { limitSeconds: random.whole(60, 3600), ...(random.chance(0.5) && { namesGroup: true }) },
    },
    fleet: {
      ...fleet,
      checks: [{ ...first, ownGroup }, ...others],
      targetGroups: (fleet.targetGroups ?? []).map(({ traffic: _, ...group }) => group),
    },
    events: Array.from({ length: random.pick([0, 1, 1, 2]) }, () => ({
      atSeconds: random.whole(0, 1800),
      do: random.pick(ACTS),
      mayMiss: true,
    })),
    physics: { interfaceLingerMinutes: [lingers, lingers + random.whole(0, 20)] },
    parameters: random.chance(0.5) ? { InterfaceWatch: 'Enabled' } : {},
  };
}
