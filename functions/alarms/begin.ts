import * as z from 'zod/mini';
import { startExecution } from '../core/aws/step-functions.ts';
import { executionName } from '../core/naming.ts';
import { setting } from '../core/settings.ts';
import { step } from '../core/step.ts';
import { nowSeconds } from '../core/time.ts';

/** It is time, a group has launched or ended an instance, or somebody has changed a check: only that it happened matters. */
const trigger = z.object({ source: z.enum(['aws.events', 'aws.autoscaling', 'aws.ec2']) });

/** Begins a reconciliation of the alarms, one a minute at the most: hundreds of instances may be launched at once. */
export const handler = step(trigger, async ({ source }) => {
  const minute = Math.floor(nowSeconds() / 60);
  const name = executionName('alarms', `${minute}`);
  return {
    began: (await startExecution(setting('RECONCILE_ALARMS_ARN'), name, { minute })) === 'started',
    source,
  };
});
