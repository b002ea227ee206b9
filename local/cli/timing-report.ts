import { contradictionsOf } from '../../functions/core/domain/contradictions.ts';
import {
  type ApplicationTiming,
  type CheckTiming,
  type DetectionTiming,
  type TargetGroupTiming,
  timeCheck,
  timeTargetGroup,
} from '../../functions/core/domain/timing.ts';
import type { TimingSettings } from './timing-settings.ts';

/** What `quiesce timing --json` prints. Every time is in seconds. */
export interface TimingReport {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.timing/1';
  readonly application: ApplicationTiming;
  readonly targetGroup: TargetGroupTiming & { readonly times: DetectionTiming };
  readonly check: CheckTiming & { readonly times: DetectionTiming };
  /** Settings that cannot both be meant, in sentences. */
  readonly contradictions: readonly string[];
}

/** @param names how the target group and the check are called in sentences */
export function reportOnTiming(
  settings: TimingSettings,
  names: { readonly group: string; readonly check: string },
): TimingReport {
  const application: ApplicationTiming = {
    startUpSeconds: settings['start-up'],
    failure: settings.failure,
    ...(settings.phase !== undefined && { phaseSeconds: settings.phase }),
  };
  const targetGroup: TargetGroupTiming = {
    type: settings.type,
    intervalSeconds: settings.interval,
    timeoutSeconds: settings.timeout,
    healthyThreshold: settings.healthy,
    unhealthyThreshold: settings.unhealthy,
    nodes: settings.zones * settings['nodes-per-zone'],
  };
  const check: CheckTiming = {
    timeoutSeconds: settings['check-timeout'],
    failureThreshold: settings.failures,
    successThreshold: settings.successes,
    graceSeconds: settings.grace,
  };
  return {
    format: 'quiesce.timing/1',
    application,
    targetGroup: { ...targetGroup, times: timeTargetGroup(targetGroup, application) },
    check: { ...check, times: timeCheck(check, application) },
    contradictions: contradictionsOf({
      groups: [
        {
          ...targetGroup,
          name: names.group,
          path: settings.path,
          matcher: settings.matcher,
          deregistrationDelaySeconds: settings['deregistration-delay'],
        },
      ],
      checks: [
        {
          ...check,
          name: names.check,
          path: settings['check-path'],
          matcher: settings['check-matcher'],
        },
      ],
      application: factsOf(settings),
    }),
  };
}

function factsOf(settings: TimingSettings) {
  const { recovery, 'longest-request': longest, 'group-grace': grace, 'scales-on': metrics } = settings;
  return {
    startUpSeconds: settings['start-up'],
    ...(longest !== undefined && { longestRequestSeconds: longest }),
    ...(recovery !== undefined && { recoverySeconds: recovery }),
    ...(grace !== undefined && { groupGraceSeconds: grace }),
    ...(metrics !== undefined && { scalesOn: metrics.split(',') }),
  };
}
