import { describe, expect, test } from 'vitest';
import type { Diagnosis, Finding } from '../../functions/core/domain/diagnosis.ts';
import type { SeenTarget } from '../../functions/core/domain/floors.ts';
import type { Reach } from '../../functions/core/domain/reach.ts';
import { classOf, countZones, healthyWithout } from '../../functions/core/domain/zone-view.ts';

/** `a healthy` is a target in zone a; `a healthy shifted` one that a zonal shift keeps traffic from. */
const targets = (...all: readonly string[]): SeenTarget[] =>
  all.map((one, place) => {
    const [zone = '', state = '', shifted] = one.split(' ');
    return { key: String(place), zone, state, shifted: shifted !== undefined };
  });

const counts = (crossZone: boolean, ...all: readonly string[]) =>
  countZones(targets(...all), crossZone).map(
    ({ zone, registered, healthy, receiving }) => `${zone} ${registered} ${healthy} ${receiving}`,
  );

describe('D6: healthy and receiving by zone', () => {
  test.each([
    [
      'who is healthy receives',
      true,
      ['b healthy', 'a healthy', 'a unhealthy', 'a initial'],
      ['a 3 1 1', 'b 1 1 1'],
    ],
    ['who drains or is unused is not registered', true, ['a healthy', 'a draining', 'a unused'], ['a 1 1 1']],
    [
      'a zone that is shifted away receives nothing',
      true,
      ['a healthy shifted', 'b healthy'],
      ['a 1 1 0', 'b 1 1 1'],
    ],
    [
      'with cross-zone load balancing one target keeps all others closed',
      true,
      ['a unhealthy', 'b healthy'],
      ['a 1 0 0', 'b 1 1 1'],
    ],
    ['without it a zone fails open for itself', false, ['a unhealthy', 'b healthy'], ['a 1 0 1', 'b 1 1 1']],
    [
      'where none is healthy all receive, but for what is shifted away',
      true,
      ['a unhealthy', 'b unhealthy shifted'],
      ['a 1 0 1', 'b 1 0 0'],
    ],
  ] as const)('%s', (_, crossZone, all, counted) => {
    expect(counts(crossZone, ...all)).toEqual(counted);
  });

  test('what is left without a zone is what is healthy in the others', () => {
    const zones = countZones(targets('a healthy', 'b healthy', 'b healthy', 'c unhealthy'), true);
    expect(['a', 'b', 'c'].map(zone => healthyWithout(zones, zone))).toEqual([2, 1, 3]);
  });
});

describe('the class of what a diagnosis has found', () => {
  const found = (symptom: Finding['symptom'], reach?: Finding['reach']): Finding => ({
    symptom,
    ...(reach && { reach }),
    instanceIds: [],
    summary: '',
    evidence: [],
  });
  const of = (reach: Reach | undefined, ...findings: readonly Finding[]): Diagnosis => ({
    well: findings.length === 0,
    ...(reach && { reach }),
    findings,
    remarks: [],
  });
  const instance = { kind: 'instance', alone: false } as const;
  const zone = { kind: 'zone', zone: 'a' } as const;

  test.each([
    ['well', of(undefined)],
    ['one-target', of(instance, found('hangs', instance))],
    ['several-targets', of({ kind: 'instances' }, found('hangs', { kind: 'instances' }))],
    ['one-zone', of(zone, found('times-out', zone))],
    ['all-targets', of(zone, found('times-out', zone), found('failing-open'))],
    ['all-targets', of({ kind: 'fleet' }, found('slow', { kind: 'fleet' }))],
    ['all-targets', of(undefined, found('no-target'))],
    ['shallow-check', of(undefined, found('shallow-check'))],
    ['errors-while-draining', of(instance, found('errors-while-draining'), found('hangs', instance))],
    ['errors-while-draining', of(instance, found('draining-with-errors', instance))],
    // What each finding says of itself is not what they are together.
    ['one-zone', of(zone, found('hangs', instance), found('times-out', instance))],
    ['several-targets', of({ kind: 'instances' }, found('hangs', zone), found('resets', zone))],
  ] as const)('%s', (expected, diagnosis) => {
    expect(classOf(diagnosis)).toBe(expected);
  });
});
