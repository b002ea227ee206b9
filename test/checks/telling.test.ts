import { expect, test } from 'vitest';
import { type Call, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { type Adopting, adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;
const parameters = { NotificationTopic: 'create' };

const notifications = ({ bracket }: Adopting) =>
  bracket.stack.topics.published.filter(({ subject }) => subject.startsWith('Quiesce: '));
const subjects = (group: Adopting) => notifications(group).map(({ subject }) => subject);

test('R-ALARM-ON-US: people are told of a check that was not proven, with the diagnosis', async () => {
  const group = await adopting({ parameters });
  group.answer(() => 503);
  expect(outcome(await group.adopt())).toBe('FAILED CheckNotProven');
  await group.bracket.clock.pass(MINUTE);
  expect(subjects(group)).toEqual(['Quiesce: web has not adopted its check']);
  expect(notifications(group)[0]?.message).toMatch(/status code/);
  expect(group.bracket.announced.map(({ type }) => type)).toEqual(['Quiesce Adoption Failed']);
});

test('R-ALARM-ON-US: and of one that was demoted', async () => {
  const group = await adopting({ parameters });
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveHarm');
  group.answer(() => 503, 1);
  await group.bracket.end(adoption);
  await group.bracket.clock.pass(MINUTE);
  expect(subjects(group)).toEqual(['Quiesce: web has demoted its check']);
  expect(notifications(group)[0]?.message).toContain('Auto Scaling does not act on it any more');
});

test('nobody is told of one that was refused, also while another adoption of the group is live', async () => {
  const group = await adopting({ parameters });
  const first = group.start();
  await group.bracket.reaches(first, 'ObserveSample');
  expect(outcome(await group.adopt())).toBe('FAILED AdoptionInProgress');
  await group.bracket.end(first);
  await group.bracket.clock.pass(MINUTE);
  expect(outcome(first)).toBe('SUCCEEDED');
  expect(outcome(await group.adopt({ autoScalingGroupName: 'unknown' }))).toBe(
    'FAILED AutoScalingGroupUnknown',
  );
  expect(subjects(group)).toEqual([]);
});

test.each([
  ['of a created check', false, ['aws ec2 delete-application-status-check']],
  [
    'of one that was there',
    true,
    [
      'aws ec2 modify-application-status-check',
      // Of what there is: nothing but the sample.
      /disassociate-application-status-check --application-status-check-id asc-\w+ --instance-ids i-\w+ i-\w+/,
    ],
  ],
])(
  'R-FAIL: an undo %s that cannot finish is told of once, with its calls, and then its end',
  async (_, existing, calls) => {
    let denied = true;
    const group = await adopting({
      parameters,
      gates: () => [
        {
          before: ({ action, caller }) => {
            const undoes = /^(Delete|Disassociate)ApplicationStatusCheck$/.test(action);
            if (denied && undoes && caller.name === 'EndAdoptionFunction')
              throw new ServiceError('UnauthorizedOperation', 'You are not authorized.');
          },
        },
      ],
    });
    const request = existing ? { check: { id: group.createCheck() } } : {};
    group.answer(() => 503);
    expect(outcome(await group.adopt(request))).toBe('FAILED CheckNotProven');
    await group.bracket.clock.pass(12 * MINUTE);
    expect(subjects(group)).toEqual(['Quiesce: web has a check that is NOT undone']);
    for (const call of calls) expect(notifications(group)[0]?.message).toMatch(call);
    denied = false;
    await group.bracket.clock.pass(12 * MINUTE);
    expect(subjects(group).at(-1)).toBe('Quiesce: web has not adopted its check');
    expect(await group.bracket.violations()).toEqual([]);
  },
);

test('R-FAIL: one of a check that was on the group stays there: its call is to exclude it', async () => {
  let denied = true;
  const before = ({ action, caller }: Call) => {
    if (denied && action === 'ModifyApplicationStatusCheck' && caller.name === 'EndAdoptionFunction')
      throw new ServiceError('UnauthorizedOperation', 'You are not authorized.');
  };
  const group = await adopting({ parameters, gates: () => [{ before }] });
  const adoption = group.start({ check: { id: group.createCheckOnGroup() } });
  await group.bracket.reaches(adoption, 'ObserveHarm');
  group.answer(() => 503, 1);
  await group.bracket.end(adoption);
  await group.bracket.clock.pass(MINUTE);
  const [told] = notifications(group);
  expect(told?.message).toContain('aws ec2 modify-application-status-check');
  expect(told?.message).not.toContain('disassociate');
  denied = false;
  await group.bracket.clock.pass(12 * MINUTE);
  expect(subjects(group).at(-1)).toBe('Quiesce: web has demoted its check');
});

test('R-FAIL: an adoption that cannot be fenced says so, names no call, and ends with its own error', async () => {
  let denied = false;
  const group = await adopting({
    parameters,
    gates: () => [
      {
        before: ({ action, caller }) => {
          if (!denied) return;
          if (action === 'CreateApplicationStatusCheck')
            throw new ServiceError('UnauthorizedOperation', 'no');
          if (action === 'UpdateItem' && caller.name === 'EndAdoptionFunction')
            throw new ServiceError('AccessDeniedException', 'no');
        },
      },
    ],
  });
  denied = true;
  const adoption = await group.adopt();
  expect(outcome(adoption)).toBe('FAILED AccessDenied');
  expect(adoption.cause).toContain('could not be fenced');
  await group.bracket.clock.pass(MINUTE);
  expect(subjects(group)).toEqual(['Quiesce: web has a check that is NOT undone']);
  expect(notifications(group)[0]?.message).toContain('The adoption of a check by');
  denied = false;
  await group.bracket.clock.pass(20 * MINUTE);
  expect(subjects(group).at(-1)).toBe('Quiesce: web has not adopted its check');
});
