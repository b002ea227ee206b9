/** The tag that a resource carries when Quiesce may act on it (D19). */
export interface OptInTag {
  readonly key: string;
  readonly value: string;
}

/** A constant, because IAM's condition keys, which carry it, cannot be parameters. */
export const OPT_IN_TAG_KEY = 'quiesce';

/**
 * The tag, with the value `true`, of a security group that is to be deleted when the checks that were asked from it are gone.
 * It has to carry the opt-in tag besides.
 */
export const DELETE_WHEN_FREE_KEY = 'quiesce-delete-when-free';

/** The value is a parameter of the stack. */
export const optInTag = (value: string): OptInTag => ({ key: OPT_IN_TAG_KEY, value });

type Setting =
  | 'LEDGER_TABLE'
  | 'BEFORE_DEPLOY_ARN'
  | 'AFTER_DEPLOY_ARN'
  | 'UNDO_RUN_ARN'
  | 'PROMOTE_CHECK_ARN'
  | 'SERVE_RESOURCE_ARN'
  | 'RETIRE_CHECK_ARN'
  | 'TELL_PEOPLE_ARN'
  | 'STACK_ID'
  | 'ALARM_PREFIX'
  | 'LOOP_BREAKER'
  | 'RECONCILE_ALARMS_ARN'
  | 'STATUS_METRIC_DIMENSION'
  | 'ALARM_PREFIX'
  | 'CHECK_QUOTAS'
  | 'ALARM_INSTANCES_PER_GROUP'
  | 'OPT_IN_TAG_VALUE'
  | 'HOOK_POLICY'
  | 'HOOK_FLEET'
  | 'OPT_IN_TAG_VALUE';

/**
 * One of the function's own settings, from its environment (template.yaml sets them).
 *
 * @throws Error when it is missing: the deployment is broken, not the request
 */
export function setting(name: Setting): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set: template.yaml has to set it.`);
  return value;
}
