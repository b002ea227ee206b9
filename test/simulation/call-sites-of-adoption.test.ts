import { expect, test } from 'vitest';
import { tellingFaults } from '../../local/simulate/call-sites.ts';
import { faultLine } from '../../local/simulate/faults.ts';
import { faultsIn } from '../../local/simulate/passages.ts';
import { strike } from '../../local/simulate/strike.ts';

/** What an act leaves that nobody has heard of. The others of the passage take half a minute: npm run call-sites -- adopted. */
const UNHEARD = new Set(['late', 'lost-answers', 'dies-after']);

const faults = (await faultsIn('adopted', tellingFaults)).filter(
  ({ caller, way }) => /^(ActOnCheck|EndAdoption)/.test(caller) && UNHEARD.has(way),
);

/** Each name replays its failure: npm run call-sites -- adopted --fault "NAME". */
test.for(faults.map(fault => [faultLine(fault), fault] as const))(
  'R-UNDO, R-IDEMP: one call of an adoption fails, every invariant holds (%s)',
  async ([, fault]) => {
    const { wrong, outcome, error } = await strike({ passage: 'adopted', fault });
    expect(wrong, `${outcome} ${error}`).toEqual([]);
  },
);
