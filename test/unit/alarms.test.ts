import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { announceAlarm } from '../../functions/core/domain/alarm-announcement.ts';
import { type AlarmCall, isOurs, reconcile } from '../../functions/core/domain/alarm-changes.ts';
import {
  type AlarmDefinition,
  childrenOf,
  type ExistingAlarm,
} from '../../functions/core/domain/alarm-definition.ts';
import { alarmName, GROUP_ALARMS, groupLabel, subjectOf } from '../../functions/core/domain/alarm-names.ts';
import {
  type AlarmSettings,
  desiredAlarms,
  shapesOf,
  type WatchedGroup,
} from '../../functions/core/domain/alarms.ts';
import { anyOf } from '../../functions/core/domain/composite-rules.ts';

const NOW = 1_800_000_000;

const settings: AlarmSettings = {
  kept: 'Enabled',
  prefix: 'quiesce/',
  namespace: 'AWS/EC2',
  dimension: 'InstanceId',
  aggregateMissingData: 'missing',
  instancesPerGroup: 50,
  instanceAlarms: 2_500,
  actionArn: 'arn:tell',
  childrenPerRule: 100,
  ruleLength: 10_240,
};

const idOf = (number: number) => `i-${String(number).padStart(17, '0')}`;

const group = (
  name: string | undefined,
  size: number,
  checks: readonly { readonly checkId: string; readonly included: boolean }[] = [
    { checkId: 'asc-1', included: true },
  ],
  from = 0,
): WatchedGroup => ({
  name,
  instances: Array.from({ length: size }, (_, index) => ({ instanceId: idOf(from + index), checks })),
});

const named = (alarms: readonly AlarmDefinition[]) => alarms.map(({ name }) => name.slice('quiesce/'.length));

/** CloudWatch, as far as it refuses what contradicts itself. */
class FakeAlarms {
  readonly alarms = new Map<string, ExistingAlarm>();
  calls = 0;

  do(call: AlarmCall, state: ExistingAlarm['state'] = 'OK', configuredAt = NOW): void {
    this.calls++;
    if ('remove' in call) {
      const composites = call.remove.filter(name => this.alarms.get(name)?.kind === 'composite');
      expect(composites.length).toBeLessThanOrEqual(1);
      expect(call.remove.length).toBeLessThanOrEqual(100);
      for (const name of call.remove) {
        const parents = [...this.alarms.values()].filter(({ children }) => children.includes(name));
        expect(parents, `${name} is still named`).toEqual([]);
      }
      for (const name of call.remove) this.alarms.delete(name);
      return;
    }
    const { put: definition, actionsEnabled } = call;
    const children = definition.kind === 'composite' ? childrenOf(definition.rule) : [];
    expect(children.filter(name => !this.alarms.has(name))).toEqual([]);
    expect(children.length).toBeLessThanOrEqual(100);
    if (definition.kind === 'composite') expect(definition.rule.length).toBeLessThanOrEqual(10_240);
    const { name, kind, description } = definition;
    const known = this.alarms.get(name);
    this.alarms.set(name, {
      name,
      kind,
      description,
      definition,
      children,
      actionsEnabled,
      state: known?.state ?? state,
      configuredAt,
    });
  }

  look(desired: readonly AlarmDefinition[], now = NOW) {
    return reconcile([...this.alarms.values()], desired, now, 100);
  }

  /** @returns how many calls it took */
  settle(desired: readonly AlarmDefinition[]): number {
    const before = this.calls;
    for (let turn = 0; turn < 10; turn++) {
      const { calls, waits } = this.look(desired, NOW + turn * 120);
      if (calls.length === 0 && !waits) return this.calls - before;
      for (const call of calls) this.do(call, 'INSUFFICIENT_DATA', NOW + turn * 120);
    }
    throw new Error('never agrees');
  }
}

