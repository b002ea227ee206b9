import { z } from 'zod';
import { applicationStatusChecks } from '../../functions/core/aws/application-status.ts';
import {
  loadBalancerAttributes,
  loadBalancerTypes,
  targetGroupAttributes,
  targetGroups,
} from '../../functions/core/aws/elastic-load-balancing.ts';
import { effectiveCrossZone } from '../../functions/core/domain/floors.ts';
import { TargetGroupUnknown } from '../../functions/core/errors.ts';
import { readOrFaults, sentenceOf } from '../../functions/core/faults.ts';
import { CHECK_INTERVAL_SECONDS } from '../../functions/core/limits.ts';
import { UsageError } from './command.ts';

const whole = (least: number, most: number) => z.int().min(least).max(most);
const seconds = z.number().min(0);

/**
 * By the names of the flags. Defaults are AWS's own (SDK client-elastic-load-balancing-v2 and client-ec2), with one node in
 * each of three zones and an application that is up after half a minute.
 */
const timingFlags = z.object({
  interval: whole(5, 300).default(30),
  // The documents disagree: 5 s, or 6 s for HTTP. What a group really has is read from it (D34).
  timeout: whole(2, 120).default(5),
  healthy: whole(2, 10).default(5),
  unhealthy: whole(2, 10).default(2),
  type: z.enum(['application', 'network']).default('application'),
  zones: whole(1, 10).default(3),
  'nodes-per-zone': whole(1, 100).default(1),
  'deregistration-delay': whole(0, 3600).default(300),
  path: z.string().startsWith('/').optional(),
  matcher: z.string().optional(),
  'check-timeout': whole(1, 30).default(6),
  failures: whole(1, 1000).default(2),
  successes: whole(1, 1000).default(2),
  grace: whole(1, 600).default(300),
  'check-path': z.string().startsWith('/').optional(),
  'check-matcher': z.string().optional(),
  failure: z.enum(['answers', 'silent']).default('answers'),
  'start-up': seconds.default(30),
  phase: seconds.optional(),
  'longest-request': seconds.optional(),
  recovery: seconds.optional(),
  'group-grace': seconds.optional(),
  'scales-on': z.string().optional(),
});
export type TimingSettings = z.output<typeof timingFlags>;

export type TimingValues = Readonly<
  Partial<Record<keyof TimingSettings | 'target-group' | 'check', string | undefined>>
>;

/**
 * What a flag says, else what the named target group and check have, else the default.
 *
 * @throws UsageError that names each flag; TargetGroupUnknown
 */
export async function readTimingSettings(values: TimingValues): Promise<TimingSettings> {
  const { 'target-group': arn, check: checkId, ...flags } = values;
  const given = Object.entries(flags).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, asNumber(text)] as const],
  );
  // Before anything is read from AWS.
  parsed(Object.fromEntries(given));
  return parsed({
    ...(arn !== undefined && (await settingsOfGroup(arn))),
    ...(checkId !== undefined && (await settingsOfCheck(checkId))),
    ...Object.fromEntries(given),
  });
}

const asNumber = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);

function parsed(given: object): TimingSettings {
  const read = readOrFaults(timingFlags, given);
  if (!read.faults) return withPossiblePhase(read.data);
  throw new UsageError(read.faults.map(fault => `--${sentenceOf(fault, '')}`).join('\n'));
}

/** Both checks begin at this phase, so it lies in the interval of each. @throws UsageError */
function withPossiblePhase(settings: TimingSettings): TimingSettings {
  const most = Math.min(settings.interval, CHECK_INTERVAL_SECONDS);
  if (settings.phase !== undefined && settings.phase > most)
    throw new UsageError(`--phase: must be at most ${most}, the shorter interval, not ${settings.phase}`);
  return settings;
}

type Found = Partial<Record<keyof TimingSettings, string | number>>;

async function settingsOfGroup(arn: string): Promise<Found> {
  const [group] = await targetGroups([arn]);
  if (!group) throw new TargetGroupUnknown(`There is no target group ${arn}.`);
  const [balancer] = group.loadBalancerArns;
  if (balancer === undefined)
    throw new UsageError(`${group.name} has no load balancer, so nobody checks its targets.`);
  const { healthCheck } = group;
  if (!healthCheck.enabled) throw new UsageError(`${group.name} has its health checks switched off.`);
  const [types, balancerAttributes, attributes] = await Promise.all([
    loadBalancerTypes([balancer]),
    loadBalancerAttributes(balancer),
    targetGroupAttributes(arn),
  ]);
  const { type = 'application', zones = [] } = types.get(balancer) ?? {};
  const everyZone = effectiveCrossZone(attributes, { type, attributes: balancerAttributes });
  const delay = attributes['deregistration_delay.timeout_seconds'];
  return {
    interval: healthCheck.intervalSeconds,
    timeout: healthCheck.timeoutSeconds,
    healthy: healthCheck.healthyThreshold,
    unhealthy: healthCheck.unhealthyThreshold,
    type,
    // Without cross-zone load balancing a target is checked from its own zone only.
    zones: everyZone ? zones.length : 1,
    ...(delay !== undefined && { 'deregistration-delay': Number(delay) }),
    ...(healthCheck.path !== undefined && { path: healthCheck.path }),
    ...(healthCheck.matcher !== undefined && { matcher: healthCheck.matcher }),
  };
}

async function settingsOfCheck(id: string): Promise<Found> {
  const check = (await applicationStatusChecks([id])).get(id);
  if (!check) throw new UsageError(`There is no application status check ${id}.`);
  return {
    'check-timeout': check.timeoutSeconds,
    failures: check.failureThreshold,
    successes: check.successThreshold,
    grace: check.graceSeconds,
    'check-path': check.path,
    'check-matcher': check.matcher,
  };
}
