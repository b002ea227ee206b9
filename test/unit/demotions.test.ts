import { beforeAll, expect, test } from 'vitest';
import { announceDemotion } from '../../functions/core/domain/demotion-announcement.ts';
import {
  beginDemotion,
  endDemotion,
  findDemotion,
  markDemotionTold,
} from '../../functions/core/ledger/demotions.ts';
import { composeOnDemotion } from '../../functions/core/loops/tell.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';

let ledger: LedgerWorld;
let count = 0;
beforeAll(async () => {
  ledger = await createLedger();
});

const demotion = (checkId: string, at = NOW) =>
  ({ checkId, status: 'demoted', at, groups: ['web'], inVain: [], cause: 'It cannot connect.' }) as const;

test('R-SERIAL: of two looks at once one demotes, in whatever order their calls are answered', () =>
  inEveryOrder(async choose => {
    const checkId = `asc-${count++}`;
    const begun = await ledger.interleaved(
      [1, 2].map(() => () => beginDemotion(demotion(checkId))),
      choose,
    );
    expect(begun.filter(Boolean)).toHaveLength(1);
  }));

test('a demotion ends once, and another one may follow, of which people are told again', () =>
  ledger.as(async () => {
    const checkId = `asc-${count++}`;
    expect(await composeOnDemotion(checkId, 'demoted', NOW)).toMatchObject({ isNews: false });
    await beginDemotion(demotion(checkId));
    expect(await composeOnDemotion(checkId, 'demoted', NOW)).toMatchObject({ isNews: true });
    expect([await markDemotionTold(checkId, 'demoted'), await markDemotionTold(checkId, 'demoted')]).toEqual([
      true,
      false,
    ]);
    expect(await composeOnDemotion(checkId, 'demoted', NOW)).toMatchObject({ isNews: false });
    const begun = { checkId, at: NOW };
    expect([await endDemotion(begun), await endDemotion(begun)]).toEqual([true, false]);
    expect(await beginDemotion(demotion(checkId, NOW + 60))).toBe(true);
    expect(await findDemotion(checkId)).toMatchObject({ status: 'demoted', at: NOW + 60, told: [] });
    // What was to be told of the first one is not told of the second.
    expect(await composeOnDemotion(checkId, 'over', NOW)).toMatchObject({ isNews: false });
  }));

test('an announcement says that a demotion holds for every group, and how to go on', () => {
  const { subject, message, detail } = announceDemotion({
    ...demotion('asc-1'),
    groups: ['web', 'api'],
    what: 'over',
  });
  expect(subject).toBe('Quiesce: check asc-1 is well again, and still excluded');
  expect(message).toMatch(
    /for every group that it is on: web, api\..*quiesce adopt --auto-scaling-group GROUP --check asc-1/s,
  );
  expect(detail).toMatchObject({ what: 'over', autoScalingGroupNames: ['web', 'api'] });
});

test.each(['again', 'named'] as const)('D40: %s says who has included the check, where it is known', what => {
  const includedBy = 'arn:aws:iam::111122223333:user/jo';
  const news = { ...demotion('asc-1'), what };
  expect(announceDemotion({ ...news, includedBy })).toMatchObject({
    message: expect.stringContaining(`${includedBy} has included it again.`),
    detail: { includedBy },
  });
  expect(announceDemotion(news).detail).not.toHaveProperty('includedBy');
  expect(announceDemotion({ ...news, includedBy, what: 'over' }).detail).not.toHaveProperty('includedBy');
});
