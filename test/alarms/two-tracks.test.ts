// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Stack } from '../../local/stack/deploy.ts';
import { unneededByAll } from '../template/helpers/role-groups.ts';
import { pair, type Watched, watched } from './helpers/watched.ts';

/** Of the fleets below: together they prove the permissions. */
const stacks: Stack[] = [];

describe('a small group', () => {
  let fleet: Watched;
  beforeAll(async () => {
    fleet = await watched();
    stacks.push(fleet.bracket.stack);
  });

  /** An alarm of this name rings. */
  const tell = (alarmName: string) => {
    const { stack, clock } = fleet.bracket;
    const arn = stack.template.functions.get('TellOfAlarmFunction')?.arn ?? '';
    const timestamp = new Date(clock.now()).toISOString();
    const alarmData = { alarmName, state: { value: 'ALARM', reason: 'Tried', timestamp } };
    return clock.runFor(stack.lambda.invoke(arn, { alarmData }));
  };

  test('D21: there are alarms on both tracks, and all is well', () => {
    expect(Object.keys(fleet.states)).toHaveLength(2 * 2 + 4);
    expect(new Set(Object.values(fleet.states))).toEqual(new Set(['OK']));
    expect(fleet.told).toEqual([]);
  });

  test('a reconciliation changes nothing where nothing has changed', async () => {
    const before = fleet.changes.length;
    expect(before).toBe(8);
    await fleet.minutes(10);
    expect(fleet.changes).toHaveLength(before);
    expect(new Set(fleet.bracket.ended('ReconcileAlarms'))).toEqual(new Set(['SUCCEEDED']));
  });

  test('R-MISSING: in a deployment both tracks differ, and nobody is told', async () => {
    const { bracket } = fleet;
    await bracket.before({ fleet: { instanceIds: bracket.ids(0) }, policy: { minHealthyPercent: 0 } });
    fleet.fails(0);
    await fleet.minutes(10);
    const [id] = bracket.ids(0);
    expect(fleet.states).toMatchObject({
      [`instance/${id}/impaired`]: 'INSUFFICIENT_DATA',
      [`instance/${id}/${fleet.checkId}/failed`]: 'ALARM',
      'group/web/failing-and-acted-upon': 'OK',
      'group/web/failing-under-suppression': 'ALARM',
      'group/web/check-silent': 'OK',
    });
    fleet.fails(0, false);
    await bracket.after();
    await fleet.minutes(5);
    expect(fleet.told).toEqual([]);
    expect(new Set(Object.values(fleet.states))).toEqual(new Set(['OK']));
  });

  test('who is told hears of the track, of what is wrong, and whether anybody acts; and once that it is over', async () => {
    const [id = ''] = fleet.bracket.ids(1);
    fleet.fails(1);
    await fleet.minutes(8);
    expect(fleet.told).toEqual(['Quiesce: web fails its checks, and Auto Scaling replaces']);
    expect(fleet.lastMessage).toContain('StatusCheckFailed_Application: Auto Scaling acts');
    expect(fleet.lastMessage).toContain('It is one instance of 2: the others are well');
    expect(fleet.lastMessage).toContain(
      `${id}: ${fleet.checkId} failed ResponseCodeMismatch; EC2 calls it impaired`,
    );
    // Where a silent aggregate cannot be told from one that is well, this rings at the beginning of a failure too.
    expect(await tell('quiesce/group/web/failing-under-suppression')).toEqual({ told: false });
    fleet.fails(1, false);
    await fleet.minutes(8);
    expect(await tell('quiesce/group/web/failing-under-suppression')).toEqual({ told: true });
    expect(fleet.told.slice(1, 2)).toEqual(['Quiesce: web is well again']);
  });

  test('R-MISSING: a check that says nothing is told of; alarms that tell nobody are not', async () => {
    expect(await tell('quiesce/group/web/check-silent')).toEqual({ told: true });
    await fleet.minutes(1);
    expect(fleet.told.at(-1)).toBe('Quiesce: web has a check that says nothing');
    expect(await tell('quiesce/instance/i-1/impaired')).toEqual({ told: false });
    expect(await tell('mine')).toEqual({ told: false });
  });

  test('R-OWN: alarms of others are left alone, also under our names, and what a check loses it has no alarm on', async () => {
    fleet.put('mine');
    fleet.put('quiesce/mine');
    fleet.checks.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: fleet.checkId });
    await fleet.minutes(7);
    expect(Object.keys(fleet.states)).toEqual(['mine']);
    expect(fleet.account.alarms.find('mine')).toBeDefined();
  });

  test('no promise is broken', async () => {
    expect(await fleet.bracket.violations()).toEqual([]);
  });
});

