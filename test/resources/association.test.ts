import type { DescribeApplicationStatusCheckAssociationsResult } from '@aws-sdk/client-ec2';
import { beforeEach, expect, test } from 'vitest';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { type Stacks, stacks, customResources as text } from './helpers/stacks.ts';

let team: Stacks;
let checkId = '';
let ids: string[] = [];
/** What no description shows: associations with tags, or with instances. */
let hidden: 'tag' | 'instance-id' | undefined;
/** How many descriptions say what the one before them has said. */
let stale = 0;
let before: DescribeApplicationStatusCheckAssociationsResult = {};
/** How many associations of a check EC2 does not know it for. */
let unknown = 0;
let refusesToLetGo: (() => object) | undefined;
/** An instance for which EC2 refuses a whole call. */
let gone: string | undefined;
const isListed = (list: unknown, one: unknown) => Array.isArray(list) && list.includes(one);
/** How many descriptions do not show yet what was just made. */
let unseen = 0;
const hides: Gate['around'] = async ({ action, caller }, input, perform) => {
  const shows =
    caller.name === 'ServeResourceFunction' &&
    { DescribeAutoScalingGroups: 'AutoScalingGroups', DescribeInstances: 'Reservations' }[action];
  if (shows && unseen-- > 0) return { [shows]: [] };
  if (action === 'AssociateApplicationStatusCheck' && unknown-- > 0)
    throw new ServiceError('InvalidApplicationStatusCheckId.NotFound', 'does not exist');
  if (action === 'DisassociateApplicationStatusCheck' && refusesToLetGo) return refusesToLetGo();
  if (action === 'DisassociateApplicationStatusCheck' && isListed(input.InstanceIds, gone))
    throw new ServiceError('InvalidInstanceID.NotFound', `The instance ID '${gone}' does not exist`);
  const output: DescribeApplicationStatusCheckAssociationsResult = await perform(input);
  if (action !== 'DescribeApplicationStatusCheckAssociations') return output;
  if (stale-- > 0) return before;
  before = output;
  if (!hidden) return output;
  return { Associations: output.Associations?.filter(({ AssociationType }) => AssociationType !== hidden) };
};

beforeEach(async () => {
  hidden = gone = undefined;
  [stale, unknown, unseen, refusesToLetGo] = [0, 0, 0, undefined];
  team = await stacks({ gates: () => [{ around: hides }] });
  checkId = team.createCheck();
  ids = team.bracket.ids();
});

const api = () => ec2Api(team.bracket.standing.account.checks);

const onGroup = () => ({ CheckId: checkId, Tag: { Key: 'aws:autoscaling:groupName', Value: 'web' } });
const onInstances = (...numbers: number[]) => ({
  CheckId: checkId,
  InstanceIds: numbers.map(number => ids[number] ?? ''),
});
const GROUP = 'aws:autoscaling:groupName=web';
/** Refused, but not at once: what is created before it is there. */
const refused = () => ({ ...onGroup(), Tag: { Key: 'aws:autoscaling:groupName', Value: 'unknown' } });

async function endsWithNothing(): Promise<void> {
  expect([team.associations, await team.held()]).toEqual([[], []]);
  expect([team.unanswered, team.cloudFormation.custom.faults]).toEqual([[], []]);
}

test('D22: what cannot be done is answered with its reason, and leaves nothing', async () => {
  const wrong = {
    Bad: [
      { CheckId: 'asc-1', Tag: { Key: 'a', Value: 'b' } },
      'InvalidRequest: CheckId: must be the id of a check',
    ],
    Both: [
      { ...onGroup(), ...onInstances(0) },
      'InvalidRequest: the request: must have exactly one of Tag and InstanceIds',
    ],
    None: [{ CheckId: checkId }, 'must have exactly one of Tag and InstanceIds'],
    Misspelt: [{ ...onGroup(), Tags: [] }, 'InvalidRequest: Tags: is no member here'],
    Hasty: [{ ...onGroup(), ServiceTimeout: 100 }, 'InvalidRequest: ServiceTimeout: must be at least 600'],
    Other: [{ ...onGroup(), type: 'Custom::Other' }, 'Custom::Other is no custom resource of Quiesce'],
    NoGroup: [refused(), 'AutoScalingGroupUnknown: There is no Auto Scaling group unknown'],
    NoCheck: [
      { ...onGroup(), CheckId: 'asc-0123456789abcdef0' },
      'CheckUnknown: There is no application status check',
    ],
    NoInstance: [{ CheckId: checkId, InstanceIds: ['i-0123456789abcdef0'] }, 'InstanceUnknown'],
    Closed: [{ ...onGroup(), CheckId: team.createCheck({}) }, 'NotOptedIn: application status check'],
  } as const;
  const properties = Object.entries(wrong).map(([name, [given]]) => [name, given]);
  const stack = team.stack();
  const created = team.run(stack.create(text({ First: onInstances(0), ...Object.fromEntries(properties) })));
  expect(await created).toBe('ROLLBACK_COMPLETE');
  for (const [name, [, reason]] of Object.entries(wrong))
    expect(stack.events.find(({ what }) => what === `CREATE_FAILED ${name}`)?.reason).toContain(reason);
  expect(team.answers.toSorted()).toEqual(
    [
      ...['Create First SUCCESS', 'Delete First SUCCESS'],
      ...Object.keys(wrong).flatMap(name => [`Create ${name} FAILED`, `Delete ${name} SUCCESS`]),
    ].toSorted(),
  );
  await endsWithNothing();
});

