import { describe, expect, test } from 'vitest';
import type { Execution } from '../../local/states/execution.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { guarded, MINUTE, type Retiring, retiring } from './helpers/retiring.ts';

/** The alarms that people have been told of, without the stack's name, once they have been evaluated. */
async function rung({ bracket }: Retiring): Promise<string[]> {
  await bracket.clock.pass(10 * MINUTE);
  return bracket.stack.topics.published.flatMap(({ subject }) => /"quiesce-(\w+)"/.exec(subject)?.[1] ?? []);
}

/** Has a function said this in its log? */
const isSaid = ({ bracket }: Retiring, what: string) =>
  bracket.stack.lambda.logs.some(({ line }) => line.includes(what));

describe('a check with a group of its own', () => {
  test('R-ENI: is deleted after its associations, its interface waited out, its group deleted last', async () => {
    const check = await retiring();
    const { bracket, checkId, groupId } = check;
    const execution = await check.retire();
    expect(outcome(execution)).toBe('SUCCEEDED');
    expect(execution.output).toMatchObject({ subject: checkId, deletedCheck: true, groupIds: [groupId] });
    const acts = bracket.acts.filter(({ service }) => service === 'ec2');
    expect(acts.map(({ action }) => action)).toEqual([
      'DisassociateApplicationStatusCheck',
      'DeleteApplicationStatusCheck',
      'DeleteSecurityGroup',
    ]);
    const waited = Number(acts[2]?.at) - Number(acts[1]?.at);
    expect(waited).toBeGreaterThanOrEqual(25 * MINUTE);
    expect(waited).toBeLessThan(31 * MINUTE);
    expect(await check.records()).toEqual(['retirement ended']);
    // The check, its interfaces and its group are gone: nothing is left to do, and that is success.
    const again = await check.retire({ checkId, securityGroupIds: [groupId] });
    expect(again.output).toMatchObject({ verdict: 'nothing' });
    expect(await bracket.violations()).toEqual([]);
  });

  test('keeps the group when its tag is taken away, or nobody names it', async () => {
    const check = await retiring({}, { ...fleetWith('kept'), instances: 1, zones: ['eu-west-1a'] });
    const { groupId } = check;
    expect(outcome(await check.retire())).toBe('SUCCEEDED');
    expect(check.groupId).toBe(groupId);
    check.useGroup();
    const left = check.start({ securityGroupIds: [groupId] });
    await check.bracket.reaches(left, 'WaitForLeft');
    check.network.securityGroup(groupId).tags.delete('quiesce');
    await check.bracket.end(left);
    expect([outcome(left), check.groupId]).toEqual(['SUCCEEDED', groupId]);
  });
});

const fleetWith = (ownGroup: 'kept' | 'deleted-when-free') => ({
  checks: [{ port: 8080, ownGroup }],
  autoScaling: { healthChecks: ['EC2' as const] },
});

describe('at its limit', () => {
  test('R-ENI: a retirement names the interface that never goes, tells people, and rings', async () => {
    const check = await retiring({
      physics: { interfaceLingerMinutes: [600, 600] },
      parameters: { NotificationTopic: 'create' },
    });
    const { bracket, checkId, groupId } = check;
    const [eni] = check.interfaceIds;
    const [subnet] = check.network.subnets.keys();
    const execution = await check.retire({ checkId, limitSeconds: 1800 });
    expect(outcome(execution)).toBe('FAILED InterfacesLinger');
    expect(execution.cause).toBe(
      `After 1800 s: ${groupId} is held by interface ${eni} "EC2 application status checks" in ${subnet}, managed by ec2.application-status-checks.amazonaws.com, attached to amazon-aws. AWS deletes them by itself, and nobody else can.`,
    );
    expect(await rung(check)).toContain('RetireCheckAlarm');
    const [told] = bracket.putEvents;
    expect(told).toMatchObject({
      DetailType: 'Quiesce Retirement Unfinished',
      Detail: { subject: checkId, error: 'InterfacesLinger' },
    });
    expect(bracket.sent.filter(({ action }) => action === 'DeleteSecurityGroup')).toEqual([]);
    expect(await check.records()).toEqual(['retirement ended']);
  });

  test('D34: it names whatever else holds the group, and waits for that from the start', async () => {
    const check = await retiring();
    const { bracket, checkId, groupId } = check;
    const [subnet] = check.network.subnets.keys();
    const other = check.useGroup();
    const referring = check.referToGroup();
    check.network.vpcAssociations.set(groupId, ['vpc-1']);
    const execution = check.start({ checkId, limitSeconds: 2400 });
    await bracket.reaches(execution, 'WaitForLeft');
    expect(isSaid(check, `a rule of ${referring} that refers to it`)).toBe(true);
    await bracket.end(execution);
    expect(execution.cause).toBe(
      `After 2400 s: ${groupId} is held by interface ${other} "ELB app/other/1" in ${subnet}, of amazon-elb, attached to amazon-elb; a rule of ${referring} that refers to it; its association with vpc-1.`,
    );
    expect(outcome(execution)).toBe('FAILED GroupHeld');
    // Nobody is told twice; whoever comes again when the causes are gone succeeds.
    check.network.removeInterface(other);
    check.network.setIngress(referring, []);
    check.network.vpcAssociations.delete(groupId);
    expect(outcome(await check.retire({ securityGroupIds: [groupId] }))).toBe('SUCCEEDED');
    expect(check.groupId).toBe('no group');
    expect(await bracket.violations()).toEqual([]);
  });
});

