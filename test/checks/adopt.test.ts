import { describe, expect, test } from 'vitest';
import { outcome } from '../machine/helpers/bracket.ts';
import { adopting, unchecked } from './helpers/adopting.ts';

const MINUTE = 60_000;

test('a check that every instance passes is created, proven, included and watched, and the record says why', async () => {
  const group = await adopting();
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveSample');
  expect(group.aggregations).toEqual(['excluded']);
  expect(group.associations).toHaveLength(2);
  await group.bracket.reaches(adoption, 'ObserveGroup');
  expect(group.aggregations).toEqual(['excluded']);
  expect(group.associations).toEqual(['aws:autoscaling:groupName=web']);
  await group.bracket.end(adoption);
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(group.aggregations).toEqual(['included']);
  // The sample, then the group, and only then the sample no more: no instance is without the check in between.
  const acts = group.bracket.acts.map(({ action }) => action.replace('ApplicationStatusCheck', ''));
  expect(acts.filter(action => /associate/i.test(action))).toEqual([
    'Associate',
    'Associate',
    'Disassociate',
  ]);
  const evidence = { instances: 3, evaluations: 2 };
  expect(adoption.output).toMatchObject({ group: 'web', checkId: group.checkId, evidence });
  expect(group.replacements).toBe(0);
  expect(await group.bracket.violations()).toEqual([]);
});

test('a check on a port where nothing listens is refused its connections, and never proven', async () => {
  const group = await adopting({}, { ...unchecked, alsoListensOn: [8080] });
  const adoption = await group.adopt({ check: { protocol: 'http', port: 9999 } });
  expect(outcome(adoption)).toBe('FAILED CheckNotProven');
  expect(adoption.cause).toContain('ConnectionRefused');
});

test('a check that exists is adopted as it is', async () => {
  const group = await adopting();
  const id = group.createCheck();
  expect(outcome(await group.adopt({ check: { id } }))).toBe('SUCCEEDED');
  expect([group.checkId, group.aggregations]).toEqual([id, ['included']]);
  expect(await group.bracket.violations()).toEqual([]);
});

