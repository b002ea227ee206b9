import * as z from 'zod/mini';
import { tellOfAlarm } from '../core/alarms/tell-of-alarm.ts';
import { INSTANCE_ALARMS } from '../core/limits.ts';
import { optInTag, setting } from '../core/settings.ts';
import { step } from '../core/step.ts';

/** What CloudWatch hands to a function that is an alarm's action. */
const alarmAction = z.object({
  alarmData: z.object({
    alarmName: z.string(),
    alarmContributor: z.optional(z.object({ attributes: z.record(z.string(), z.string()) })),
    state: z.object({
      value: z.enum(['ALARM', 'OK']),
      reason: z.string(),
      timestamp: z.string(),
    }),
  }),
});

/** Has people told of an alarm of ours, with what is wrong. */
export const handler = step(alarmAction, async ({ alarmData }, requestId) => {
  const { alarmName, alarmContributor, state } = alarmData;
  const instanceId = alarmContributor?.attributes[setting('STATUS_METRIC_DIMENSION')];
  const told = await tellOfAlarm(
    {
      alarm: alarmName,
      state: state.value,
      reason: state.reason,
      at: Math.floor(Date.parse(state.timestamp) / 1000),
      ...(instanceId !== undefined && { instanceId }),
    },
    optInTag(setting('OPT_IN_TAG_VALUE')),
    {
      prefix: setting('ALARM_PREFIX'),
      instancesPerGroup: Number(setting('ALARM_INSTANCES_PER_GROUP')),
      instanceAlarms: INSTANCE_ALARMS,
    },
    requestId,
  );
  return { told };
});
