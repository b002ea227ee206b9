import { describe, expect, test } from 'vitest';
import { autoScalingActs } from '../../local/account/auto-scaling-acts.ts';
import { OPT_IN, OWN_GROUP } from '../../local/simulate/build-fleet.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { type BracketSettings, outcome } from '../machine/helpers/bracket.ts';
import { unneededBy } from '../template/helpers/role-groups.ts';
import { guarded, MINUTE, type Retiring, retiring } from './helpers/retiring.ts';

const parameters = { InterfaceWatch: 'Enabled' };
const STEP = 15 * MINUTE;

/** What each execution of RetireCheck was started with, and how it has ended. */
const executions = ({ bracket }: Retiring) =>
  [...bracket.stack.executions.all()]
    .filter(({ machine }) => machine.name === 'quiesce-RetireCheck')
    .map(execution => ({ input: execution.input, ended: outcome(execution) }));

const remembered = async ({ bracket }: Retiring) =>
  (await bracket.ledger()).filter(({ pk }) => pk.startsWith('interface#')).map(({ pk }) => pk.slice(10));

/** The last value of a metric of ours. */
function metric({ bracket }: Retiring, name: string): unknown {
  const lines = bracket.stack.lambda.logs.filter(({ line }) => line.includes(`"${name}"`));
  return JSON.parse(lines.at(-1)?.line ?? '{}')[name];
}