describe('the alarms that there should be', () => {
  test('D21: a group has both tracks for each instance, and four alarms that read them together', () => {
    const both = [
      { checkId: 'asc-1', included: true },
      { checkId: 'asc-2', included: false },
    ];
    const alarms = desiredAlarms([group('web', 1, both)], settings);
    const about = `instance/${idOf(0)}`;
    expect(named(alarms)).toEqual([
      `${about}/impaired`,
      `${about}/asc-1/failed`,
      `${about}/asc-2/failed`,
      ...GROUP_ALARMS.map(what => `group/web/${what}`),
    ]);
    const rules = alarms.flatMap(alarm => (alarm.kind === 'composite' ? [alarm.rule] : []));
    const [impaired, one, two] = alarms.map(({ name }) => `("${name}")`);
    expect(rules).toEqual([
      `ALARM${impaired}`,
      `(ALARM${one} AND INSUFFICIENT_DATA${impaired})`,
      `INSUFFICIENT_DATA${one} OR INSUFFICIENT_DATA${two}`,
      `ALARM${one}`,
    ]);
  });

  test('R-MISSING: the silence of the aggregate is `missing`, or `ignore` by choice; of a check it is always news', () => {
    const treated = (aggregateMissingData: AlarmSettings['aggregateMissingData']) =>
      desiredAlarms([group('web', 1)], { ...settings, aggregateMissingData }).flatMap(alarm =>
        alarm.kind === 'metric' ? [alarm.missingData] : [],
      );
    expect(treated('missing')).toEqual(['missing', 'missing']);
    expect(treated('ignore')).toEqual(['ignore', 'missing']);
    const [, under] = desiredAlarms([group('web', 1)], {
      ...settings,
      aggregateMissingData: 'ignore',
    }).filter(({ kind }) => kind === 'composite');
    expect(under?.kind === 'composite' && under.rule).toMatch(/ AND NOT ALARM\("[^"]+impaired"\)\)$/);
  });

  test('R-MISSING: nothing hears of a silence, and of a recovery only who hears of it from the checks themselves', () => {
    const alarms = desiredAlarms([group('web', 1), group('large', 51, undefined, 100)], settings);
    const heard = (how: 'alarmActions' | 'okActions') => named(alarms.filter(alarm => alarm[how].length > 0));
    expect(heard('okActions')).toEqual(['check/asc-1/failing', 'group/web/failing']);
    expect(heard('alarmActions')).toEqual([
      'account/impaired',
      'check/asc-1/failing',
      'group/web/failing-and-acted-upon',
      'group/web/failing-under-suppression',
      'group/web/check-silent',
    ]);
  });

  test('an excluded check is nobody to act on: it has no aggregate, and only its silence is told', () => {
    const excluded = [{ checkId: 'asc-1', included: false }];
    expect(named(desiredAlarms([group(undefined, 1, excluded)], settings))).toEqual([
      `instance/${idOf(0)}/asc-1/failed`,
      'group/(no-group)/check-silent',
    ]);
    expect(named(desiredAlarms([group('large', 51, excluded)], settings))).toEqual(['check/asc-1/failing']);
  });

  test('D21: beyond so many instances a group has one alarm a check, grouped by instance, the failing ones first', () => {
    const alarms = desiredAlarms([group('web', 51)], settings);
    expect(named(alarms)).toEqual(['account/impaired', 'check/asc-1/failing']);
    expect(alarms[1]).toMatchObject({
      watches: {
        query:
          'SELECT MAX("StatusCheckFailed_Application_asc-1") FROM SCHEMA("AWS/EC2", InstanceId) GROUP BY InstanceId ORDER BY MAX() DESC',
      },
    });
  });

  test('D21: the largest groups are watched check by check when alarms by instance would be too many', () => {
    const groups = [group('b', 20), group('a', 30), group('c', 10)];
    const shapes = shapesOf(groups, { ...settings, instanceAlarms: 60 });
    expect([shapes.narrow, shapes.wide].map(some => some.map(({ name }) => name))).toEqual([
      ['b', 'c'],
      ['a'],
    ]);
  });

  test('D21: a rule that is too long becomes a tree', () => {
    const prefix = `${'s'.repeat(128)}/`;
    const checks = ['asc-1', 'asc-2', 'asc-3'].map(checkId => ({ checkId, included: true }));
    const alarms = desiredAlarms([group('web', 50, checks)], { ...settings, prefix });
    const fake = new FakeAlarms();
    fake.settle(alarms);
    const parts = alarms.filter(({ name }) => /failing-under-suppression\/\d+$/.test(name));
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.flatMap(({ alarmActions }) => alarmActions)).toEqual([]);
    const whole = alarms.find(({ name }) => name.endsWith('failing-under-suppression'));
    expect(fake.alarms.get(whole?.name ?? '')?.children).toEqual(parts.map(({ name }) => name));
  });

  test('there are none where they are not kept', () => {
    expect(desiredAlarms([group('web', 1)], { ...settings, kept: 'Disabled' })).toEqual([]);
  });

  test('no terms are no alarm', () => {
    expect(anyOf([], () => 'x', settings)).toEqual([]);
  });

  test('descriptions say what to do at three in the morning, and fit', () => {
    for (const { description } of desiredAlarms([group('w'.repeat(255), 50), group('x', 60)], settings)) {
      expect(description).toContain('docs/alarms.md');
      expect(description.length).toBeLessThanOrEqual(1_024);
    }
  });
});

