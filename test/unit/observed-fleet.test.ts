import { expect, test } from 'vitest';
import { observedCheck } from '../../functions/core/domain/observed-fleet.ts';

const at = (seconds: number) => new Date(seconds * 1000);
const check = { graceSeconds: 60, failureThreshold: 2, intervalSeconds: 60, changedAt: at(0) };
const failed = { checkId: 'asc-1', aggregation: 'excluded', status: 'failed', code: 'ResponseCodeMismatch' };

test('a check that has failed since it could first fail has not passed since its last change', () => {
  const early = { ...failed, statusCode: 404, since: at(180) };
  expect(observedCheck(early, at(0), check)).toEqual({ ...early, since: 180_000, passedSinceChange: 'no' });
  expect(observedCheck({ ...failed, since: at(1000) }, at(0), check).passedSinceChange).toBe('yes');
});

test('without its settings, its change or its instant nobody knows', () => {
  const { changedAt: _, ...undated } = check;
  const unknown = [
    observedCheck({ ...failed, since: at(180) }, at(0), undefined),
    observedCheck({ ...failed, since: at(180) }, at(0), undated),
    observedCheck({ ...failed, since: at(180) }, undefined, check),
    observedCheck(failed, at(0), check),
  ].map(({ passedSinceChange }) => passedSinceChange);
  expect(unknown).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  expect(observedCheck({ checkId: 'asc-1', aggregation: 'unknown', status: 'passed' }, at(0), check)).toEqual(
    {
      checkId: 'asc-1',
      aggregation: 'unknown',
      status: 'passed',
      passedSinceChange: 'yes',
    },
  );
});
