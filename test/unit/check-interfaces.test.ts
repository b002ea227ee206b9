import { expect, test } from 'vitest';
import { hourlyCost, InterfaceUse } from '../../functions/core/domain/check-interfaces.ts';
import { heldInWords, isHeldByChecksAlone } from '../../functions/core/domain/group-blockers.ts';
import { growingWait } from '../../functions/core/domain/retirement.ts';
import { HISTORY_EVENTS, LONGEST_RETIREMENT_SECONDS } from '../../functions/core/limits.ts';

const instance = { subnetId: 'subnet-1', groupIds: ['sg-1', 'sg-2'] };
const managed = { deviceIndex: 0, ipVersion: 'ipv4', paths: [] } as const;
const place = (subnetId: string, groupId: string) => ({ subnetId, groupId });
const on = (subnetId: string, ...securityGroupIds: string[]) => ({ subnetId, securityGroupIds });

test('D45: an interface is needed by every check whose instances are asked from its subnet and group', () => {
  const toward = (...destinations: ReturnType<typeof place>[]) => ({
    ...managed,
    paths: [{ source: place('subnet-9', 'sg-9'), destinations }],
  });
  const use = new InterfaceUse([
    { id: 'asc-1', route: managed, instances: [instance], isAssociated: true },
    {
      id: 'asc-2',
      route: managed,
      instances: [{ subnetId: 'subnet-1', groupIds: ['sg-1'] }],
      isAssociated: true,
    },
    { id: 'asc-3', route: toward(place('subnet-1', 'sg-2')), instances: [instance], isAssociated: true },
    { id: 'asc-4', route: toward(place('subnet-1', 'sg-3')), instances: [instance], isAssociated: true },
  ]);
  expect(use.usersOf(on('subnet-1', 'sg-1'))).toEqual(['asc-1', 'asc-2']);
  // Of which of its groups AWS takes the interface on a path that it manages is not documented.
  expect(use.usersOf(on('subnet-1', 'sg-2'))).toEqual(['asc-1']);
  expect(use.usersOf(on('subnet-9', 'sg-9'))).toEqual(['asc-3']);
  expect(use.usersOf(on('subnet-2', 'sg-1'))).toEqual([]);
  // A path that leads to none of its instances needs no interface, and still names its groups.
  expect(use.usersOfGroup('sg-9')).toEqual(['asc-3', 'asc-4']);
  expect(use.usersOfGroup('sg-7')).toEqual([]);
  // Written paths say themselves which groups they need.
  expect([use.isAwaited(['asc-9', 'asc-1']), use.isAwaited(['asc-3']), use.isAwaited([])]).toEqual([
    true,
    false,
    false,
  ]);
});

test('an interface costs a cent an hour', () => {
  expect([hourlyCost(0), hourlyCost(7)]).toEqual([0, 0.07]);
});

test('R-HISTORY: the longest retirement has an execution of a few hundred events, however much is repeated', () => {
  let now = 0;
  let turns = 0;
  for (let wait = 1; wait > 0; turns++) {
    wait = growingWait(now, 0, LONGEST_RETIREMENT_SECONDS);
    expect(wait).toBeLessThanOrEqual(300);
    now += wait;
  }
  expect(now).toBe(LONGEST_RETIREMENT_SECONDS);
  // A turn is two tasks, a wait and a choice at the most, and two retries of each task as in domain/pace.ts.
  expect(turns).toBeLessThan(60);
  expect(turns * (14 + 2 * 3 * 2)).toBeLessThan(0.8 * HISTORY_EVENTS);
});

test('D34: what holds a group is named, and of many only the first', () => {
  const found = { id: 'eni-1', subnetId: 'subnet-1', securityGroupIds: ['sg-1'], description: '' };
  const blockers = [
    { kind: 'rule', groupId: 'sg-2' } as const,
    ...Array.from({ length: 6 }, () => ({ kind: 'interface', found }) as const),
  ];
  expect(heldInWords({ id: 'sg-1', blockers })).toMatch(
    /^sg-1 is held by a rule of sg-2 that refers to it; (interface eni-1[^;]*; ){4}2 more$/,
  );
  expect(isHeldByChecksAlone({ id: 'sg-1', blockers })).toBe(false);
  expect(heldInWords({ id: 'sg-1', blockers: [] })).toBe(
    'EC2 does not delete sg-1, and shows nothing that holds it',
  );
});
