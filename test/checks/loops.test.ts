import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../../local/stack/json.ts';
import { type Call, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { unneededByAll } from '../template/helpers/role-groups.ts';
import { type Adopting, adopting, unchecked } from './helpers/adopting.ts';
import { DEMOTED, failing, included, parameters, subjects, told } from './helpers/loops.ts';

const MINUTE = 60_000;

test.each([
  [
    'R-PARTIAL: a check that cannot be demoted is demoted later, and told of then',
    'ModifyApplicationStatusCheck',
    'included',
  ],
  ['people are told later of what they could not be told at once', 'StartExecution', 'excluded'],
])('%s', async (_, action, meanwhile) => {
  const { heal, ...gated } = failing(action);
  const group = await included({}, { parameters, ...gated });
  group.closeIngress();
  await group.bracket.clock.pass(7 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([[meanwhile], []]);
  heal();
  await group.bracket.clock.pass(3 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([['excluded'], [DEMOTED]]);
});

test('people are told later, too, that a demotion is over, where they could not be told at once', async () => {
  let fails = false;
  const before = ({ action, caller }: Call) => {
    if (fails && action === 'StartExecution' && caller.name === 'BreakLoopsFunction')
      throw new ServiceError('ExecutionLimitExceeded', 'too many');
  };
  const group = await included({}, { parameters, gates: () => [{ before }] });
  group.closeIngress();
  await group.bracket.clock.pass(7 * MINUTE);
  fails = true;
  group.openIngress();
  await group.bracket.clock.pass(7 * MINUTE);
  expect(subjects(group)).toEqual([DEMOTED]);
  fails = false;
  await group.bracket.clock.pass(3 * MINUTE);
  expect(subjects(group)).toEqual([DEMOTED, 'Quiesce: check is well again, and still excluded']);
});

test.each([
  ['DescribeSecurityGroups', (group: Adopting) => group.closeIngress()],
  ['DescribeScalingActivities', (group: Adopting) => group.answer(() => 404)],
])('R-PARTIAL: a loop is broken although %s fails', async (action, begin) => {
  const group = await adopting({ parameters, ...failing(action) }, unchecked);
  begin(group);
  group.createCheckOnGroup();
  group.include();
  await group.bracket.clock.pass(20 * MINUTE);
  expect([group.aggregations, group.replacements, subjects(group)]).toEqual([['excluded'], 0, [DEMOTED]]);
});

test('what a closed security group lacks is said to be unknown where it cannot be read', async () => {
  const group = await included({}, { parameters, ...failing('DescribeSecurityGroups') });
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect(told(group)[0]?.message).toContain('could not be read: AccessDenied');
});

describe('a loop is broken', () => {
  test('D20: before its first kill when a security group is closed, with the rule to add', async () => {
    const group = await included();
    expect([group.aggregations, group.replacements]).toEqual([['included'], 0]);
    group.closeIngress();
    await group.bracket.clock.pass(20 * MINUTE);
    expect([group.aggregations, group.replacements]).toEqual([['excluded'], 0]);
    expect(subjects(group)).toEqual([DEMOTED]);
    expect(told(group)[0]?.message).toMatch(
      /cannot connect to any of the 3 instances of web.* Add:\naws ec2 authorize-security-group-ingress .*'\n/s,
    );
    expect(group.bracket.announced.map(({ type }) => type)).toContain('Quiesce Loop Broken');
    // R-UNDO: on record first, so that a function that dies in between leaves no check excluded of which nobody is told.
    const [first] = group.bracket.sent.filter(
      ({ action, input }) =>
        action === 'ModifyApplicationStatusCheck' || String(input.UpdateExpression).includes('inVain'),
    );
    expect(first?.action).toBe('UpdateItem');
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('D46: by a replacement that has never passed, when a grace period is shorter than the start-up', async () => {
    const group = await included({ startUpSeconds: 900 });
    group.bracket.standing.account.ec2.terminate(group.bracket.ids(0)[0] ?? '');
    await group.bracket.clock.pass(60 * MINUTE);
    // The one that a person ended, and the first that the check has ended.
    expect(group.replacements).toBeLessThanOrEqual(3);
    expect(group.aggregations).toEqual(['excluded']);
    expect(told(group)[0]?.message).toContain('has never passed it');
  });

  test('when nothing has ever passed the check', async () => {
    const group = await adopting({ parameters }, unchecked);
    group.answer(() => 404);
    group.createCheckOnGroup();
    group.include();
    await group.bracket.clock.pass(20 * MINUTE);
    expect([group.aggregations, group.replacements]).toEqual([['excluded'], 0]);
    expect(told(group)[0]?.message).toContain('None of the 3 instances of web has passed it');
  });
});

test('D20: a check that nothing passes and somebody includes all the same is demoted before its first kill', async () => {
  const group = await adopting({ parameters }, unchecked);
  group.answer(() => 404);
  group.createCheckOnGroup();
  await group.bracket.clock.pass(20 * MINUTE);
  group.include();
  await group.bracket.clock.pass(20 * MINUTE);
  expect([group.aggregations, group.replacements, subjects(group)]).toEqual([['excluded'], 0, [DEMOTED]]);
});

describe('a true failure is none', () => {
  test.each([
    ['of one instance', [1]],
    ['of two in a larger group', [1, 2]],
    ['of all at once, whose successors pass', [0, 1, 2, 3]],
  ])('%s', async (_, failing) => {
    const group = await included({ instances: 4 });
    group.answer(() => 503, ...failing);
    await group.bracket.clock.pass(40 * MINUTE);
    expect([group.aggregations, subjects(group)]).toEqual([['included'], []]);
    expect(group.replacements).toBe(failing.length);
  });
});

test('R-NEWER: what was replaced before a check was changed is none: it says nothing of the check as it is', async () => {
  const group = await included({ instances: 4 });
  const { clock, standing } = group.bracket;
  const { ec2, autoScaling } = standing.account;
  group.answer(() => 503, 1, 2, 3);
  await clock.pass(15 * MINUTE);
  expect(group.replacements).toBe(3);
  group.modify({ Path: '/' });
  await clock.pass(3 * MINUTE);
  const { members } = autoScaling.group('web');
  const before = new Set(members.keys());
  ec2.terminate(group.bracket.ids(0)[0] ?? '');
  const launched = () => [...members.keys()].find(id => !before.has(id));
  while (!launched()) await clock.pass(1_000);
  const application = ec2.instance(launched() ?? '')?.application;
  application?.suffer(() => ({ kind: 'responds', status: 503, afterMs: 20 }));
  await clock.pass(4 * MINUTE);
  application?.suffer(undefined);
  await clock.pass(6 * MINUTE);
  expect([group.aggregations, subjects(group), group.replacements]).toEqual([['included'], [], 4]);
});

test('R-STATE: what fails while it is suppressed is none: nothing is replaced for it', async () => {
  const group = await included();
  group.bracket.suppressByHand(group.bracket.ids(), 7200);
  await group.bracket.clock.pass(5 * MINUTE);
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect([group.aggregations, subjects(group)]).toEqual([['included'], []]);
});

test('observe only tells of a loop, once, and leaves it', async () => {
  const group = await included({}, { parameters: { ...parameters, LoopBreaker: 'observe' } });
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect(group.aggregations).toEqual(['included']);
  expect(subjects(group)).toEqual(['Quiesce: check has instances replaced, and would be demoted']);
});

describe('observe', () => {
  const observing = { parameters: { ...parameters, LoopBreaker: 'observe' } };
  afterEach(() => vi.unstubAllEnvs());

  test('says of a loop that is over that the check is as it was', async () => {
    const group = await included({}, observing);
    group.closeIngress();
    await group.bracket.clock.pass(4 * MINUTE);
    group.openIngress();
    await group.bracket.clock.pass(10 * MINUTE);
    expect(group.aggregations).toEqual(['included']);
    expect(subjects(group)).toEqual([
      'Quiesce: check has instances replaced, and would be demoted',
      'Quiesce: check is well again, and would not be demoted any more',
    ]);
    expect(told(group)[1]?.message).not.toContain('adopt');
  });

  test('becomes demote, as its message advises: the loop that was observed is broken', async () => {
    const group = await included({}, observing);
    group.closeIngress();
    await group.bracket.clock.pass(5 * MINUTE);
    vi.stubEnv('LOOP_BREAKER', 'demote');
    await group.bracket.clock.pass(10 * MINUTE);
    expect(group.aggregations).toEqual(['excluded']);
    expect(subjects(group)).toEqual(['Quiesce: check has instances replaced, and would be demoted', DEMOTED]);
  });

  test('excludes nothing that somebody includes again, whatever was demoted before', async () => {
    const group = await included();
    group.closeIngress();
    await group.bracket.clock.pass(10 * MINUTE);
    vi.stubEnv('LOOP_BREAKER', 'observe');
    group.include();
    await group.bracket.clock.pass(10 * MINUTE);
    expect(group.aggregations).toEqual(['included']);
    expect(subjects(group)).toEqual([DEMOTED]);
  });
});

test('D20: of the alarms of a group, which ring at once, one has the account read', async () => {
  let reads = 0;
  const before = ({ action, caller }: Call) => {
    if (action === 'DescribeApplicationStatusChecks' && caller.name === 'BreakLoopsFunction') reads++;
  };
  const { bracket } = await included({}, { parameters, gates: () => [{ before }] });
  await bracket.clock.pass(1_000);
  const until = reads;
  const ring = (metrics: Record<string, Json>, value = 'ALARM') =>
    bracket.stack.events.put({
      source: 'aws.cloudwatch',
      'detail-type': 'CloudWatch Alarm State Change',
      detail: { alarmName: 'any', state: { value }, configuration: { metrics: [metrics] } },
    });
  const ofInstance = { metricStat: { metric: { name: 'StatusCheckFailed_Application_asc-1' } } };
  ring({ metricStat: { metric: { name: 'CPUUtilization' } } });
  ring(ofInstance, 'OK');
  await bracket.clock.pass(5_000);
  expect(reads).toBe(until);
  for (let instance = 0; instance < 3; instance++) ring(ofInstance);
  ring({ expression: 'SELECT MAX("StatusCheckFailed_Application") FROM SCHEMA("AWS/EC2", InstanceId)' });
  await bracket.clock.pass(5_000);
  const once = reads - until;
  expect(once).toBeGreaterThan(0);
  await bracket.clock.pass(20_000);
  ring(ofInstance);
  await bracket.clock.pass(5_000);
  expect(reads).toBe(until + 2 * once);
});

test('D20: an alarm says that the loop breaker has acted', async () => {
  const group = await included();
  const rings = () =>
    group.bracket.standing.account.alarms.all().find(({ name }) => name === 'quiesce-LoopBrokenAlarm')?.state
      .value;
  expect(rings()).not.toBe('ALARM');
  group.closeIngress();
  await group.bracket.clock.pass(8 * MINUTE);
  expect(rings()).toBe('ALARM');
});

test('a live adoption is left to demote its own check', async () => {
  const group = await adopting({ parameters });
  const adoption = group.start({ impairedPercent: 100 });
  await group.bracket.reaches(adoption, 'ObserveHarm');
  group.closeIngress();
  await group.bracket.end(adoption);
  // Not CheckChanged: nobody else has excluded it while the adoption watched it.
  expect(outcome(adoption)).toBe('FAILED CheckDemoted');
  expect(group.aggregations).toEqual([]);
});

test('D20: another check of a group that is adopting one is not left in its loop', async () => {
  const group = await included();
  const adoption = group.start({ observeSeconds: 3600 });
  await group.bracket.reaches(adoption, 'ObserveSample');
  group.closeIngress();
  await group.bracket.clock.pass(20 * MINUTE);
  expect([group.aggregations, group.replacements]).toEqual([['excluded', 'excluded'], 0]);
});

test.each([
  ['an EC2 Application Status check failure', true],
  ['a user request', false],
])('D20: an instance that was ended for %s has the account read at once: %s', async (why, more) => {
  let reads = 0;
  const before = ({ action, caller }: Call) => {
    if (action === 'DescribeApplicationStatusChecks' && caller.name === 'BreakLoopsFunction') reads++;
  };
  const { bracket } = await included({}, { parameters, gates: () => [{ before }] });
  await bracket.clock.pass(1_000);
  const until = reads;
  bracket.stack.events.put({
    source: 'aws.autoscaling',
    'detail-type': 'EC2 Instance Terminate Successful',
    detail: {
      AutoScalingGroupName: 'another',
      Cause: `At 09:00 an instance was taken out in response to ${why}.`,
    },
  });
  await bracket.clock.pass(5_000);
  expect(reads > until).toBe(more);
});

test('what the loop breaker may do it needs, and no more', async () => {
  const group = await included();
  group.closeIngress();
  await group.bracket.clock.pass(15 * MINUTE);
  const slow = await included({ startUpSeconds: 900 });
  slow.bracket.standing.account.ec2.terminate(slow.bracket.ids(0)[0] ?? '');
  await slow.bracket.clock.pass(40 * MINUTE);
  const broken = await included({}, { parameters, ...failing('DescribeApplicationStatusChecks') });
  const stacks = [group, slow, broken].map(({ bracket }) => bracket.stack);
  const denied = stacks
    .slice(0, 2)
    .flatMap(({ lambda }) => lambda.logs.filter(({ line }) => line.includes('AccessDenied')));
  expect(denied).toEqual([]);
  const unneeded = unneededByAll('adopting', stacks).filter(one => one.startsWith('BreakLoops'));
  expect(unneeded).toEqual([]);
});

test('a check on nothing, on single instances, or on a group that is gone has no loop', async () => {
  const group = await included();
  group.createCheck();
  group.associateByHand(group.createCheck(), ...group.bracket.ids(0));
  group.bracket.standing.account.autoScaling.deleteGroup('web');
  group.closeIngress();
  await group.bracket.clock.pass(10 * MINUTE);
  expect(group.aggregations).toEqual(['included', 'excluded', 'excluded']);
  const failed = group.bracket.stack.lambda.logs.filter(({ line }) => line.includes('step.failed'));
  expect(failed).toEqual([]);
});

test('nothing is looked for unless a stack says so', async () => {
  const group = await included({}, {});
  group.closeIngress();
  await group.bracket.clock.pass(20 * MINUTE);
  expect(group.aggregations).toEqual(['included']);
  expect(group.replacements).toBeGreaterThan(2);
});
