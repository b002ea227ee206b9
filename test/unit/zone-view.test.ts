import { describe, expect, test } from 'vitest';
import type { Diagnosis, Finding } from '../../functions/core/domain/diagnosis.ts';
import type { SeenTarget } from '../../functions/core/domain/floors.ts';
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
  const of = (...findings: readonly Finding[]): Diagnosis => ({
    well: findings.length === 0,
    findings,
    remarks: [],
  });
  const one = found('hangs', { kind: 'instance', alone: false });
  const zone = found('times-out', { kind: 'zone', zone: 'a' });

  test.each([
    ['well', of()],
    ['one-target', of(one)],
    ['several-targets', of(one, found('hangs', { kind: 'instances' }))],
    ['one-zone', of(one, zone)],
    ['all-targets', of(zone, found('failing-open'))],
    ['all-targets', of(found('slow', { kind: 'fleet' }))],
    ['all-targets', of(found('no-target'))],
    ['shallow-check', of(found('shallow-check'))],
    ['errors-while-draining', of(found('errors-while-draining'), one)],
    ['errors-while-draining', of(found('draining-with-errors', { kind: 'instance', alone: false }))],
  ] as const)('%s', (expected, diagnosis) => {
    expect(classOf(diagnosis)).toBe(expected);
  });
});