describe('with the watch of the interfaces', () => {
  test('what a deleted check leaves is retired as soon as CloudTrail tells of it, and only once', async () => {
    const check = await retiring({ parameters });
    const { bracket, checkId } = check;
    await bracket.clock.pass(STEP + MINUTE);
    expect(await remembered(check)).toEqual(check.interfaceIds);
    expect(metric(check, 'lingering_interfaces')).toBe(0);
    check.deleteCheck();
    await bracket.clock.pass(STEP + MINUTE);
    const began = executions(check);
    expect(began[0]).toMatchObject({ input: { checkId, keepCheck: true }, ended: 'RUNNING' });
    // The look a quarter of an hour later finds it at work.
    expect(began).toHaveLength(1);
    expect(metric(check, 'lingering_dollars_per_hour')).toBe(0.01);
    await bracket.clock.pass(30 * MINUTE);
    expect(executions(check)[0]?.ended).toBe('SUCCEEDED');
    expect([check.groupId, await remembered(check)]).toEqual(['no group', []]);
    expect(await bracket.violations()).toEqual([]);
  });

  test('a check that is only disassociated keeps the group that its paths name', async () => {
    const check = await retiring({ parameters });
    const { bracket, checkId, groupId } = check;
    await bracket.clock.pass(STEP);
    check.api.DisassociateApplicationStatusCheck({
      ApplicationStatusCheckId: checkId,
      TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: 'web' }],
    });
    await bracket.clock.pass(50 * MINUTE);
    expect(executions(check)[0]).toEqual({ input: { checkId, keepCheck: true }, ended: 'SUCCEEDED' });
    expect([check.groupId, check.interfaceIds, check.registry.active().length]).toEqual([groupId, [], 1]);
    expect(await remembered(check)).toEqual([]);
  });

  test('R-SWEEP: what nobody told of is found, also of an interface whose check was never seen', async () => {
    const check = await retiring({
      parameters,
      deliveries: (_, rule) => (/Schedule$/.test(rule) ? [500] : []),
    });
    const { bracket, groupId } = check;
    // Before the first look.
    check.deleteCheck();
    await bracket.clock.pass(STEP + MINUTE);
    expect(executions(check)).toEqual([{ input: { securityGroupIds: [groupId] }, ended: 'RUNNING' }]);
    await bracket.clock.pass(2 * STEP);
    expect([check.groupId, executions(check).length]).toEqual(['no group', 1]);
    expect(await bracket.violations()).toEqual([]);
  });

  test('a group whose interfaces went between two looks is deleted all the same', async () => {
    const check = await retiring({
      parameters,
      physics: { interfaceLingerMinutes: [5, 5] },
      deliveries: (_, rule) => (/Schedule$/.test(rule) ? [500] : []),
    });
    await check.bracket.clock.pass(STEP + MINUTE);
    check.deleteCheck();
    await check.bracket.clock.pass(STEP);
    expect([check.groupId, await remembered(check)]).toEqual(['no group', []]);
  });

  test('what came to its limit is gone on with when nothing holds the group any more', async () => {
    const check = await retiring({ parameters, physics: { interfaceLingerMinutes: [45, 45] } });
    const { bracket, checkId, groupId } = check;
    const other = check.useGroup();
    const failed = await check.retire({ checkId, limitSeconds: 1800 });
    expect(outcome(failed)).toBe('FAILED GroupHeld');
    await bracket.clock.pass(2 * STEP);
    // Nobody is told twice of what lingers, or holds the group.
    expect([check.groupId, executions(check).filter(({ ended }) => ended !== 'SUCCEEDED').length]).toEqual([
      groupId,
      1,
    ]);
    check.network.removeInterface(other);
    await bracket.clock.pass(STEP + MINUTE);
    expect([check.groupId, executions(check).at(-1)]).toEqual([
      'no group',
      { input: { securityGroupIds: [groupId] }, ended: 'SUCCEEDED' },
    ]);
  });

  describe('the tagged group of a fleet that is scaled to none', () => {
    /** A fleet whose own group carries the tags, and whose check is asked on a path that AWS manages. */
    async function managed(settings: BracketSettings) {
      const check = await retiring({ parameters, ...settings }, { ...guarded, checks: [{ port: 8080 }] });
      const { network, bracket } = check;
      const [web] = [...network.securityGroups.values()].filter(({ name }) => name === 'web');
      for (const [key, value] of Object.entries({ ...OPT_IN, 'quiesce-delete-when-free': 'true' }))
        web?.tags.set(key, value);
      await bracket.clock.pass(STEP + MINUTE);
      return { check, isThere: () => network.securityGroups.has(web?.id ?? '') };
    }

    async function scaleToNone({ bracket, network }: Retiring): Promise<void> {
      const scaling = autoScalingActs(bracket.standing.account.autoScaling);
      scaling.UpdateAutoScalingGroup({ AutoScalingGroupName: 'web', MinSize: 0, DesiredCapacity: 0 });
      await bracket.clock.pass(6 * STEP);
      expect([...network.interfaces.keys()]).toEqual([]);
    }

    test('R-OWN: stays until its check is gone', async () => {
      const { check, isThere } = await managed({
        deliveries: (_, rule) => (/Schedule$/.test(rule) ? [500] : []),
      });
      await scaleToNone(check);
      expect(isThere()).toBe(true);
      check.deleteCheck();
      await check.bracket.clock.pass(2 * STEP);
      expect([isThere(), await remembered(check)]).toEqual([false, []]);
    });

    test('R-OWN: stays although the retirement of its check was begun and refused', async () => {
      let looks = Number.NEGATIVE_INFINITY;
      let other = '';
      const comes: Gate = {
        before({ action }) {
          if (action === 'DescribeApplicationStatusChecks' && ++looks === 3)
            other = check.createCheckBeside();
        },
      };
      const { check, isThere } = await managed({ gates: () => [comes] });
      const named = check.network.addSecurityGroup({ name: OWN_GROUP, tags: OPT_IN });
      looks = 0;
      const refused = await check.retire({ checkId: check.checkId, securityGroupIds: [named.id] });
      expect(outcome(refused)).toBe('FAILED InterfaceShared');
      check.api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: other });
      await scaleToNone(check);
      expect([isThere(), check.registry.active().length]).toEqual([true, 1]);
    });
  });

  test('R-IDEMP: of a group that several retirements have left one is begun, and none beside a live one', async () => {
    const check = await retiring({ parameters, physics: { interfaceLingerMinutes: [5, 5] } });
    const { bracket, checkId, groupId } = check;
    const limitSeconds = 600;
    const failedSoFar = () => bracket.ended('RetireCheck').filter(ended => ended.startsWith('FAILED'));
    const other = check.useGroup();
    await check.retire({ checkId, limitSeconds });
    await check.retire({ securityGroupIds: [groupId], limitSeconds });
    await check.retire({ checkId: check.createCheckBeside(), limitSeconds });
    const held = Array.from({ length: 3 }, () => 'FAILED GroupHeld');
    expect(failedSoFar()).toEqual(held);
    const live = check.start({ securityGroupIds: [groupId] });
    await bracket.clock.pass(2 * STEP);
    // It looks every five minutes by now, and the watch comes first.
    await bracket.clock.pass(STEP - (bracket.clock.now() % STEP) - 1_000);
    check.network.removeInterface(other);
    await bracket.clock.pass(10_000);
    expect([outcome(live), failedSoFar()]).toEqual(['RUNNING', held]);
    bracket.stack.executions.stop(live.arn, 'Operator.Stopped', 'by a person');
    await bracket.clock.pass(3 * STEP);
    expect([check.groupId, failedSoFar()]).toEqual(['no group', held]);
  });

  test('R-OWN: a group that a retirement has left is left alone where another check has come to need it', async () => {
    const check = await retiring({ parameters, physics: { interfaceLingerMinutes: [5, 5] } });
    const { bracket, network, checkId, groupId } = check;
    const other = check.useGroup();
    expect(outcome(await check.retire({ checkId, limitSeconds: 600 }))).toBe('FAILED GroupHeld');
    check.associateGroup(check.createCheckBeside());
    await bracket.clock.pass(STEP + MINUTE);
    const scaling = autoScalingActs(bracket.standing.account.autoScaling);
    scaling.UpdateAutoScalingGroup({ AutoScalingGroupName: 'web', MinSize: 0, DesiredCapacity: 0 });
    network.removeInterface(other);
    await bracket.clock.pass(3 * STEP);
    expect([[...network.interfaces.keys()], check.groupId]).toEqual([[], groupId]);
    expect(bracket.ended('RetireCheck').filter(ended => ended !== 'SUCCEEDED')).toEqual(['FAILED GroupHeld']);
  });

  test('R-IDEMP: two retirements of one group that failed are gone on with by one', async () => {
    const check = await retiring({ parameters, physics: { interfaceLingerMinutes: [5, 5] } });
    const { bracket, checkId, groupId } = check;
    const other = check.useGroup();
    await check.retire({ checkId, limitSeconds: 600 });
    await check.retire({ securityGroupIds: [groupId], limitSeconds: 600 });
    check.network.removeInterface(other);
    await bracket.clock.pass(STEP + MINUTE);
    expect(check.groupId).toBe('no group');
    expect(bracket.ended('RetireCheck').filter(ended => ended.includes('RetirementInProgress'))).toEqual([]);
  });

  test('R-ENI: an interface that EC2 lists to nobody is known from CloudTrail', async () => {
    const hidden: Gate = {
      async around({ action }, input, perform) {
        const byOperator = JSON.stringify(input.Filters ?? []).includes('operator.principal');
        return action === 'DescribeNetworkInterfaces' && byOperator
          ? { NetworkInterfaces: [] }
          : perform(input);
      },
    };
    const check = await retiring({ parameters, gates: () => [hidden] });
    const subnet = check.network.addSubnet('eu-west-1b');
    const group = check.network.addSecurityGroup({ name: 'second', tags: { quiesce: 'enabled' } });
    check.api.ModifyApplicationStatusCheck({
      ApplicationStatusCheckId: check.checkId,
      HealthCheckPaths: [
        {
          Source: { SubnetId: subnet.id, SecurityGroupId: group.id },
          Destinations: check.registry
            .get(check.checkId)
            .settings.healthCheckPaths.flatMap(({ destinations }) =>
              destinations.map(({ subnetId, securityGroupId }) => ({
                SubnetId: subnetId,
                SecurityGroupId: securityGroupId,
              })),
            ),
        },
      ],
    });
    await check.bracket.clock.pass(5 * MINUTE);
    const made = check.interfaceIds.at(-1) ?? '';
    expect([check.interfaceIds.length, await remembered(check)]).toEqual([2, [made]]);
    const execution = await check.retire();
    expect(execution.output).toMatchObject({ interfaceIds: [made] });
  });
});

