import { describe, expect, test } from 'vitest';
import { tellingFaults } from '../../local/simulate/call-sites.ts';
import { faultLine } from '../../local/simulate/faults.ts';
import { faultsIn } from '../../local/simulate/passages.ts';
import { strike } from '../../local/simulate/strike.ts';

describe.for(['undone', 'stopped', 'swept', 'hooks'] as const)('%s', async passage => {
  const faults = await faultsIn(passage, tellingFaults);

  /** Each name replays its failure: npm run call-sites -- PASSAGE --fault "NAME". */
  test.for(faults.map(fault => [faultLine(fault), fault] as const))(
    'R-UNDO, R-IDEMP: one call fails, every invariant holds (%s)',
    async ([, fault]) => {
      const { wrong, outcome, error } = await strike({ passage, fault });
      expect(wrong, `${outcome} ${error}`).toEqual([]);
    },
  );
});
