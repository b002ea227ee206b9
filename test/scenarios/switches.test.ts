import { describe, expect, test } from 'vitest';
import { readScenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { expected, outcomeOf } from './helpers/outcomes.ts';
import { eachValue, pairwise, type Row } from './helpers/pairwise.ts';

/** Every SWITCH of local/account/physics.ts that has more than one value to be tried. */
const switches = {
  secondEnable: ['extends', 'replaces', 'fails'],
  reasonCodes: ['structured', 'unknown', 'legacy'],
  suppressedWithoutIncludedCheck: ['suppressed', 'not-applicable', 'absent'],
  connectionErrorStatusCode: ['zero', 'absent'],
  unhealthyNeedsAllNodes: [true, false],
  autoScalingCountsDraining: [true, false],
  suspendingCoversApplicationStatus: [true, false],
};

async function expectSameUnder(rows: readonly Row[], name: string): Promise<void> {
  const scenario = readScenario(`scenarios/${name}.yaml`);
  for (const physics of rows) {
    const simulated = await simulate({ scenario: { ...scenario, physics } });
    expect(outcomeOf(simulated), JSON.stringify(physics)).toEqual(expected(scenario));
  }
}

describe('what AWS leaves open does not matter to', () => {
  test('rolling, whichever two switches meet', () => expectSameUnder(pairwise(switches), 'rolling'));

  test.for(['no-target-group', 'no-check', 'excluded-check', 'overlapping'])('%s', name =>
    expectSameUnder(eachValue(switches), name),
  );

  test('D21: what people are told by the alarms on checks', async () => {
    const scenario = readScenario('scenarios/alarms-no-false-recovery.yaml');
    const physics = { alarmTooFewBreaching: 'retained', alarmRangeBeyondPeriods: 0 };
    const { warnings } = await simulate({ scenario: { ...scenario, physics } });
    expect(warnings.told).toEqual(scenario.expect.told);
  });
});
