import type { DetectionTiming, Span } from '../../functions/core/domain/timing.ts';
import { AUTO_SCALING_LOOKS_SECONDS, CHECK_INTERVAL_SECONDS } from '../../functions/core/limits.ts';
import { counted, table, wrap } from './format.ts';
import type { TimingReport } from './timing-report.ts';

const WIDTH = 100;

/** Load balancer and application status check side by side, as a person reads it. */
export function describeTiming({ application, targetGroup, check, contradictions }: TimingReport): string {
  const { startUpSeconds, failure, phaseSeconds } = application;
  const answers = failure === 'answers' ? 'answers at once with a failure' : 'does not answer at all';
  const phase = phaseSeconds === undefined ? '' : `, and the next probe goes out ${phaseSeconds} s later`;
  const paragraphs = [
    [
      ...wrap(
        `Target group: a probe every ${targetGroup.intervalSeconds} s from ${counted(targetGroup.nodes, 'node')} of a load balancer, time-out ${targetGroup.timeoutSeconds} s, unhealthy after ${targetGroup.unhealthyThreshold}, healthy after ${targetGroup.healthyThreshold}.`,
        WIDTH,
      ),
      ...wrap(
        `Check: a probe every ${CHECK_INTERVAL_SECONDS} s from 2 checkers, time-out ${check.timeoutSeconds} s, failed after ${check.failureThreshold}, passed after ${check.successThreshold}, grace ${check.graceSeconds} s.`,
        WIDTH,
      ),
      ...wrap(
        `The application ${answers}${phase}; a new instance is up ${startUpSeconds} s after boot.`,
        WIDTH,
      ),
    ],
    table([
      ['', 'target group: best', 'expected', 'worst', 'check: best', 'expected', 'worst'],
      ...ROWS.map(([event, member]) => [
        event,
        ...shown(targetGroup.times[member]),
        ...shown(check.times[member]),
      ]),
    ]),
    wrap(
      `In minutes and seconds, from the failure, the last two from the recovery. The verdict of a target group counts for Auto Scaling only with ELB among the group's health check types; how often Auto Scaling looks is unpublished, and once in ${AUTO_SCALING_LOOKS_SECONDS} s is assumed.`,
      WIDTH,
    ),
    contradictions.flatMap(hanging),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

const ROWS: readonly (readonly [event: string, member: keyof DetectionTiming])[] = [
  ['unhealthy; impaired', 'failed'],
  ['  shown by a Describe call', 'failedShown'],
  ['Auto Scaling terminates it', 'terminated'],
  ['another is healthy; ok', 'replaced'],
  ['healthy; passed again', 'recovered'],
  ['  shown by a Describe call', 'recoveredShown'],
];

const shown = ({ best, expected, worst }: Span): string[] => [best, expected, worst].map(minutes);

/** `5:10`. */
function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** What contradicts, as an entry of a list. */
export const hanging = (sentence: string): readonly string[] =>
  wrap(sentence, WIDTH - 2).map((line, index) => `${index === 0 ? '! ' : '  '}${line}`);