describe('what EC2 does not do', () => {
  const short = { interfaceLingerMinutes: [1, 1] };
  const limited = (check: Retiring) => check.retire({ checkId: check.checkId, limitSeconds: 120 });

  test('a check that stays although it was deleted keeps its group', async () => {
    const swallow: Gate = {
      around: async ({ action }, input, perform) =>
        action === 'DeleteApplicationStatusCheck' ? {} : perform(input),
    };
    const check = await retiring({ physics: short, gates: () => [swallow] });
    const execution = await limited(check);
    expect(execution.cause).toMatch(/^After 120 s: asc-\w+ is still there/);
    expect([outcome(execution), check.bracket.actsOf('DeleteSecurityGroup')]).toEqual([
      'FAILED GroupHeld',
      [],
    ]);
  });

  test('R-ENI: a group that EC2 does not delete and shows nothing of is tried until the limit', async () => {
    const before = ({ action }: { action: string }) => {
      if (action === 'DeleteSecurityGroup')
        throw new ServiceError('DependencyViolation', 'a dependent object');
    };
    const check = await retiring({ physics: short, gates: () => [{ before }] });
    const execution = await limited(check);
    expect([outcome(execution), execution.cause]).toEqual([
      'FAILED GroupHeld',
      `After 120 s: EC2 does not delete ${check.groupId}, and shows nothing that holds it.`,
    ]);
    expect(check.bracket.actsOf('DeleteSecurityGroup').length).toBeGreaterThan(2);
  });

  test('interfaces of a check that has no group of its own are named where they are', async () => {
    const check = await retiring({}, { ...guarded, checks: [{ port: 8080 }] });
    const [instance = ''] = check.bracket.ids(0);
    // What is associated by its id and is gone needs nothing.
    check.api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: check.checkId,
      InstanceIds: [instance],
    });
    check.bracket.standing.account.ec2.terminate(instance);
    await check.bracket.clock.pass(MINUTE);
    const execution = await limited(check);
    expect([outcome(execution), execution.cause]).toEqual([
      'FAILED InterfacesLinger',
      expect.stringMatching(
        /^After 120 s: interface eni-\w+ "EC2 .* attached to amazon-aws is still there\. AWS/,
      ),
    ]);
  });
});

