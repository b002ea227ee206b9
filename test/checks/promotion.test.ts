import { describe, expect, test } from 'vitest';
import { autoScalingActs } from '../../local/account/auto-scaling-acts.ts';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { type Call, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { type Adopting, adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;

test('D36: an instance that goes in the moment of the promotion sends it back to the observation', async () => {
  let leave = () => {};
  const before = ({ action, caller }: Call) => {
    if (action === 'DescribeAutoScalingGroups' && caller.name === 'ActOnCheckFunction') leave();
  };
  const group = await adopting({ gates: () => [{ before }] });
  const acts = autoScalingActs(group.bracket.standing.account.autoScaling);
  leave = () => {
    leave = () => {};
    acts.TerminateInstanceInAutoScalingGroup({
      InstanceId: group.bracket.ids(0)[0],
      ShouldDecrementDesiredCapacity: false,
    });
  };
  const adoption = await group.adopt();
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(group.bracket.path(adoption)).toContain('ObserveAgain');
  expect(await group.bracket.violations()).toEqual([]);
});

describe('after its promotion', () => {
  test('a check that finds more instances impaired than are allowed is excluded again before one is replaced', async () => {
    const group = await adopting();
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveHarm');
    group.answer(() => 503, 1);
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckDemoted');
    expect(adoption.cause).toMatch(/1 of 3 instances are impaired .* more than 10 %.*status code/s);
    expect([group.aggregations, group.replacements]).toEqual([[], 0]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('D41: a check that does harm while the fleet is suppressed is excluded again when that shows', async () => {
    const group = await adopting();
    const adoption = group.start({ watchSeconds: 300 });
    await group.bracket.reaches(adoption, 'ObserveHarm');
    ec2Api(group.bracket.standing.account.checks).EnableApplicationStatusCheckSuppression({
      InstanceIds: group.bracket.ids(),
      DurationSeconds: 900,
    });
    await group.bracket.clock.pass(4 * MINUTE);
    group.answer(() => 503);
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckDemoted');
    expect(group.replacements).toBe(0);
  });

  test('one replacement for application status demotes it, however many impaired ones are allowed', async () => {
    const group = await adopting();
    const id = group.createCheck();
    const adoption = group.start({ check: { id }, impairedPercent: 100 });
    await group.bracket.reaches(adoption, 'ObserveHarm');
    group.answer(() => 503, 1);
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckDemoted');
    expect(adoption.cause).toContain('EC2 Application Status check failure');
    // As it was before: there, excluded, and on nothing.
    expect([group.checkId, group.aggregations, group.associations]).toEqual([id, ['excluded'], []]);
    expect(group.replacements).toBe(1);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('what somebody else does to it ends the adoption', async () => {
    const group = await adopting();
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveHarm');
    await group.bracket.clock.pass(MINUTE);
    group.deleteCheck();
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckChanged');
  });
});

test('a check that somebody else includes while it is observed is left included, and is adopted by nobody', async () => {
  const group = await adopting();
  const id = group.createCheck();
  const adoption = group.start({ check: { id } });
  await group.bracket.reaches(adoption, 'ObserveSample');
  group.include();
  await group.bracket.end(adoption);
  expect(outcome(adoption)).toBe('FAILED CheckChanged');
  expect([group.aggregations, group.associations]).toEqual([['included'], []]);
});

describe('D36: a promotion rests on what is there then:', () => {
  test('what somebody has associated besides ends the adoption, for nothing is proven there', async () => {
    const group = await adopting();
    group.addGroup('other', 1);
    await group.bracket.clock.pass(5 * MINUTE);
    const id = group.createCheck();
    const adoption = group.start({ check: { id } });
    await group.bracket.reaches(adoption, 'ObserveGroup');
    group.associateGroup('other');
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckChanged');
    expect(adoption.cause).toContain('aws:autoscaling:groupName=other');
    expect([group.aggregations, group.associations]).toEqual([
      ['excluded'],
      ['aws:autoscaling:groupName=other'],
    ]);
  });

  /** An adoption, and what a person does when its promotion begins. */
  async function meanwhile(act: (group: Adopting) => void) {
    let begin = () => {};
    const before = ({ action, caller }: Call) => {
      if (action === 'GetItem' && caller.name === 'ActOnCheckFunction') begin();
    };
    const group = await adopting({ gates: () => [{ before }] });
    const adoption = group.start();
    begin = () => {
      if (!group.bracket.path(adoption).includes('Promote')) return;
      begin = () => {};
      act(group);
    };
    await group.bracket.end(adoption);
    return { group, adoption };
  }

  test('what somebody has disassociated ends it too', async () => {
    const { group, adoption } = await meanwhile(person => person.disassociateGroup('web'));
    expect(outcome(adoption)).toBe('FAILED CheckChanged');
    expect(group.aggregations).toEqual([]);
  });

  test('evaluations from before somebody modified the check are not counted', async () => {
    const { group, adoption } = await meanwhile(person => person.modify({ Path: '/other' }));
    expect(outcome(adoption)).toBe('SUCCEEDED');
    expect(group.bracket.path(adoption)).toContain('ObserveAgain');
  });

  test('a step that is repeated looks again before it includes the check', async () => {
    let fails = true;
    const before = ({ action, caller }: Call) => {
      if (fails && action === 'ModifyApplicationStatusCheck' && caller.name === 'ActOnCheckFunction')
        throw new ServiceError('RequestLimitExceeded', 'Request limit exceeded.', 503);
    };
    const group = await adopting({ gates: () => [{ before }] });
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'Promote');
    group.answer(() => 503);
    await group.bracket.clock.pass(1.5 * MINUTE);
    fails = false;
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckNotProven');
    expect(group.replacements).toBe(0);
    expect(await group.bracket.violations()).toEqual([]);
  });
});
