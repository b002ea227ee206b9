import type { DescribeApplicationStatusChecksResult } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import type { Gate } from '../../local/wire/contract.ts';
import { type Adopting, adopting, unchecked } from './helpers/adopting.ts';
import { DEMOTED, included, parameters, subjects, told } from './helpers/loops.ts';

const MINUTE = 60_000;

test('R-EVENTUAL: a description that does not show a demotion yet is nobody who has included the check again', async () => {
  const SHOWS_AFTER = 90_000;
  let excludedAt = Number.POSITIVE_INFINITY;
  let now = () => 0;
  const modifiedAt = new Date(0);
  const around: Gate['around'] = async ({ action, caller }, input, perform) => {
    const output = await perform(input);
    if (caller.name === 'BreakLoopsFunction' && action === 'ModifyApplicationStatusCheck')
      excludedAt = Math.min(excludedAt, now());
    const isStale = now() >= excludedAt && now() - excludedAt < SHOWS_AFTER;
    if (action !== 'DescribeApplicationStatusChecks' || !isStale) return output;
    const { ApplicationStatusChecks = [] } = output as DescribeApplicationStatusChecksResult;
    const stale = ApplicationStatusChecks.map(check => ({
      ...check,
      Aggregation: 'included',
      ModifyTime: modifiedAt,
    }));
    return { ...output, ApplicationStatusChecks: stale };
  };
  const group = await included({}, { parameters, gates: () => [{ around }] });
  now = () => group.bracket.clock.now();
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([['excluded'], [DEMOTED]]);
});

test('D40: a check that somebody includes again is demoted again while its cause lasts; then its end is told', async () => {
  const group = await included();
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  group.include();
  await group.bracket.clock.pass(3 * MINUTE);
  expect([group.aggregations, group.replacements]).toEqual([['excluded'], 0]);
  group.openIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect(subjects(group)).toEqual([
    DEMOTED,
    'Quiesce: check was included again, and is demoted again',
    'Quiesce: check is well again, and still excluded',
  ]);
  expect(group.aggregations).toEqual(['excluded']);
  group.include();
  await group.bracket.clock.pass(5 * MINUTE);
  expect(group.aggregations).toEqual(['included']);
});

describe('D40: who has included a check again', () => {
  const BY = 'arn:aws:iam::111122223333:user/somebody has included it again.';
  const AGAIN = 'Quiesce: check was included again, and is demoted again';

  async function includedAgain(physics: object): Promise<Adopting> {
    const group = await included({}, { parameters, physics });
    group.closeIngress();
    await group.bracket.clock.pass(10 * MINUTE);
    group.include();
    await group.bracket.clock.pass(4 * MINUTE);
    expect([group.aggregations, group.replacements]).toEqual([['excluded'], 0]);
    return group;
  }

  test('is named, where CloudTrail tells it', async () => {
    const group = await includedAgain({ trailSeconds: [5, 90] });
    expect(subjects(group)).toEqual([DEMOTED, AGAIN]);
    expect(told(group)[1]?.message).toContain(BY);
  });

  test('is named afterwards, once, where CloudTrail tells it late', async () => {
    const group = await includedAgain({ trailSeconds: [200, 200] });
    expect(told(group)[1]?.message).not.toContain('has included it again');
    await group.bracket.clock.pass(2 * MINUTE);
    group.include();
    await group.bracket.clock.pass(8 * MINUTE);
    expect(subjects(group)).toEqual([
      DEMOTED,
      AGAIN,
      'Quiesce: check was included again, and it is known by whom',
    ]);
    expect(told(group)[2]?.message).toContain(BY);
  });

  test('is nobody where nothing was demoted, and a call that excludes, or was refused, includes nothing', async () => {
    const group = await included();
    const { clock } = group.bracket;
    group.modify({ Path: '/health' });
    group.include();
    await clock.pass(5 * MINUTE);
    expect([group.aggregations, subjects(group)]).toEqual([['included'], []]);
  });
});

test('D40: an instance that fails truly does not keep a check demoted whose loop is over', async () => {
  const group = await included({ instances: 4 });
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  group.openIngress();
  group.answer(() => 503, 1);
  await group.bracket.clock.pass(10 * MINUTE);
  expect(subjects(group)).toEqual([DEMOTED, 'Quiesce: check is well again, and still excluded']);
  group.include();
  await group.bracket.clock.pass(15 * MINUTE);
  // The one that fails is replaced, which is what the check is for.
  expect([group.aggregations, group.replacements]).toEqual([['included'], 1]);
});

test('D40: the instances of another group do not make a loop over', async () => {
  const group = await adopting({ parameters }, unchecked);
  group.answer(() => 404);
  group.addGroup('other', 4);
  group.createCheckOnGroup();
  group.associateGroup('other');
  await group.bracket.clock.pass(20 * MINUTE);
  group.include();
  await group.bracket.clock.pass(20 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([['excluded'], [DEMOTED]]);
  group.answer(undefined);
  await group.bracket.clock.pass(5 * MINUTE);
  expect(subjects(group)).toEqual([DEMOTED, 'Quiesce: check is well again, and still excluded']);
});

test('D40: a demoted check that is on no group any more is whoever includes it', async () => {
  const group = await included();
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  group.disassociateGroup('web');
  group.associateByHand(group.checkId, ...group.bracket.ids(0));
  await group.bracket.clock.pass(2 * MINUTE);
  group.include();
  await group.bracket.clock.pass(5 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([['included'], [DEMOTED]]);
});

test('R-SWEEP: nothing is remembered of a demoted check that is gone', async () => {
  const group = await included();
  const remembered = async () =>
    (await group.bracket.ledger()).filter(({ pk }) => pk.startsWith('demotion#')).length;
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect(await remembered()).toBe(1);
  group.deleteCheck();
  await group.bracket.clock.pass(6 * MINUTE);
  expect(await remembered()).toBe(0);
});