describe('refused before anything is touched', () => {
  test('D45: where another check needs the interface, which is named; without the group it is only told', async () => {
    const check = await retiring();
    const { checkId, groupId } = check;
    const other = check.createCheckBeside();
    const refused = await check.retire({ checkId, securityGroupIds: [groupId] });
    expect(outcome(refused)).toBe('FAILED InterfaceShared');
    expect(refused.cause).toContain(`${other} is asked from ${groupId} too`);
    expect(check.bracket.acts.filter(({ service }) => service === 'ec2')).toEqual([]);
    const execution = await check.retire();
    expect(outcome(execution)).toBe('SUCCEEDED');
    expect(check.registry.active().map(({ id }) => id)).toEqual([other]);
    expect(isSaid(check, `"checkIds":["${other}"]`)).toBe(true);
    // Somebody comes to need it while it is waited for.
    check.api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: other });
    const later = check.start({ securityGroupIds: [groupId] });
    await check.bracket.reaches(later, 'WaitForLeft');
    const third = check.createCheckBeside();
    await check.bracket.end(later);
    expect(outcome(later)).toBe('FAILED InterfaceShared');
    // A group that nobody has named is left to it without a word.
    const unnamed = check.start({ checkId: third });
    await check.bracket.reaches(unnamed, 'WaitForLeft');
    check.createCheckBeside();
    await check.bracket.end(unnamed);
    expect([outcome(unnamed), check.groupId]).toEqual(['SUCCEEDED', groupId]);
  });

  test('D19: without the tag, and while a run, an adoption or another retirement counts on it', async () => {
    const check = await retiring();
    const { bracket, checkId, groupId } = check;
    const outcomes: string[] = [];
    const refused = async (request?: object) =>
      outcomes.push(outcome(await check.retire({ checkId, ...request })));
    check.network.securityGroup(groupId).tags.delete('quiesce');
    await refused({ securityGroupIds: [groupId] });
    check.network.securityGroup(groupId).tags.set('quiesce', 'enabled');
    check.registry.tag(checkId, { quiesce: 'no' });
    await refused();
    check.registry.tag(checkId, { quiesce: 'enabled' });
    await refused({ checkId: 'web' });
    const [instance = ''] = bracket.ids(0);
    const byId = { ApplicationStatusCheckId: checkId, InstanceIds: [instance] };
    check.api.AssociateApplicationStatusCheck(byId);
    bracket.standing.account.ec2.tag(instance, { quiesce: 'no' });
    await refused();
    bracket.standing.account.ec2.tag(instance, { quiesce: 'enabled' });
    check.api.DisassociateApplicationStatusCheck(byId);
    const run = bracket.start('BeforeDeploy', { runId: 'r', fleet: { autoScalingGroupName: 'web' } });
    await bracket.reaches(run, 'Suppress');
    await bracket.clock.pass(3_000);
    await refused();
    bracket.stack.executions.stop(run.arn, 'Operator.Stopped', 'by a person');
    await bracket.clock.pass(20 * MINUTE);
    check.api.ModifyApplicationStatusCheck({ ApplicationStatusCheckId: checkId, Aggregation: 'excluded' });
    const adoption = bracket.start('PromoteCheck', { autoScalingGroupName: 'web', check: { id: checkId } });
    await bracket.reaches(adoption, 'ObserveGroup');
    await refused();
    await bracket.end(adoption);
    const first = check.start();
    await bracket.reaches(first, 'WaitForLeft');
    await refused();
    const joined = await check.retire({ checkId, keepCheck: true });
    expect(joined.output).toMatchObject({ verdict: 'nothing' });
    await bracket.end(first);
    expect(outcomes).toEqual([
      'FAILED NotOptedIn',
      'FAILED NotOptedIn',
      'FAILED InvalidRequest',
      'FAILED NotOptedIn',
      'FAILED RunInProgress',
      'FAILED AdoptionInProgress',
      'FAILED RetirementInProgress',
    ]);
    expect(outcome(first)).toBe('SUCCEEDED');
    expect(await bracket.violations()).toEqual([]);
  });
});

test('R-IDEMP: of what several events tell at once one retirement takes care, and none fails', async () => {
  const check = await retiring();
  const { bracket, checkId } = check;
  check.deleteCheck();
  const all = [1, 2, 3].map(() => check.start({ checkId, keepCheck: true }));
  for (const one of all) await bracket.end(one);
  expect(all.map(outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  expect([
    check.groupId,
    all.filter(({ output }) => JSON.stringify(output).includes('nothing')).length,
  ]).toEqual(['no group', 2]);
});

test('R-SERIAL: nobody adopts a check that is just being deleted', async () => {
  let adoption: Execution | undefined;
  const comes = async ({ action }: { readonly action: string }) => {
    if (adoption || action !== 'DeleteApplicationStatusCheck') return;
    const request = { autoScalingGroupName: 'web', check: { id: beside } };
    adoption = check.bracket.start('PromoteCheck', request);
    await check.bracket.clock.sleep(5_000);
  };
  const check = await retiring({ gates: () => [{ before: comes }] });
  const beside = check.createCheckBeside();
  await check.retire({ checkId: beside });
  expect(adoption && outcome(adoption)).toBe('FAILED RetirementInProgress');
});

test('D45: a check that comes to need the interface after the plan keeps the other from being deleted', async () => {
  let looks = 0;
  const comes: Gate = {
    before({ action }) {
      // The plan looks twice.
      if (action === 'DescribeApplicationStatusChecks' && ++looks === 3) check.createCheckBeside();
    },
  };
  const check = await retiring({ gates: () => [comes] });
  const execution = await check.retire({ checkId: check.checkId, securityGroupIds: [check.groupId] });
  expect([outcome(execution), check.bracket.actsOf('DeleteApplicationStatusCheck')]).toEqual([
    'FAILED InterfaceShared',
    [],
  ]);
});

test('R-SWEEP: a retirement that was stopped is gone on with, to its own limit', async () => {
  const check = await retiring();
  const { bracket } = check;
  const execution = check.start();
  await bracket.reaches(execution, 'WaitForLeft');
  bracket.stack.executions.stop(execution.arn, 'Operator.Stopped', 'by a person');
  await bracket.clock.pass(45 * MINUTE);
  expect(bracket.ended('RetireCheck')).toEqual(['ABORTED Operator.Stopped', 'SUCCEEDED']);
  expect([check.registry.active(), check.groupId, await check.records()]).toEqual([
    [],
    'no group',
    ['retirement ended'],
  ]);
});
