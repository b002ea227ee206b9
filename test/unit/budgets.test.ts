import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PROOF_SECONDS } from '../../functions/core/domain/after-failure.ts';
import { type BudgetFacts, computeBudgets } from '../../functions/core/domain/budgets.ts';

// Measured on application status checks (2026-08-13): suppression shows after about 192 s, a release after 120-150 s,
// and what is described lags by up to 60 s. The longest act lasts 60 s.
const SPREAD = 192;
const RELEASE = 150;
const LAG = 60;
const LONGEST_ACT = 60;

const facts: BudgetFacts = {
  leadSeconds: 180,
  suppressing: true,
  holding: false,
  provesAfterFailure: false,
  drainDelaySeconds: 300,
  floorWaitSeconds: 900,
  covered: false,
  deploymentSeconds: 3600,
  readySeconds: 900,
  readyBeforeTraffic: true,
  readyEvaluations: 2,
  checked: true,
  checkIntervalSeconds: 60,
  inServiceSeconds: 155,
};

const someFacts = fc.record<BudgetFacts>({
  leadSeconds: fc.integer({ min: 180, max: 7200 }),
  suppressing: fc.boolean(),
  holding: fc.boolean(),
  provesAfterFailure: fc.boolean(),
  drainDelaySeconds: fc.option(fc.integer({ min: 0, max: 3600 }), { nil: undefined }),
  floorWaitSeconds: fc.integer({ min: 0, max: 7200 }),
  covered: fc.boolean(),
  deploymentSeconds: fc.integer({ min: 1, max: 43_200 }),
  readySeconds: fc.integer({ min: 60, max: 7200 }),
  readyBeforeTraffic: fc.boolean(),
  readyEvaluations: fc.integer({ min: 2, max: 10 }),
  checked: fc.boolean(),
  checkIntervalSeconds: fc.constant(60),
  // Interval 5-300 s x threshold 2-10 + time-out 2-120 s.
  inServiceSeconds: fc.option(fc.integer({ min: 12, max: 3120 }), { nil: undefined }),
});

const always = (holds: (given: BudgetFacts) => void) => fc.assert(fc.property(someFacts, holds));

test('R-BUDGET: the lead outlasts the spreading, the lag of what is described, and the least lead', () => {
  always(given => {
    const { lead } = computeBudgets(given);
    if (given.suppressing) expect(lead).toBeGreaterThanOrEqual(Math.max(given.leadSeconds, SPREAD) + LAG);
    else expect(lead).toBe(0);
  });
});

test('R-BUDGET: the traffic phase outlasts the wait for a floor and then the whole deregistration delay, and 30 s', () => {
  always(given => {
    const { traffic, before } = computeBudgets(given);
    if (given.drainDelaySeconds === undefined && !given.holding) expect(traffic).toBe(0);
    else expect(traffic).toBeGreaterThanOrEqual(given.floorWaitSeconds + (given.drainDelaySeconds ?? 0) + 30);
    expect(before).toBeGreaterThan(traffic);
  });
});

test('R-BUDGET: a covered run waits as long as the instances before it may need to be ready', () => {
  const { before } = computeBudgets({ ...facts, covered: true, readySeconds: 7200 });
  expect(before).toBeGreaterThan(7200);
  expect(computeBudgets({ ...facts, covered: true, checked: false, readySeconds: 7200 }).before).toBeLessThan(
    7200,
  );
});

test('R-BUDGET: the lead and the draining overlap, and the joint look comes after the longer one', () => {
  const { lead, traffic, before } = computeBudgets({ ...facts, floorWaitSeconds: 0, leadSeconds: 3600 });
  expect(lead).toBeGreaterThan(traffic);
  expect(before - lead).toBeLessThanOrEqual(60);
});

test("R-BUDGET: in service outlasts the slowest health check and the application's own time", () => {
  always(given => {
    const { inService } = computeBudgets(given);
    if (given.inServiceSeconds === undefined) expect(inService).toBe(0);
    else {
      expect(inService).toBeGreaterThanOrEqual(given.inServiceSeconds + 30);
      expect(inService).toBeGreaterThanOrEqual(given.readySeconds);
    }
  });
});

test('R-BUDGET, D17: evidence after traffic outlasts every evaluation that is asked for', () => {
  always(given => {
    const { ready, readyAgain } = computeBudgets(given);
    expect(ready).toBe(given.checked && given.readyBeforeTraffic ? given.readySeconds : 0);
    if (given.checked)
      expect(readyAgain).toBeGreaterThanOrEqual(given.readyEvaluations * given.checkIntervalSeconds + LAG);
    else expect(readyAgain).toBe(0);
  });
});

test('R-BUDGET: after-deploy is its phases one after the other', () => {
  always(given => {
    const { ready, inService, readyAgain, release, after } = computeBudgets(given);
    expect(after).toBe(ready + inService + readyAgain + release);
    if (given.suppressing) expect(release).toBeGreaterThanOrEqual(RELEASE + LAG);
  });
});

test('R-BUDGET: undo outlasts the act in flight, then draining, health and release, which wait for one another (D5, D44)', () => {
  always(given => {
    const { undo, inService } = computeBudgets(given);
    const released = given.suppressing ? RELEASE + LAG : 0;
    const afterAct = (given.drainDelaySeconds ?? 0) + inService + released;
    const proven = given.provesAfterFailure ? PROOF_SECONDS : 0;
    expect(undo).toBeGreaterThan(LONGEST_ACT + proven + afterAct);
  });
});

test('D31: the suppression covers the whole bracket, from the first suppression to the end of after-deploy', () => {
  always(given => {
    const { before, deployment, after, whole } = computeBudgets(given);
    expect(deployment).toBe(given.deploymentSeconds);
    expect(whole).toBe(before + deployment + after);
  });
});

test('D35: a fleet with neither checks nor traffic waits for nothing but the looks themselves', () => {
  const { drainDelaySeconds: _, inServiceSeconds: __, ...rest } = facts;
  const bare = { ...rest, drainDelaySeconds: undefined, inServiceSeconds: undefined };
  const budgets = computeBudgets({ ...bare, suppressing: false, checked: false });
  expect(budgets).toMatchObject({ lead: 0, traffic: 0, ready: 0, inService: 0, readyAgain: 0 });
  expect(budgets.before + budgets.after).toBeLessThanOrEqual(120);
});
