import { describe, expect, test } from 'vitest';
import { EC2_BUCKETS, ELB_BUCKETS } from '../../functions/core/limits.ts';
import { Throttling } from '../../local/account/throttling.ts';
import { createWorld } from '../../local/account/world.ts';

function account() {
  const { clock } = createWorld();
  const throttling = new Throttling({ clock }, { ec2: EC2_BUCKETS, elasticLoadBalancing: ELB_BUCKETS });
  const call = (service: string, action: string, input: Record<string, unknown> = {}) =>
    throttling.before({ service, action, caller: { kind: 'function', name: 'Any' }, at: clock.now() }, input);
  /** How many calls in a row pass, of at most `most`. */
  const passing = (service: string, action: string, input: Record<string, unknown> = {}, most = 200) => {
    for (let made = 0; made < most; made++)
      try {
        call(service, action, input);
      } catch {
        return made;
      }
    return most;
  };
  return { clock, throttling, call, passing };
}

describe('R-THROTTLE: EC2', () => {
  test('each API has a bucket of its own, which refills with time', async () => {
    const { clock, call, passing } = account();
    expect(passing('ec2', 'EnableApplicationStatusCheckSuppression')).toBe(50);
    expect(() => call('ec2', 'EnableApplicationStatusCheckSuppression')).toThrow(
      expect.objectContaining({ code: 'RequestLimitExceeded' }),
    );
    expect(passing('ec2', 'DisableApplicationStatusCheckSuppression')).toBe(50);
    await clock.pass(2_000);
    expect(passing('ec2', 'EnableApplicationStatusCheckSuppression')).toBe(10);
  });

  test('a listing without filter and pages has a smaller bucket', () => {
    expect(account().passing('ec2', 'DescribeInstances')).toBe(50);
    expect(account().passing('ec2', 'DescribeInstances', { Filters: [{ Name: 'vpc-id' }] })).toBe(100);
    expect(account().passing('ec2', 'DescribeApplicationStatus')).toBe(100);
  });
});

describe('R-THROTTLE: Elastic Load Balancing', () => {
  test('one bucket holds all actions, and an inner one registrations and deregistrations together', () => {
    const { throttling, call, passing } = account();
    expect(passing('elasticloadbalancing', 'RegisterTargets', {}, 15)).toBe(15);
    expect(passing('elasticloadbalancing', 'DeregisterTargets')).toBe(5);
    expect(() => call('elasticloadbalancing', 'RegisterTargets')).toThrow(
      expect.objectContaining({ code: 'Throttling' }),
    );
    // What was refused has drawn nothing from the outer bucket.
    expect(passing('elasticloadbalancing', 'DescribeTargetHealth')).toBe(20);
    expect(throttling.throttled.map(call => call.action)).toEqual([
      'DeregisterTargets',
      'RegisterTargets',
      'DescribeTargetHealth',
    ]);
    expect(throttling.leastLeft().get('elasticloadbalancing all')).toBe(0);
  });
});

test('services without a published bucket are never throttled', () => {
  expect(account().passing('autoscaling', 'DescribeAutoScalingGroups')).toBe(200);
});
