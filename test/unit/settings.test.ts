import { afterEach, expect, test, vi } from 'vitest';
import { optInTag, setting } from '../../functions/core/settings.ts';

afterEach(() => vi.unstubAllEnvs());

test('a setting is what the environment says', () => {
  vi.stubEnv('LEDGER_TABLE', 'ledger');
  expect(setting('LEDGER_TABLE')).toBe('ledger');
});

test.each([undefined, ''])('a setting that is %j is the fault of the deployment, named', value => {
  vi.stubEnv('LEDGER_TABLE', value);
  expect(() => setting('LEDGER_TABLE')).toThrow(
    'The environment variable LEDGER_TABLE is not set: template.yaml has to set it.',
  );
});

test("D19: the opt-in tag's key is the one that the permissions name, its value the stack's", () => {
  expect(optInTag('enabled')).toEqual({ key: 'quiesce', value: 'enabled' });
});