test('every permission of a retirement is needed, and none is missing', async () => {
  const other = { port: 8080 };
  const watched = await retiring(
    { parameters },
    { ...guarded, checks: [{ port: 8080, ownGroup: 'deleted-when-free' }, other] },
  );
  const { bracket } = watched;
  await bracket.clock.pass(STEP + MINUTE);
  const [instance = ''] = bracket.ids(0);
  watched.api.AssociateApplicationStatusCheck({
    ApplicationStatusCheckId: watched.checkId,
    InstanceIds: [instance],
  });
  const holding = watched.useGroup();
  expect(outcome(await watched.retire({ checkId: watched.checkId, limitSeconds: 1800 }))).toBe(
    'FAILED GroupHeld',
  );
  watched.network.removeInterface(holding);
  // Of an event that names no check nothing can be done: it is kept.
  bracket.stack.events.put({
    source: 'aws.ec2',
    'detail-type': 'AWS API Call via CloudTrail',
    detail: {
      eventSource: 'ec2.amazonaws.com',
      eventName: 'DeleteApplicationStatusCheck',
      eventID: '1',
      requestParameters: {},
    },
  });
  await bracket.clock.pass(2 * STEP);
  expect(watched.groupId).toBe('no group');
  const denied = bracket.stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'));
  expect(denied).toEqual([]);
  expect(unneededBy('retiring', bracket.stack)).toEqual([]);
});

test('a call that EC2 refuses otherwise ends the retirement by its name', async () => {
  const before = ({ action }: { action: string }) => {
    if (action === 'DeleteSecurityGroup') throw new ServiceError('OperationNotPermitted', 'not today');
  };
  const check = await retiring({ physics: { interfaceLingerMinutes: [1, 1] }, gates: () => [{ before }] });
  const execution = await check.retire();
  expect([outcome(execution), execution.cause]).toEqual([
    'FAILED AwsFailure',
    'ec2:DeleteSecurityGroup failed with OperationNotPermitted: not today',
  ]);
});