test('a notification names a hundred instances, counts the others, and fits its subject', () => {
  const instances = Array.from({ length: 101 }, (_, number) => ({ instanceId: idOf(number), says: 'fails' }));
  const { subject, message, detail } = announceAlarm({
    alarm: 'quiesce/group/web/failing-and-acted-upon',
    subject: { of: 'group', label: 'w'.repeat(69), what: 'failing-and-acted-upon' },
    state: 'ALARM',
    reason: 'because',
    at: NOW,
    instances,
    diagnosis: { well: true, findings: [], remarks: [] },
  });
  expect(subject.length).toBeLessThanOrEqual(100);
  expect(message).toContain('and 1 more');
  expect([detail.instances, detail.instanceIds.length, detail.track]).toEqual([101, 100, 'aggregate']);
});

describe('names', () => {
  test('R-OWN: what was built is read back, and nothing else', () => {
    const all = desiredAlarms([group('web', 50), group('large', 51, undefined, 100)], settings);
    for (const { name } of all) {
      const subject = subjectOf('quiesce/', name);
      expect(subject && alarmName('quiesce/', subject)).toBe(name);
    }
    const part = { of: 'group', label: 'web', what: 'failing', part: 3 } as const;
    expect(subjectOf('q/', alarmName('q/', part))).toEqual(part);
    for (const name of [
      'other/instance/i-1/impaired',
      'quiesce/',
      'quiesce/instance/i-1',
      'quiesce/group/a/b',
    ])
      expect(subjectOf('quiesce/', name)).toBeUndefined();
  });

  test('a group whose name has quotes, or is long, has a label of its own', () => {
    expect(groupLabel('web-1.a_b')).toBe('web-1.a_b');
    const odd = ['a"b', 'a/b', 'x'.repeat(255), `${'x'.repeat(254)}y`].map(groupLabel);
    expect(new Set(odd).size).toBe(4);
    for (const label of odd) expect(label).toMatch(/^[\w.-]{1,69}$/);
  });

  test('R-OWN: an alarm of this name that somebody else has made is not ours', () => {
    const [definition] = desiredAlarms([group('web', 1)], settings);
    const fake = new FakeAlarms();
    if (definition) fake.do({ put: definition, actionsEnabled: true });
    const [ours] = fake.alarms.values();
    expect(ours && isOurs('quiesce/', ours)).toBe(true);
    expect(ours && isOurs('quiesce/', { ...ours, description: 'mine' })).toBe(false);
    expect(ours && isOurs('other/', ours)).toBe(false);
  });
});

