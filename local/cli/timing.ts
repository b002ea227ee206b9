import { type Command, exitCode, jsonOption, readOptions } from './command.ts';
import { document, targetGroupName } from './format.ts';
import { readOnly } from './reading-only.ts';
import { reportOnTiming } from './timing-report.ts';
import { readTimingSettings } from './timing-settings.ts';
import { describeTiming } from './timing-text.ts';

const text = (value: string, about: string) => ({ type: 'string', value, about }) as const;

const options = {
  'target-group': text(
    'ARN',
    'The target group whose settings are read; a flag says what it would be otherwise.',
  ),
  check: text('ID', 'The application status check whose settings are read, asc-...; likewise.'),
  interval: text('S', 'Seconds between two probes of one node; 30 unless given or read.'),
  timeout: text('S', 'Seconds that a node waits for an answer; 5 unless given or read.'),
  healthy: text('N', 'Successes in a row that make a target healthy; 5 unless given or read.'),
  unhealthy: text('N', 'Failures in a row that make a target unhealthy; 2 unless given or read.'),
  type: {
    ...text('TYPE', 'The kind of load balancer: application unless given or read.'),
    choices: ['application', 'network'],
  },
  zones: text('N', 'Zones from which a target is checked; 3 unless given or read.'),
  'nodes-per-zone': text(
    'N',
    'Nodes of the load balancer in each zone, which AWS does not tell; 1 unless given.',
  ),
  'deregistration-delay': text('S', 'Seconds for which a target drains; 300 unless given or read.'),
  path: text('PATH', 'The path that the load balancer asks.'),
  matcher: text('CODES', 'The codes that the load balancer takes for health, such as 200-299.'),
  'check-timeout': text('S', 'Seconds that the check waits for an answer; 6 unless given or read.'),
  failures: text('N', 'Failures in a row that make the check failed; 2 unless given or read.'),
  successes: text('N', 'Successes in a row that make the check passed; 2 unless given or read.'),
  grace: text('S', "The check's initialization grace period, from launch; 300 unless given or read."),
  'check-path': text('PATH', 'The path that the check asks.'),
  'check-matcher': text('CODES', 'The codes that the check takes for health.'),
  failure: {
    ...text(
      'KIND',
      'How a broken application meets a probe: answers (at once, with an error) unless given, or silent.',
    ),
    choices: ['answers', 'silent'],
  },
  'start-up': text('S', 'Seconds from boot until the application answers; 30 unless given.'),
  phase: text(
    'S',
    'Seconds from the failure to the next probe, where that is known, within the shorter interval; any unless given.',
  ),
  'longest-request': text('S', 'Seconds that the longest request takes.'),
  recovery: text(
    'S',
    'Seconds for which the application itself, after a recovery, still says that it is not well.',
  ),
  'group-grace': text('S', "The Auto Scaling group's health check grace period."),
  'scales-on': text('METRIC,METRIC', 'The metrics by which the group is scaled.'),
  json: {
    ...jsonOption,
    about: 'Print one JSON document (TimingReport in local/cli/timing-report.ts) and nothing else.',
  },
} as const;

export const timingCommand: Command = {
  name: 'timing',
  about:
    'Says how long it takes until a failure is found, by a load balancer and by an application status check, until Auto Scaling has replaced the instance, and until a recovery is seen; and which settings contradict each other. Settings are given, or read from an account with Describe calls.',
  options,
  examples: [
    'quiesce timing --interval 10 --healthy 3 --grace 90',
    'quiesce timing --target-group arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef --check asc-0123456789abcdef0',
  ],
  endsWith: {
    ok: 'It is said, and no setting contradicts another.',
    failed: 'Settings contradict each other: they are named. Or what was named cannot be read.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('timing', options, args);
  const { json, ...named } = values;
  const { 'target-group': group, check } = named;
  if (group !== undefined || check !== undefined) readOnly();
  const report = reportOnTiming(await readTimingSettings(named), {
    group: group === undefined ? 'Target group' : targetGroupName(group),
    check: check ?? 'Check',
  });
  process.stdout.write(json ? document(report) : describeTiming(report));
  return report.contradictions.length === 0 ? exitCode.ok : exitCode.failed;
}
