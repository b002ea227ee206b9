import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { FAULT_KINDS, FAULT_PROFILES, type FaultKind } from '../../local/simulate/fault-spec.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { generate, type ScenarioInput } from '../../local/simulate/seeds/generate.ts';
import { PROFILES, tasksFor } from '../../local/simulate/seeds/seed-run.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { happenings } from '../scenarios/helpers/outcomes.ts';

const pair = (rates: NonNullable<ScenarioInput['faults']>['rates'], untilSeconds: number): ScenarioInput => ({
  name: 'pair',
  fleet: {
    instances: 2,
    targetGroups: [{ name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '15' } }],
    checks: [{ port: 8080 }],
  },
  deployment: { batches: 1, downSeconds: 30 },
  faults: { untilSeconds, rates },
  expect: { outcome: 'any' },
});

/** Its execution is one more whose end is an event. */
const RIVAL = { atSeconds: 60, downSeconds: 30 };

const asWritten = (input: ScenarioInput) => parseScenario(stringify(input), 'written.yaml');

test('a seed that is written down as a scenario runs the same way', async () => {
  const drawn = generate(11, 'hostile');
  expect(parse(stringify(drawn))).toEqual(drawn);
  const [first, again] = [
    await simulate({ scenario: asWritten(drawn) }),
    await simulate({ scenario: asWritten(drawn) }),
  ];
  expect(happenings(again)).toEqual(happenings(first));
  expect([...(again.faults?.injected ?? [])]).toEqual([...(first.faults?.injected ?? [])]);
});

describe('the faults of a scenario', () => {
  test('strike with their own kinds and within their span only', async () => {
    const rates = { fail: 0.2, slowCall: 0.2 };
    const { faults, stack, startedAt, deployment } = await simulate({
      scenario: asWritten(pair(rates, 300)),
    });
    expect([...(faults?.injected.keys() ?? [])].sort()).toEqual(['fail', 'slowCall']);
    expect(faults?.endsAt).toBe(startedAt + 300_000);
    const failures = (stack?.lambda.logs ?? []).filter(({ line }) => line.includes('Unavailable'));
    for (const { at } of failures) expect(at).toBeLessThan(startedAt + 360_000);
    expect(deployment.outcome).toBe('succeeded');
  });

  test('strike each in its turn', async () => {
    const rates = Object.fromEntries(FAULT_KINDS.map(kind => [kind, LIKELY[kind] ?? 0.03]));
    const { faults } = await simulate({ scenario: asWritten({ ...pair(rates, 3600), rivals: [RIVAL] }) });
    expect([...(faults?.injected.keys() ?? [])].sort()).toEqual([...FAULT_KINDS].sort());
  });
});

/** Batches and events are few. */
const LIKELY: Readonly<Record<string, number>> = {
  partial: 0.1,
  throttle: 0.2,
  die: 0.01,
  loseEvent: 0.3,
  repeatEvent: 0.5,
  delayEvent: 0.5,
};

test('the profiles come in turn, and hostile has the faults of all others', () => {
  const inTurn = tasksFor(1, PROFILES.length, 'each').map(({ profile }) => profile);
  expect(new Set(inTurn)).toEqual(new Set(PROFILES));
  const kinds = Object.values(FAULT_PROFILES).flatMap(rates => Object.keys(rates) as FaultKind[]);
  expect(new Set(Object.keys(FAULT_PROFILES.hostile))).toEqual(new Set(kinds));
});
