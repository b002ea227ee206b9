import { describe, expect, test } from 'vitest';
import { scenario } from '../../local/simulate/scenario.ts';
import type { Attempt } from '../../local/simulate/seeds/attempt.ts';
import { generate, type ScenarioInput } from '../../local/simulate/seeds/generate.ts';
import { shrink, simplifications } from '../../local/simulate/seeds/shrink.ts';

const BREACH = { invariant: 4, what: 'i-0123456789abcdef0 is still suppressed', atSeconds: 12 };
const OTHER = { invariant: 7, what: 'run#a is still live', atSeconds: 12 };

const ended = (...breaches: Attempt['breaches']): Attempt => ({
  runs: {},
  injected: {},
  checkedInstants: 1,
  virtualMinutes: 1,
  breaches,
});

/** A seed with rivals, events and faults. */
const long = generate(
  Array.from({ length: 200 }, (_, seed) => seed).find(seed => {
    const { rivals = [], events = [], fleet } = generate(seed, 'hostile');
    return rivals.length > 0 && events.length > 1 && fleet.instances > 3;
  }) ?? 0,
  'hostile',
);

describe('the shortest history', () => {
  test('keeps what the breach needs and loses everything else', async () => {
    const needs = (input: ScenarioInput) => input.fleet.instances >= 2 && (input.faults?.rates.die ?? 0) > 0;
    const { scenario: shortest, breach } = await shrink(long, BREACH, 500, async input =>
      needs(input) ? ended({ ...BREACH, what: 'i-0fedcba9876543210 is still suppressed' }) : ended(OTHER),
    );
    expect(breach.what).toBe('i-0fedcba9876543210 is still suppressed');
    expect(shortest).toMatchObject({ rivals: [], events: [], physics: {}, fleet: { instances: 2 } });
    expect(Object.keys(shortest.faults?.rates ?? {})).toEqual(['die']);
    expect(Object.keys(shortest.fleet)).toEqual(['instances']);
    expect(shortest.deployment).toEqual({});
  });

  test('another breach than the one looked for keeps what was left out', async () => {
    const { scenario: shortest, tried } = await shrink(long, BREACH, 20, async () => ended(OTHER));
    expect(shortest).toEqual(long);
    expect(tried).toBe(20);
  });
});

test('every simplification is a scenario that can be written down and read', () => {
  const all = [...simplifications(long)];
  expect(all.length).toBeGreaterThan(30);
  for (const simpler of all) expect(scenario.safeParse(simpler).error?.issues ?? []).toEqual([]);
});