describe('a check that is on the whole group already, excluded,', () => {
  const ON_GROUP = 'aws:autoscaling:groupName=web';

  test('is proven there at once, without a sample', async () => {
    const group = await adopting();
    const adoption = await group.adopt({ check: { id: group.createCheckOnGroup() } });
    expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
    expect(group.bracket.path(adoption)).not.toContain('Sample');
    expect([group.aggregations, group.associations]).toEqual([['included'], [ON_GROUP]]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('stays there when it is not proven, and when it is demoted', async () => {
    const group = await adopting();
    const check = { id: group.createCheckOnGroup() };
    group.answer(() => 503, 1);
    expect(outcome(await group.adopt({ check }))).toBe('FAILED CheckNotProven');
    expect([group.aggregations, group.associations]).toEqual([['excluded'], [ON_GROUP]]);
    group.answer(undefined);
    const adoption = group.start({ check });
    await group.bracket.reaches(adoption, 'ObserveHarm');
    group.answer(() => 503, 1);
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckDemoted');
    expect([group.aggregations, group.associations]).toEqual([['excluded'], [ON_GROUP]]);
  });
});

describe('nothing is included, and what was created is gone,', () => {
  test('when the security groups are closed: the rule to add is named before anything is touched', async () => {
    const group = await adopting();
    group.closeIngress();
    const adoption = await group.adopt();
    expect(outcome(adoption)).toBe('FAILED IngressClosed');
    const [groupId = ''] = group.bracket.standing.account.ec2.network.securityGroups.keys();
    expect(adoption.cause?.split('\n').at(-1)).toBe(
      `aws ec2 authorize-security-group-ingress --group-id ${groupId} --ip-permissions 'IpProtocol=tcp,FromPort=8080,ToPort=8080,UserIdGroupPairs=[{GroupId=${groupId}}]'`,
    );
    expect([group.bracket.acts, group.replacements]).toEqual([[], 0]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('when they are closed after that: the observation decides, and the diagnosis says where to look', async () => {
    const group = await adopting();
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveSample');
    group.closeIngress();
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckNotProven');
    expect(adoption.cause).toContain("Let the check's source into the instance's security group");
    expect([group.aggregations, group.replacements]).toEqual([[], 0]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('when a customer-managed path is closed: the rule to add is named', async () => {
    const group = await adopting();
    const id = group.createCheckOnPath();
    group.closeIngress();
    const adoption = await group.adopt({ check: { id } });
    expect(outcome(adoption)).toBe('FAILED IngressClosed');
    expect(adoption.cause).toContain('authorize-security-group-ingress');
    expect([group.aggregations, group.associations]).toEqual([['excluded'], []]);
  });

  test('when no customer-managed path leads to an instance, which only the observation tells', async () => {
    const group = await adopting();
    const id = group.createCheckOnPath();
    expect(outcome(await group.adopt({ check: { id } }))).toBe('FAILED CheckNotProven');
    expect([group.aggregations, group.associations]).toEqual([['excluded'], []]);
  });

  test('when the application passes one evaluation in two', async () => {
    const group = await adopting();
    group.answer(now => (Math.floor(now / MINUTE) % 2 === 0 ? 200 : 503), 0);
    const adoption = await group.adopt();
    expect(outcome(adoption)).toBe('FAILED CheckNotProven');
    expect(group.bracket.path(adoption)).not.toContain('Promote');
    expect(group.aggregations).toEqual([]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('when an instance outside the sample does not pass', async () => {
    const group = await adopting();
    group.answer(() => 404);
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveSample');
    const [inSample = '', second = ''] = group.associations;
    const fleet = group.bracket.ids();
    group.answer(undefined, fleet.indexOf(inSample), fleet.indexOf(second));
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckNotProven');
    expect(group.bracket.path(adoption)).toContain('ObserveGroup');
    expect(adoption.cause).toContain('It is one instance of 3');
    expect([group.aggregations, group.replacements]).toEqual([[], 0]);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('D47: when the quota of targets is one short, which is named and not waited for', async () => {
    const group = await adopting({ quotas: { targets: 2 } });
    const adoption = await group.adopt();
    expect(outcome(adoption)).toBe('FAILED QuotaExceeded');
    expect(adoption.cause).toMatch(/reports nothing of asc-\w+ on 1 instances/);
    const observed =
      group.bracket.enteredAt(adoption, 'Fence') - group.bracket.enteredAt(adoption, 'ObserveGroup');
    expect(observed).toBeLessThan(7 * MINUTE);
    expect(group.aggregations).toEqual([]);
  });

  test('when somebody disassociates the group, which is not taken for a quota', async () => {
    const group = await adopting();
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveGroup');
    group.disassociateGroup('web');
    await group.bracket.end(adoption);
    expect(outcome(adoption)).toBe('FAILED CheckChanged');
    expect(adoption.cause).toContain('Somebody has disassociated');
    expect(group.aggregations).toEqual([]);
  });

  test('when EC2 takes no association any more, with its reason', async () => {
    const group = await adopting({ quotas: { associations: 1 } });
    const adoption = await group.adopt();
    expect(outcome(adoption)).toBe('FAILED QuotaExceeded');
    expect(adoption.cause).toContain('limit of 1 associations');
    expect(group.aggregations).toEqual([]);
  });

  test.each(['ObserveSample', 'ObserveGroup'])(
    'when the check is deleted at %s, which ends it at once',
    async state => {
      const group = await adopting();
      const adoption = group.start();
      await group.bracket.reaches(adoption, state);
      await group.bracket.clock.pass(2 * MINUTE);
      const deletedAt = group.bracket.clock.now();
      group.deleteCheck();
      await group.bracket.end(adoption);
      expect(outcome(adoption)).toBe('FAILED CheckChanged');
      expect(group.bracket.enteredAt(adoption, 'Fence') - deletedAt).toBeLessThan(MINUTE);
      expect(await group.bracket.violations()).toEqual([]);
    },
  );
});

test('R-GONE: an instance that is replaced in mid-observation is gone, and its successor is observed instead', async () => {
  const group = await adopting();
  const adoption = group.start({ observeSeconds: 1800 });
  await group.bracket.reaches(adoption, 'ObserveGroup');
  await group.bracket.clock.pass(MINUTE);
  group.bracket.standing.account.ec2.terminate(group.bracket.ids(0)[0] ?? '');
  await group.bracket.end(adoption);
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(adoption.output).toMatchObject({ evidence: { instances: 3 } });
  // Invariant 5 looks at the successor too.
  expect(await group.bracket.violations()).toEqual([]);
});

test('R-GONE: a sample of which nothing is left is said so at once, and not waited for', async () => {
  const group = await adopting();
  const adoption = group.start({ sample: 1 });
  await group.bracket.reaches(adoption, 'ObserveSample');
  const [gone = ''] = group.associations;
  group.bracket.standing.account.ec2.terminate(gone);
  await group.bracket.end(adoption);
  expect(outcome(adoption)).toBe('FAILED CheckNotProven');
  expect(adoption.cause).toContain(`None of the sample is in service any more (${gone})`);
  const observed =
    group.bracket.enteredAt(adoption, 'Fence') - group.bracket.enteredAt(adoption, 'ObserveSample');
  expect(observed).toBeLessThan(5 * MINUTE);
  expect(group.aggregations).toEqual([]);
});

test('D39: what somebody else associates with the group before the adoption does stays associated', async () => {
  const group = await adopting();
  const adoption = group.start({ check: { id: group.createCheck() } });
  await group.bracket.reaches(adoption, 'ObserveSample');
  group.associateGroup('web');
  group.bracket.stack.executions.stop(adoption.arn, 'Operator.Stopped', 'by a person');
  await group.bracket.clock.pass(5 * MINUTE);
  expect(group.associations).toEqual(['aws:autoscaling:groupName=web']);
  expect(group.bracket.ended('PromoteCheck')).toContain('FAILED Operator.Stopped');
});

test('the largest sample leaves room for the association of the whole group', async () => {
  const group = await adopting({}, { ...unchecked, instances: 49 });
  const adoption = group.start({ sample: 49 });
  await group.bracket.reaches(adoption, 'ObserveGroup');
  expect(group.associations).toEqual(['aws:autoscaling:groupName=web']);
  expect(outcome(await group.adopt({ sample: 50 }))).toBe('FAILED InvalidRequest');
});
