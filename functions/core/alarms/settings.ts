import type { AlarmSettings } from '../domain/alarms.ts';
import { COMPOSITE_CHILDREN, COMPOSITE_RULE_LENGTH, INSTANCE_ALARMS } from '../limits.ts';
import type { AlarmParameters } from '../payloads.ts';

/** The stack's parameters, and what CloudWatch permits. */
export const alarmSettings = (parameters: AlarmParameters): AlarmSettings => ({
  ...parameters,
  instanceAlarms: INSTANCE_ALARMS,
  childrenPerRule: COMPOSITE_CHILDREN,
  ruleLength: COMPOSITE_RULE_LENGTH,
});
