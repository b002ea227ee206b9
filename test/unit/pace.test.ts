import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextWait, paceLimits, pollSeconds } from '../../functions/core/domain/pace.ts';
import { HISTORY_EVENTS, MACHINE_TIMEOUT_SECONDS } from '../../functions/core/limits.ts';

test('R-HISTORY: six loops that each spend any budget up to the time-out stay under 80 % of the history', () => {
  expect(paceLimits.historyEvents).toBe(HISTORY_EVENTS);
  for (let budget = 0; budget <= MACHINE_TIMEOUT_SECONDS; budget++) {
    const turns = Math.ceil(budget / pollSeconds(budget));
    expect(6 * turns * paceLimits.eventsPerTurn).toBeLessThanOrEqual(0.8 * HISTORY_EVENTS);
  }
});

test('R-THROTTLE: no loop looks more often than every 10 s, however short its budget', () => {
  for (let budget = 0; budget <= MACHINE_TIMEOUT_SECONDS; budget += 7)
    expect(pollSeconds(budget)).toBeGreaterThanOrEqual(10);
});

test('polls grow with the history that a turn costs', () => {
  expect(pollSeconds(9000, { historyEvents: 9000, eventsPerTurn: 12, shortestSeconds: 1 })).toBe(90);
});

const instant = fc.integer({ min: 0, max: 10_000 });

test('a wait is a positive whole number of seconds, as Wait takes it, until the budget is spent', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 10_000, noNaN: true }), instant, instant, (now, deadline, poll) => {
      const wait = nextWait(now, deadline, poll);
      expect(Number.isInteger(wait)).toBe(true);
      expect(wait > 0).toBe(now < deadline);
      expect(wait).toBeLessThanOrEqual(Math.max(1, poll));
      // The last look is at the deadline, within the second that a Wait can tell.
      expect(wait).toBeLessThan(Math.max(0, deadline - now) + 1);
    }),
  );
});

test('a loop looks once more when its budget is over, then ends', () => {
  const looks: number[] = [];
  for (let now = 0, wait = 1; wait > 0; now += wait) {
    looks.push(now);
    wait = nextWait(now, 25, 10);
  }
  expect(looks).toEqual([0, 10, 20, 25]);
});
