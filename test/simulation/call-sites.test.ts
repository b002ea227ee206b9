import { expect, test } from 'vitest';
import { tellingFaults } from '../../local/simulate/call-sites.ts';
import { faultLine } from '../../local/simulate/faults.ts';
import { faultsIn } from '../../local/simulate/passages.ts';
import { strike } from '../../local/simulate/strike.ts';

const faults = await faultsIn('bracket', tellingFaults);

/** Each name replays its failure: npm run call-sites -- bracket --fault "NAME". */
test.for(faults.map(fault => [faultLine(fault), fault] as const))(
  'R-UNDO, R-IDEMP: one call of a run fails, every invariant holds (%s)',
  async ([, fault]) => {
    const { wrong, outcome, error } = await strike({ passage: 'bracket', fault });
    expect(wrong, `${outcome} ${error}`).toEqual([]);
  },
);
