import { beforeAll, expect, test } from 'vitest';
import { adoptionRequest } from '../../functions/core/adoption-request.ts';
import { announceRetirement } from '../../functions/core/domain/retirement-announcement.ts';
import { closeAdoption, createAdoption, endAdoption } from '../../functions/core/ledger/adoptions.ts';
import { knownInterfaces, rememberCreated } from '../../functions/core/ledger/check-interfaces.ts';
import { giveCheck, giveRetired, takeCheck, takeToRetire } from '../../functions/core/ledger/check-locks.ts';
import { pk } from '../../functions/core/ledger/items.ts';
import {
  createRetirement,
  endRetirement,
  findRetirement,
  markRetirementAct,
  markRetirementTold,
  ownRetirement,
  takeRetirementOver,
} from '../../functions/core/ledger/retirements.ts';
import { change } from '../../functions/core/ledger/table.ts';
import { readRequest } from '../../functions/core/request.ts';
import { concludeRetirement, fenceRetirement } from '../../functions/core/retire/end.ts';
import { planRetirement } from '../../functions/core/retire/plan.ts';
import { composeOnRetirement } from '../../functions/core/retire/tell.ts';
import { retirementRequest } from '../../functions/core/retirement-request.ts';
import { goOnIfAbandoned } from '../../functions/core/sweep/abandoned-retirements.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';

let ledger: LedgerWorld;
let count = 0;
const freshCheck = () => `asc-${String(count++).padStart(17, '0')}`;

beforeAll(async () => {
  ledger = await createLedger();
});

const plan = { deletesCheck: true, interfaceIds: ['eni-1'], groupIds: ['sg-1'], optInTagValue: 'enabled' };
const create = (checkId: string, owner: string) =>
  createRetirement({
    owner,
    request: readRequest(retirementRequest, { checkId }),
    plan,
    createdAt: NOW,
    deadline: NOW + 60,
  });
const FAILED = { outcome: 'failed', at: NOW, error: 'GroupHeld', cause: 'It is held.' } as const;
const failure = { error: 'GroupHeld', cause: 'It is held.' };
const nameOf = (work: Promise<unknown>, done: string) =>
  work.then(
    () => done,
    ({ name }: Error) => name,
  );

/** Both steps of the plan of an adoption. */
async function adopt(group: string, checkId: string): Promise<void> {
  const request = readRequest(adoptionRequest, { autoScalingGroupName: group, check: { id: checkId } });
  const adoption = {
    token: 't',
    sample: [],
    wasOnGroup: true,
    observeSeconds: 900,
    optInTagValue: 'enabled',
  };
  await createAdoption({ group, owner: `of ${group}`, request, plan: adoption, createdAt: NOW, checkId });
  await takeCheck(checkId, group, `of ${group}`);
}

/** Both steps of the plan of a retirement. */
async function retire(checkId: string, owner: string): Promise<void> {
  await create(checkId, owner);
  await takeToRetire(checkId, owner);
}

test('R-SERIAL: of two retirements of a check one is written, in whatever order their calls are answered', () =>
  inEveryOrder(async choose => {
    const checkId = freshCheck();
    const owners = ['a', 'b'];
    const results = await ledger.interleaved(
      owners.map(owner => () => nameOf(retire(checkId, owner), owner)),
      choose,
    );
    expect(results.filter(result => result === 'RetirementInProgress')).toHaveLength(1);
  }));

test('R-SERIAL: of an adoption and a retirement of a check one takes it', () =>
  inEveryOrder(async choose => {
    const checkId = freshCheck();
    const results = await ledger.interleaved(
      [
        () => nameOf(adopt(`web-${checkId}`, checkId), 'adopts'),
        () => nameOf(retire(checkId, 'a'), 'retires'),
      ],
      choose,
    );
    expect(results.filter(result => /InProgress$/.test(result))).toHaveLength(1);
  }));

test('what one that is over could not give back is taken from it', () =>
  ledger.as(async () => {
    const [first, second] = [freshCheck(), freshCheck()];
    await adopt('web-1', first);
    await endAdoption('web-1', 'of web-1', FAILED);
    await closeAdoption('web-1', 'of web-1');
    await retire(first, 'a');
    await giveCheck(first, 'web-1');
    await expect(adopt('web-2', first)).rejects.toMatchObject({ name: 'RetirementInProgress' });
    await giveRetired(first);
    await retire(second, 'b');
    await endRetirement(second, 'b', FAILED);
    await adopt('web-3', second);
  }));