describe('a group that is too large for alarms by instance', () => {
  let fleet: Watched;
  beforeAll(async () => {
    fleet = await watched(pair, { parameters: { AlarmInstancesPerGroup: '1' } });
    stacks.push(fleet.bracket.stack);
  });

  test('D21: there is one alarm a check and one on the aggregate', () => {
    expect(fleet.states).toEqual({ 'account/impaired': 'OK', [`check/${fleet.checkId}/failing`]: 'OK' });
  });

  test('D21: the instances that fail are named, once for all of them, on each track', async () => {
    fleet.fails(0);
    fleet.fails(1);
    await fleet.minutes(8);
    expect(fleet.told.sort()).toEqual([
      'Quiesce: a large group fails its checks, and Auto Scaling replaces',
      `Quiesce: check ${fleet.checkId} fails`,
    ]);
    const reads = fleet.bracket.sent.filter(
      ({ caller, action }) => caller.name === 'TellOfAlarmFunction' && action === 'DescribeApplicationStatus',
    );
    // Four calls, of two alarms.
    expect(reads).toHaveLength(2);
    for (const id of fleet.bracket.ids())
      expect(fleet.lastMessage).toContain(`${id}: ${fleet.checkId} failed`);
  });

  test('R-MISSING: a suppression is no recovery; that every instance passes is one', async () => {
    const before = fleet.told.length;
    fleet.bracket.suppressByHand(fleet.bracket.ids(0, 1));
    await fleet.minutes(8);
    expect(fleet.states).toMatchObject({ [`check/${fleet.checkId}/failing`]: 'ALARM' });
    expect(fleet.told).toHaveLength(before);
    fleet.fails(0, false);
    await fleet.minutes(8);
    expect(fleet.told).toHaveLength(before);
    fleet.fails(1, false);
    await fleet.minutes(8);
    expect(fleet.told.slice(before)).toEqual([`Quiesce: check ${fleet.checkId} is passed again`]);
  });

  test('D21: of what belongs to others, and of what a run works on, nothing is told', async () => {
    const before = fleet.told.length;
    fleet.account.cloudWatch.put({
      namespace: 'AWS/EC2',
      name: 'StatusCheckFailed_Application',
      dimensions: { InstanceId: 'i-0000000000000000f' },
      value: 1,
    });
    await fleet.minutes(3);
    expect(fleet.told).toHaveLength(before);
    const { bracket } = fleet;
    await bracket.before({ fleet: { instanceIds: bracket.ids(0) }, policy: { minHealthyPercent: 0 } });
    fleet.fails(0);
    await fleet.minutes(8);
    expect(fleet.states).toMatchObject({ [`check/${fleet.checkId}/failing`]: 'ALARM' });
    expect(fleet.told).toHaveLength(before);
  });
});

test('R-MISSING: a check that comes to say nothing of instances keeps its alarms, and is told of once', async () => {
  const fleet = await watched();
  const before = Object.keys(fleet.states);
  const nowhere = fleet.account.ec2.network.addSubnet('eu-west-1b');
  const group = fleet.account.ec2.network.addSecurityGroup({ name: 'nowhere' });
  const place = { SubnetId: nowhere.id, SecurityGroupId: group.id };
  fleet.checks.ModifyApplicationStatusCheck({
    ApplicationStatusCheckId: fleet.checkId,
    HealthCheckPaths: [{ Source: place, Destinations: [place] }],
  });
  // Whether AWS publishes anything while a check has no data is not documented: here it does not.
  const { cloudWatch } = fleet.account;
  const put = cloudWatch.put.bind(cloudWatch);
  vi.spyOn(cloudWatch, 'put').mockImplementation(point => {
    if (!point.name.startsWith('StatusCheckFailed_')) put(point);
  });
  await fleet.minutes(20);
  expect(fleet.states['group/web/check-silent']).toBe('ALARM');
  expect(fleet.told).toEqual(['Quiesce: web has a check that says nothing']);
  expect(Object.keys(fleet.states)).toEqual(before);
});

test('what keeps alarms may do all that it does, and nothing else', () => {
  expect(stacks).toHaveLength(2);
  const lines = stacks.flatMap(({ lambda }) => lambda.logs.map(({ line }) => line));
  expect(lines.filter(line => line.includes('AccessDenied'))).toEqual([]);
  expect(unneededByAll('alarms', stacks)).toEqual([
    'BeginAlarmsFunctionRole GeneratedBySam sqs:SendMessage',
    'TellOfAlarmFunctionRole GeneratedBySam sqs:SendMessage',
    'WatchMonitoringFunctionRole GeneratedBySam sqs:SendMessage',
  ]);
});