test('D19: a fleet that has not opted in is not checked, by whichever tag or id it is named', async () => {
  const { account } = team.bracket.standing;
  account.ec2.tag(ids[0] ?? '', { quiesce: 'no', team: 'a' });
  for (const properties of [onInstances(0, 1), { CheckId: checkId, Tag: { Key: 'team', Value: 'a' } }]) {
    const stack = team.stack();
    await team.run(stack.create(text({ Association: properties })));
    expect(stack.events[0]?.reason).toBe(
      `NotOptedIn: instance ${ids[0]} does not carry the tag quiesce=enabled.`,
    );
  }
  await endsWithNothing();
});

test('a list of instances is changed in place, and what stays in it is never let go', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onInstances(0) })));
  const { physicalId } = stack.resource('Association');
  expect(await team.run(stack.update(text({ Association: onInstances(0, 1) })))).toBe('UPDATE_COMPLETE');
  expect(await team.run(stack.update(text({ Association: onInstances(1) })))).toBe('UPDATE_COMPLETE');
  expect(stack.resource('Association').physicalId).toBe(physicalId);
  expect(team.associations).toEqual([ids[1]]);
  const dropped = team.bracket
    .actsOf('DisassociateApplicationStatusCheck')
    .map(({ input }) => input.InstanceIds);
  expect(dropped).toEqual([[ids[0]]]);
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  await endsWithNothing();
});

test('R-EVENTUAL, R-STATE: what EC2 does not know yet is waited for, and so is what still shows', async () => {
  unknown = 2;
  const stack = team.stack();
  expect(await team.run(stack.create(text({ Association: onGroup() })))).toBe('CREATE_COMPLETE');
  stale = 3;
  const deletedAt = team.bracket.clock.now();
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(team.bracket.clock.now() - deletedAt).toBeGreaterThan(30_000);
  unknown = 100;
  expect(await team.run(stack.create(text({ Association: onGroup() })))).toBe('ROLLBACK_COMPLETE');
  expect(stack.events.find(({ what }) => what === 'CREATE_FAILED Association')?.reason).toContain(
    'CheckUnknown',
  );
  await endsWithNothing();
});

test('R-EVENTUAL: a group or an instance that does not show yet is waited for, and not passed over', async () => {
  unseen = 2;
  const [ofGroup, ofInstances] = [team.stack('group'), team.stack('instances')];
  expect(await team.run(ofGroup.create(text({ Association: onGroup() })))).toBe('CREATE_COMPLETE');
  unseen = 2;
  expect(await team.run(ofInstances.create(text({ Association: onInstances(0) })))).toBe('CREATE_COMPLETE');
  unseen = 2;
  expect(await team.run(ofInstances.update(text({ Association: onInstances(0, 1) })))).toBe(
    'UPDATE_COMPLETE',
  );
  expect(team.associations.toSorted()).toEqual([GROUP, ...ids].toSorted());
});

test('R-UNDO: another tag is a replacement: the old one is let go when all else is updated, and a rollback finds it', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onGroup() })));
  const replaced = { Association: onInstances(0, 1), Failing: refused() };
  expect(await team.run(stack.update(text(replaced)))).toBe('UPDATE_ROLLBACK_COMPLETE');
  expect(team.associations).toEqual([GROUP]);
  expect(await team.run(stack.update(text({ Association: onInstances(0, 1) })))).toBe('UPDATE_COMPLETE');
  expect(team.associations).toEqual(ids);
  expect(
    team.bracket.actsOf('DisassociateApplicationStatusCheck').map(({ input }) => input.InstanceIds),
  ).toEqual([ids, undefined]);
  await team.run(stack.delete());
  await endsWithNothing();
});

test('R-UNDO: an update that fails in the middle has let go what it brought, before it is answered', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onGroup() })));
  hidden = 'instance-id';
  const update = { Association: { ...onInstances(0, 1), ServiceTimeout: 600 } };
  expect(await team.run(stack.update(text(update)))).toBe('UPDATE_ROLLBACK_COMPLETE');
  const failed = stack.events.find(({ what }) => what === 'UPDATE_FAILED Association');
  expect(failed?.reason).toContain(
    `BudgetSpent: CloudFormation has to be answered, and this was still missing: ${checkId} is associated with ${ids[0]}, which does not show yet.`,
  );
  expect(team.associations).toEqual([GROUP]);
  hidden = undefined;
  await team.run(stack.delete());
  await endsWithNothing();
});

const denied = (): never => {
  throw new ServiceError('UnauthorizedOperation', 'no');
};
const inside = (AssociationValue = '') => ({
  UnsuccessfulResults: [{ AssociationType: 'INSTANCE_ID', AssociationValue, Reason: 'Not now' }],
});

