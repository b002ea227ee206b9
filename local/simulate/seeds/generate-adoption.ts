import type { Random } from '../../clock/random.ts';
import type { ScenarioInput } from './generate.ts';
import type { DeploymentInput } from './generate-deployment.ts';
import type { FleetInput } from './generate-fleet.ts';

type EventInput = NonNullable<ScenarioInput['events']>[number];

/** Of the seeds whose fleet has an Auto Scaling group. */
const ADOPTING_SHARE = 0.05;

/** Instead of a deployment. */
export interface DrawnAdoption {
  readonly deployment: DeploymentInput;
  readonly events: readonly EventInput[];
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * In some seeds the fleet's group adopts a check, and people close its security group, mostly when the check is included. The
 * loop breaker looks every minute, which takes its time: only in half of these.
 */
export function drawAdoption(random: Random, fleet: FleetInput): DrawnAdoption | undefined {
  if (fleet.autoScaling === null || !random.chance(ADOPTING_SHARE)) return undefined;
  const adopt = {
    check: { protocol: 'http', port: 8080, path: '/adopted', graceSeconds: random.whole(30, 200) },
    observeSeconds: random.whole(60, 1200),
    watchSeconds: random.whole(300, 900),
    evaluations: random.pick([2, 2, 3]),
    impairedPercent: random.pick([0, 10, 60]),
    ...(random.chance(0.3) && { sample: random.whole(1, fleet.instances) }),
  };
  const closedAt = random.whole(0, 1500);
  const whenIncluded = random.chance(0.6) && { after: 'ObserveHarm' };
  const closes: readonly EventInput[] = [
    {
      atSeconds: whenIncluded ? Math.round(closedAt / 5) : closedAt,
      ...whenIncluded,
      do: 'close-security-group',
      mayMiss: true,
    },
    ...(random.chance(0.3)
      ? [{ atSeconds: closedAt + 600, do: 'open-security-group' as const, mayMiss: true }]
      : []),
    ...(random.chance(0.3)
      ? [{ atSeconds: closedAt + 400, do: 'include-check' as const, mayMiss: true }]
      : []),
  ];
  return {
    deployment: { adopt },
    events: random.chance(0.5) ? closes : [],
    parameters: random.chance(0.5) ? { LoopBreaker: 'demote' } : {},
  };
}