describe('reconciliation', () => {
  test('a composite alarm waits until its new children have had their first evaluation', () => {
    const fake = new FakeAlarms();
    const desired = desiredAlarms([group('web', 1)], settings);
    const first = fake.look(desired);
    expect(first).toMatchObject({ waits: true });
    expect(first.calls).toHaveLength(2);
    for (const call of first.calls) fake.do(call, 'INSUFFICIENT_DATA');
    expect(fake.look(desired, NOW + 119)).toEqual({ calls: [], waits: true });
    expect(fake.look(desired, NOW + 120)).toMatchObject({ calls: { length: 4 }, waits: false });
  });

  test('D39: what a person has switched off stays so', () => {
    const fake = new FakeAlarms();
    const desired = desiredAlarms([group('web', 1)], settings);
    fake.settle(desired);
    for (const alarm of fake.alarms.values())
      fake.alarms.set(alarm.name, { ...alarm, actionsEnabled: false });
    const { calls } = fake.look(
      desiredAlarms([group('web', 1)], { ...settings, actionArn: 'arn:other' }),
      NOW + 600,
    );
    expect(calls.length).toBe(4);
    expect(calls.every(call => 'put' in call && !call.actionsEnabled)).toBe(true);
  });

  test('R-CHUNK: composites go one by one before their children, metric alarms by the hundred', () => {
    const fake = new FakeAlarms();
    const made = desiredAlarms([group('web', 50), group('api', 50, undefined, 100)], settings);
    fake.settle(made);
    expect(fake.settle([])).toBe(8 + 2);
    expect(fake.alarms.size).toBe(0);
  });

  test('an alarm that somebody else has built on ours is not deleted under it', () => {
    const fake = new FakeAlarms();
    fake.settle(desiredAlarms([group('web', 1)], settings));
    const parts = [...fake.alarms.values()];
    const held = parts[0]?.name ?? '';
    const others = { ...parts[0], name: 'others', kind: 'composite', children: [held] } as ExistingAlarm;
    const { calls, waits } = reconcile(parts, [], NOW, 100);
    expect([calls.length, waits]).toEqual([5, false]);
    fake.alarms.set('others', others);
    const desired = { kind: 'composite', name: 'others', rule: `ALARM("${held}")` } as AlarmDefinition;
    expect(fake.look([desired])).toMatchObject({ waits: true });
  });

  test('whatever there was becomes what there should be, in an order that CloudWatch takes, and then nothing is left to do', () => {
    const groups = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b', undefined),
        size: fc.integer({ min: 0, max: 6 }),
        from: fc.integer({ min: 0, max: 3 }),
        included: fc.boolean(),
      }),
      { maxLength: 3 },
    );
    const small = { ...settings, instancesPerGroup: 4, childrenPerRule: 4 };
    const alarmsOf = (
      given: readonly { name: string | undefined; size: number; from: number; included: boolean }[],
    ) =>
      desiredAlarms(
        [...new Map(given.map(one => [one.name, one])).values()].map(({ name, size, from, included }, at) =>
          group(
            name,
            size,
            [
              { checkId: 'asc-1', included },
              { checkId: 'asc-2', included: true },
            ],
            at * 10 + from,
          ),
        ),
        small,
      );
    fc.assert(
      fc.property(groups, groups, (before, after) => {
        const fake = new FakeAlarms();
        fake.settle(alarmsOf(before));
        const desired = alarmsOf(after);
        fake.settle(desired);
        expect([...fake.alarms.keys()].sort()).toEqual(desired.map(({ name }) => name).sort());
        expect(fake.look(desired)).toEqual({ calls: [], waits: false });
      }),
      { numRuns: 60 },
    );
  });
});