test('R-PARTIAL: an association that EC2 does not let go is named, with its reason', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: { ...onInstances(0), ServiceTimeout: 600 } })));
  refusesToLetGo = () => inside(ids[0]);
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toContain(
    `EC2 does not disassociate ${checkId} from ${ids[0]}: Not now.`,
  );
  refusesToLetGo = undefined;
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  await endsWithNothing();
});

test.each([
  ['at all', 'AccessDenied', denied],
  ['inside a success', 'ObservationPending', () => inside(ids[0])],
])(
  'R-SWALLOW: what a failed update has brought is said to stay where it is refused %s',
  async (_, why, refuses) => {
    const stack = team.stack();
    await team.run(stack.create(text({ Association: onGroup() })));
    refusesToLetGo = refuses;
    hidden = 'instance-id';
    // What is confirmed shows again when it is to be let go.
    team.bracket.clock.after(240_000, () => {
      hidden = undefined;
    });
    const update = { Association: { ...onInstances(0), ServiceTimeout: 600 } };
    await team.run(stack.update(text(update)));
    expect(team.associations).toContain(ids[0]);
    const failed = [...team.bracket.stack.executions.all()].find(({ status }) => status === 'FAILED');
    expect([failed?.error, failed?.cause]).toEqual([
      'BudgetSpent',
      expect.stringMatching(
        new RegExp(`not show yet.*What it has brought about could not be let go: ${why}`),
      ),
    ]);
  },
);

test('R-UNDO: a rollback that fails itself lets go nothing that was there before', async () => {
  const stack = team.stack();
  const properties = { ...onGroup(), ServiceTimeout: 600 };
  await team.run(stack.create(text({ Association: properties })));
  // The rollback asks for the group again, and does not see it.
  hidden = 'tag';
  const update = { Association: onInstances(0, 1), Failing: refused() };
  expect(await team.run(stack.update(text(update)))).toBe('UPDATE_ROLLBACK_FAILED');
  expect(team.associations).toContain(GROUP);
});

test('R-GONE: an instance that is gone is no reason to fail an update, or its rollback', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onInstances(0, 1) })));
  team.bracket.standing.account.ec2.terminate(ids[0] ?? '');
  await team.bracket.clock.pass(2 * 3_600_000);
  const update = { Association: { ...onInstances(0, 1), ServiceTimeout: 600 } };
  expect(await team.run(stack.update(text(update)))).toBe('UPDATE_COMPLETE');
  expect(await team.run(stack.update(text({ Association: onInstances(1) })))).toBe('UPDATE_COMPLETE');
  await team.run(stack.delete());
  await endsWithNothing();
});

test('R-PARTIAL: an instance that is gone keeps no other one associated when an update is undone', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onGroup() })));
  hidden = 'instance-id';
  gone = ids[0] ?? '';
  const update = { Association: { ...onInstances(0, 1), ServiceTimeout: 600 } };
  expect(await team.run(stack.update(text(update)))).toBe('UPDATE_ROLLBACK_COMPLETE');
  expect(team.associations).not.toContain(ids[1]);
});

test('R-OWN: what somebody else had associated before, or another resource wants still, stays', async () => {
  api().AssociateApplicationStatusCheck({ ApplicationStatusCheckId: checkId, InstanceIds: [ids[0] ?? ''] });
  await team.bracket.clock.pass(120_000);
  const [one, other] = [team.stack('one'), team.stack('other')];
  await team.run(one.create(text({ Association: onInstances(0, 1) })));
  await team.run(other.create(text({ Same: onInstances(1) })));
  await team.run(one.update(text({ Renamed: onInstances(0, 1) })));
  expect(team.associations).toEqual(ids);
  await team.run(one.delete());
  expect(team.associations).toEqual(ids);
  await team.run(other.delete());
  expect([team.associations, await team.held(), team.unanswered]).toEqual([[ids[0]], [], []]);
});

test('D5: what is deleted by hand meanwhile is deleted', async () => {
  const stack = team.stack();
  await team.run(stack.create(text({ Association: onGroup() })));
  api().DeleteApplicationStatusCheck({ ApplicationStatusCheckId: checkId });
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  await endsWithNothing();
});

test('R-STATE: what one stack is letting go, and another one wants, is made again while it still shows', async () => {
  const [one, another] = [team.stack('one'), team.stack('another')];
  await team.run(one.create(text({ Association: onGroup() })));
  stale = 100;
  const deleting = one.delete();
  while (team.associations.length > 0) await team.bracket.clock.pass(1_000);
  // MEASURED: descriptions lie 40-60 s behind.
  team.bracket.clock.after(60_000, () => {
    stale = 0;
  });
  expect(await team.run(another.create(text({ Association: onGroup() })))).toBe('CREATE_COMPLETE');
  expect(await team.run(deleting)).toBe('DELETE_COMPLETE');
  expect(team.associations).toEqual([GROUP]);
  expect(await team.run(another.delete())).toBe('DELETE_COMPLETE');
  await endsWithNothing();
});
