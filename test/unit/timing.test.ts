import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contradictionsOf, type HealthSetup } from '../../functions/core/domain/contradictions.ts';
import {
  type ApplicationTiming,
  type Span,
  type TargetGroupTiming,
  timeCheck,
  timeTargetGroup,
} from '../../functions/core/domain/timing.ts';

const group: TargetGroupTiming = {
  type: 'application',
  intervalSeconds: 20,
  timeoutSeconds: 5,
  healthyThreshold: 3,
  unhealthyThreshold: 2,
  nodes: 3,
};
const check = { timeoutSeconds: 6, failureThreshold: 2, successThreshold: 2, graceSeconds: 90 };
const quick: ApplicationTiming = { startUpSeconds: 10, failure: 'answers' };

test('a target is unhealthy when the last of its nodes says so, and healthy when the first does', () => {
  const { failed, recovered } = timeTargetGroup(group, quick);
  expect(failed).toEqual({ best: 20, expected: 35, worst: 40 });
  expect(recovered).toEqual({ best: 40, expected: 45, worst: 60 });
});

test('SEED 3.1, 3.2: the measured times of an application status check are among those that are expected', () => {
  const { failedShown, terminated, replaced, recoveredShown } = timeCheck(check, quick);
  const within = ({ best, worst }: Span, seconds: number) => best <= seconds && seconds <= worst;
  // About 2 minutes to impaired, 2 min 24 s back, 5 min 10 s to the termination, 8.5 min (in about 8 min 33 s) to `ok`.
  expect(within(failedShown, 125)).toBe(true);
  expect(within(recoveredShown, 144)).toBe(true);
  expect(within(terminated, 310)).toBe(true);
  expect(within(replaced, 510)).toBe(true);
});

test('a known phase leaves nothing to chance, and silence costs the time-out', () => {
  const known = { ...quick, phaseSeconds: 7 };
  expect(timeTargetGroup(group, known).failed).toEqual({ best: 27, expected: 27, worst: 27 });
  expect(timeTargetGroup(group, { ...known, failure: 'silent' }).failed.worst).toBe(32);
  expect(timeCheck(check, { ...known, failure: 'silent' }).failed.best).toBeCloseTo(73.73);
});

test('a new target needs one success, or the healthy threshold when it was up late, and always at a Network Load Balancer', () => {
  const afterBoot = (settings: Partial<TargetGroupTiming>, startUpSeconds: number) => {
    const { terminated, replaced } = timeTargetGroup({ ...group, ...settings }, { ...quick, startUpSeconds });
    // Less the greatest time to boot, the start-up and one interval.
    return replaced.worst - terminated.worst - 40 - startUpSeconds - 20;
  };
  expect(afterBoot({}, 20)).toBe(0);
  expect(afterBoot({}, 60)).toBe(40);
  expect(afterBoot({}, 30)).toBe(40);
  expect(afterBoot({ type: 'network' }, 0)).toBe(40);
});

test('every span is in order, whatever the settings', () => {
  const thresholds = fc.integer({ min: 1, max: 10 });
  const seconds = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(
      fc.record({
        type: fc.constantFrom('application' as const, 'network' as const),
        intervalSeconds: seconds,
        timeoutSeconds: seconds,
        healthyThreshold: thresholds,
        unhealthyThreshold: thresholds,
        nodes: thresholds,
      }),
      fc.record({ startUpSeconds: seconds, failure: fc.constantFrom('answers' as const, 'silent' as const) }),
      (anyGroup, application) => {
        const spans = [timeTargetGroup(anyGroup, application), timeCheck(check, application)].flatMap(
          Object.values,
        );
        for (const { best, expected, worst } of spans) {
          expect(best).toBeLessThanOrEqual(expected);
          expect(expected).toBeLessThanOrEqual(worst);
        }
      },
    ),
  );
});

describe('settings that cannot both be meant are said, and what follows from them', () => {
  const sound: HealthSetup = {
    groups: [
      {
        name: 'web',
        path: '/ready',
        matcher: '200,204',
        intervalSeconds: 10,
        timeoutSeconds: 5,
        healthyThreshold: 3,
        deregistrationDelaySeconds: 60,
      },
    ],
    checks: [{ name: 'asc-1', path: '/health', matcher: '200-299', graceSeconds: 90 }],
    application: {
      startUpSeconds: 90,
      longestRequestSeconds: 60,
      groupGraceSeconds: 90,
      scalesOn: ['RequestCountPerTarget'],
    },
  };
  const [web] = sound.groups;
  const [asc] = sound.checks;
  const changed = (
    of: { readonly group?: object; readonly check?: object; readonly application?: object } = {},
  ): string[] =>
    contradictionsOf({
      groups: web ? [{ ...web, ...of.group }] : [],
      checks: asc ? [{ ...asc, ...of.check }] : [],
      application: { ...sound.application, ...of.application },
    });

  test('none where there are none, nor where nothing is known', () => {
    expect(contradictionsOf(sound)).toEqual([]);
    expect(contradictionsOf({ ...sound, application: {} })).toEqual([]);
    expect(changed({ group: { path: undefined, matcher: undefined }, check: { path: '/' } })).toEqual([]);
  });

  test.each<[string, Parameters<typeof changed>[0], RegExp]>([
    [
      'a time-out as long as the interval',
      { group: { timeoutSeconds: 10 } },
      /^web: the time-out \(10 s\) is not shorter/,
    ],
    [
      'a matcher that accepts redirects',
      { group: { matcher: '200-399' } },
      /^web: the matcher 200-399 accepts redirects/,
    ],
    [
      'one code among others',
      { check: { matcher: '200, 302' } },
      /^asc-1: the matcher 200, 302 accepts redirects/,
    ],
    [
      'one path for readiness and liveness',
      { check: { path: '/ready' } },
      /^web and asc-1 ask the same path \/ready/,
    ],
    [
      'a delay shorter than the longest request',
      { application: { longestRequestSeconds: 61 } },
      /^web: the deregistration delay \(60 s\) is shorter than the longest request \(61 s\)/,
    ],
    [
      'a grace period shorter than the start-up',
      { check: { graceSeconds: 89 } },
      /^asc-1: the initialization grace period \(89 s\)/,
    ],
    [
      "the group's grace period shorter than the start-up",
      { application: { groupGraceSeconds: 0 } },
      /^The grace period of the Auto Scaling group \(0 s\)/,
    ],
    [
      'recovery delayed twice',
      { application: { recoverySeconds: 30 } },
      /^web: recovery is delayed twice, .*\(30 s\).*\(3 x 10 s\)/,
    ],
    [
      'health as a measure of demand',
      { application: { scalesOn: ['UnHealthyHostCount'] } },
      /^UnHealthyHostCount counts health/,
    ],
  ])('%s', (_, change, sentence) => {
    expect(changed(change)).toEqual([expect.stringMatching(sentence)]);
  });
});
