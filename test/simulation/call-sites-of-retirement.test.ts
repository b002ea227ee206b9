import { expect, test } from 'vitest';
import { tellingFaults } from '../../local/simulate/call-sites.ts';
import { faultLine } from '../../local/simulate/faults.ts';
import { faultsIn } from '../../local/simulate/passages.ts';
import { strike } from '../../local/simulate/strike.ts';

/** What an act leaves that nobody has heard of. The others of the passage take some seconds more: npm run call-sites -- retired. */
const UNHEARD = new Set(['late', 'lost-answers', 'dies-after']);

const faults = (await faultsIn('retired', tellingFaults)).filter(
  ({ action, way }) => /^(ec2:D(elete|isassociate)|dynamodb:DeleteItem)/.test(action) && UNHEARD.has(way),
);

/** Each name replays its failure: npm run call-sites -- retired --fault "NAME". */
test.for(faults.map(fault => [faultLine(fault), fault] as const))(
  'R-IDEMP, R-SWEEP: one call of a retirement fails, every invariant holds (%s)',
  async ([, fault]) => {
    const { wrong, outcome, error } = await strike({ passage: 'retired', fault });
    expect(wrong, `${outcome} ${error}`).toEqual([]);
  },
);
