import { expect, test } from 'vitest';
import { leaveSuppression } from '../../functions/core/domain/suppression.ts';

const NEEDED_UNTIL = 10_000;
const leave = (suppression: 'ours' | 'others' | 'none', othersUntil?: number, now = 5000) =>
  leaveSuppression({ suppression, ...(othersUntil !== undefined && { othersUntil }) }, NEEDED_UNTIL, now);

test('R-TTL: a suppression of ours is disabled', () => {
  expect(leave('ours')).toEqual({ how: 'disable' });
});

test.each([
  ['does not end', undefined],
  ['ends when the run had needed it', NEEDED_UNTIL],
  ['ends later', NEEDED_UNTIL + 1],
])("D39: somebody else's that %s was never touched and is not now", (_, othersUntil) => {
  expect(leave('others', othersUntil)).toEqual({ how: 'untouched' });
});

test("D39: somebody else's that the run had lengthened gets its own end back", () => {
  expect(leave('others', 5001)).toEqual({ how: 'restore', until: 5001 });
});

test("D39: somebody else's that would be over by now is disabled: only the run had kept it", () => {
  expect(leave('others', 5000)).toEqual({ how: 'disable' });
});

test('what was not suppressed is left alone', () => {
  expect(leave('none')).toEqual({ how: 'untouched' });
});
