import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const usesWaiter = (code: string): boolean =>
  /\bwaitUntil[A-Z]\w*|\bwaitFor(Target|Instance|Stack)\w*/.test(code);

test('R-SDK-WAITERS: no function waits by a waiter of the SDK', () => {
  const files = readdirSync('functions', { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter(name => usesWaiter(readFileSync(`functions/${name}`, 'utf8')))).toEqual([]);
  expect(usesWaiter('await waitUntilTargetDeregistered({ client }, input)')).toBe(true);
});
