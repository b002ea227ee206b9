import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readScenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { unneededBy } from '../template/helpers/role-groups.ts';
import { accessDenied, expected, happenings, outcomeOf } from './helpers/outcomes.ts';

const FOLDER = 'scenarios';
/** Those through CodeDeploy take twelve instances in test/hooks/rolling.test.ts; one of them is here. */
const files = readdirSync(FOLDER).filter(
  name =>
    name.endsWith('.yaml') && (!name.startsWith('codedeploy-') || name === 'codedeploy-load-balancer.yaml'),
);

/** Of each kind one: traffic, rivals, Standby, addresses, an instance that vanishes, CodeDeploy's own scripts. */
const twice = [
  'rolling.yaml',
  'overlapping.yaml',
  'standby.yaml',
  'ip-targets.yaml',
  'terminated-while-draining.yaml',
  'codedeploy-load-balancer.yaml',
];

describe('every scenario ends as it expects and breaks no invariant', () => {
  /** How many scenarios did without it, by permission. */
  const unneeded = new Map<string, number>();

  test.for(files)('%s', async file => {
    const scenario = readScenario(`${FOLDER}/${file}`);
    const first = await simulate({ scenario });
    expect(outcomeOf(first), first.deployment.cause).toEqual(expected(scenario));
    const { says = '', included = first.measures.includedChecks } = scenario.expect;
    const { zoneClasses, alarms, told } = { ...first.warnings, ...scenario.expect };
    expect(first.deployment.cause).toContain(says);
    expect(first.measures.includedChecks).toBe(included);
    expect(first.warnings).toEqual({ zoneClasses, alarms, told });
    expect(first.measures.ownGroups).toBe(scenario.expect.ownGroups ?? first.measures.ownGroups);
    expect(accessDenied(first)).toEqual([]);
    for (const name of first.stack ? unneededBy('deploying', first.stack) : [])
      unneeded.set(name, (unneeded.get(name) ?? 0) + 1);
    if (!twice.includes(file)) return;
    const again = await simulate({ scenario });
    expect(happenings(again), 'the same seed runs the same way again').toEqual(happenings(first));
  });

  test('each permission that the template gives to a deployment is needed by one of them', () => {
    expect(unneeded.size).toBeGreaterThan(0);
    const never = [...unneeded].filter(([, scenarios]) => scenarios === files.length).map(([name]) => name);
    expect(never).toEqual([]);
  });
});
