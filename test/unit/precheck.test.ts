import { expect, test } from 'vitest';
import { pathEndOf } from '../../functions/core/domain/ingress.ts';
import {
  groupWarnings,
  measuredStartUp,
  monthlyCost,
  quotaWarnings,
} from '../../functions/core/domain/precheck.ts';

test('a check costs an interface for each pair of a subnet and a security group, and two metrics an instance', () => {
  const at = (subnetId: string, ...securityGroupIds: string[]) => pathEndOf({ subnetId, securityGroupIds });
  const fleet = [at('a', 'sg-1', 'sg-2'), at('a', 'sg-1'), at('b', 'sg-1')];
  expect(monthlyCost(fleet)).toEqual({ interfaces: 3, metrics: 6, usDollars: 23.7 });
  expect(pathEndOf({ securityGroupIds: [] })).toEqual({ subnetId: '', groupIds: [] });
});

test('D47: what would not fit in the quotas of the account is said', () => {
  const quotas = { checks: 50, associations: 200, targets: 5000 };
  expect(quotaWarnings(quotas, quotas)).toEqual([]);
  const after = { checks: 51, associations: 200, targets: 5001 };
  expect(quotaWarnings(after, { ...quotas, checks: 51, targets: 9000 })).toEqual([]);
  expect(quotaWarnings(after, quotas)).toEqual([
    expect.stringContaining('would have 51 checks'),
    expect.stringContaining('would have 5001 targets'),
  ]);
});

test('the settings of the group that make a failed check worse are said', () => {
  expect(groupWarnings({ name: 'web', healthCheckGraceSeconds: 300, minHealthyPercent: 100 }, 300)).toEqual(
    [],
  );
  expect(groupWarnings({ name: 'web', healthCheckGraceSeconds: 60 }, 300)).toEqual([
    expect.stringContaining("grace period (60 s) is shorter than the check's (300 s)"),
    expect.stringContaining('before its successor is in service'),
  ]);
});

test('the start-up is measured by the quickest first pass of another check after a launch', () => {
  const check = { checkChangedAt: 0, graceSeconds: 30, successThreshold: 2, intervalSeconds: 60 };
  const pass = (launchedAt: number, after: number, more = {}) => ({
    ...check,
    launchedAt: launchedAt * 1000,
    since: (launchedAt + after) * 1000,
    ...more,
  });
  expect(measuredStartUp([pass(1000, 600), pass(2000, 500.5)])).toBe(380);
  // As soon as its grace period lets it.
  expect(measuredStartUp([pass(1000, 600), pass(2000, 200)])).toBe(0);
  // After a deployment, before the launch, or by a check that is younger than the instance.
  const none = [pass(1000, 4000), pass(1000, -5), pass(1000, 600, { checkChangedAt: 1_001_000 })];
  expect(measuredStartUp(none)).toBeUndefined();
});