test('R-FAIL: what has ended does nothing more, keeps its first error, and is told once', () =>
  ledger.as(async () => {
    const checkId = freshCheck();
    await retire(checkId, 'a');
    await markRetirementAct(checkId, 'a', 'check-deleted');
    expect(await fenceRetirement({ checkId }, 'b', failure)).toMatchObject({ deletedCheck: false });
    expect(await takeRetirementOver(checkId, 'nobody', 'b')).toBeUndefined();
    expect(await fenceRetirement({ checkId }, 'a', failure)).toMatchObject({
      deletedCheck: true,
      ...failure,
    });
    await fenceRetirement({ checkId }, 'a', { error: 'Other', cause: '' });
    expect(await findRetirement(checkId)).toMatchObject({ status: 'ended', ...failure });
    await expect(ownRetirement(checkId, 'a')).rejects.toMatchObject({ name: 'RetirementEnded' });
    await expect(markRetirementAct(checkId, 'a', 'groups-deleted')).rejects.toMatchObject({
      name: 'RetirementEnded',
    });
    await expect(concludeRetirement(checkId, 'a')).rejects.toMatchObject({ name: 'RetirementEnded' });
    await expect(concludeRetirement(checkId, 'b')).rejects.toMatchObject({ name: 'RetirementEnded' });
    expect(await takeRetirementOver(checkId, 'a', 'b')).toBeUndefined();
    expect(await planRetirement({ subject: checkId, from: 'a' }, 'b', 'enabled')).toMatchObject({
      verdict: 'nothing',
    });
    expect(await goOnIfAbandoned({ subject: checkId })).toBe(false);
    const compose = (execution = 'a') => composeOnRetirement({ retirement: checkId, execution }, failure);
    // A second request that was refused says nothing of the first.
    expect(await compose('b')).toMatchObject({ isNews: false });
    expect(await compose()).toMatchObject({ isNews: true, what: 'unfinished' });
    expect([
      await markRetirementTold(checkId, 'unfinished'),
      await markRetirementTold(checkId, 'unfinished'),
    ]).toEqual([true, false]);
    expect(await compose()).toMatchObject({ isNews: false });
    expect(await composeOnRetirement({ retirement: '', execution: 'a' }, failure)).toMatchObject({
      isNews: false,
    });
  }));

test('one that has succeeded is not failed by what comes later', () =>
  ledger.as(async () => {
    const checkId = freshCheck();
    await retire(checkId, 'a');
    await concludeRetirement(checkId, 'a');
    expect(await fenceRetirement({ subject: checkId, from: 'z' }, 'a', failure)).toMatchObject({
      deletedCheck: false,
    });
    expect(await findRetirement(checkId)).toMatchObject({ outcome: 'succeeded' });
    expect(await fenceRetirement({ web: 1 }, 'a', failure)).toMatchObject({ subject: '', ...failure });
  }));

test.each([
  ['concluded', (checkId: string) => concludeRetirement(checkId, 'a')],
  ['fenced', (checkId: string) => fenceRetirement({ checkId }, 'a', failure)],
])(
  'R-SWEEP: one that cannot give its check back when it is %s is live still, for the sweep',
  async (_, end) => {
    const before = ({ action }: { readonly action: string }) => {
      if (action === 'DeleteItem') throw new ServiceError('AccessDeniedException', 'not now');
    };
    const failing = await createLedger([], [{ before }]);
    await failing.as(async () => {
      const checkId = freshCheck();
      await retire(checkId, 'a');
      await expect(end(checkId)).rejects.toThrow('not now');
      expect(await findRetirement(checkId)).toMatchObject({ status: 'live' });
    });
  },
);

test('R-NEWER: an interface that is known is not forgotten for what CloudTrail tells late', () =>
  ledger.as(async () => {
    const place = { id: 'eni-1', subnetId: 'subnet-1', securityGroupIds: ['sg-1'] };
    await rememberCreated(place);
    await rememberCreated({ ...place, subnetId: 'subnet-2' });
    // What is not of this version of the ledger is passed over.
    await change(pk.checkInterface('eni-2'), {
      UpdateExpression: 'SET seen = :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    });
    expect(await knownInterfaces()).toEqual([{ ...place, checkIds: [] }]);
  }));

test('people are told what was deleted, what is in the way, and how to go on', () => {
  const news = { subject: 'asc-1', ...failure, endedAt: NOW };
  const whole = announceRetirement({ ...news, deletedCheck: true, byHand: ['aws ec2 ...'] });
  expect(whole.message).toContain('The check is deleted. ');
  expect(whole.message).toContain('When nothing holds it any more:\n  aws ec2 ...');
  const { message } = announceRetirement({ ...news, deletedCheck: false, byHand: [] });
  expect(message).not.toMatch(/is deleted|When nothing/);
});
