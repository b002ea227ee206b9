import { z } from 'zod';
import type { DeployedRule, Role, RuleTarget, RuleTrigger, TargetInput } from './deployed-template.ts';
import type { Json } from './json.ts';
import { ignored, jsonObject, parseProperties, text, whole } from './property-schemas.ts';
import type { Resource } from './sam-resources.ts';
import { isSimplePath, variablesOf } from './target-input.ts';
import type { TemplateResources } from './template-resources.ts';

const TargetProperties = z.strictObject({
  Id: text,
  Arn: text,
  RoleArn: text.optional(),
  Input: text.optional(),
  InputPath: text.optional(),
  InputTransformer: z
    .strictObject({ InputPathsMap: z.record(z.string(), text).default({}), InputTemplate: text })
    .optional(),
  // EventBridge's own defaults: 24 hours and 185 attempts.
  RetryPolicy: z
    .strictObject({
      MaximumEventAgeInSeconds: whole.default(86_400),
      MaximumRetryAttempts: whole.default(185),
    })
    .prefault({}),
  DeadLetterConfig: z.strictObject({ Arn: text }).optional(),
});

const RuleProperties = z.strictObject({
  Name: text.optional(),
  EventPattern: jsonObject.optional(),
  ScheduleExpression: text.optional(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  EventBusName: z.literal('default').optional(),
  Targets: z.array(TargetProperties).min(1),
  Description: ignored,
  Tags: ignored,
});

export function readRule(
  { logicalId, properties }: Resource,
  template: TemplateResources,
  roles: ReadonlyMap<string, Role>,
): DeployedRule {
  const rule = parseProperties(RuleProperties, template.resolve(properties, logicalId), logicalId);
  const { name } = template.naming(logicalId);
  return {
    logicalId,
    name,
    arn: template.naming(logicalId).arn('events', `rule/${name}`),
    enabled: rule.State === 'ENABLED',
    trigger: triggerOf(rule, logicalId),
    targets: rule.Targets.map(target => readTarget(target, logicalId, roles)),
  };
}

function triggerOf(
  { EventPattern, ScheduleExpression }: z.infer<typeof RuleProperties>,
  logicalId: string,
): RuleTrigger {
  if (EventPattern && ScheduleExpression === undefined) return { kind: 'pattern', pattern: EventPattern };
  if (!EventPattern && ScheduleExpression !== undefined)
    return { kind: 'schedule', expression: ScheduleExpression };
  throw new Error(`${logicalId}: a rule with either a pattern or a schedule is expected`);
}

function readTarget(
  target: z.infer<typeof TargetProperties>,
  logicalId: string,
  roles: ReadonlyMap<string, Role>,
): RuleTarget {
  const role = target.RoleArn === undefined ? undefined : roles.get(target.RoleArn);
  if (target.RoleArn !== undefined && !role)
    throw new Error(`${logicalId}: the role ${target.RoleArn} is not of this template`);
  return {
    id: target.Id,
    arn: target.Arn,
    input: inputOf(target, logicalId),
    maximumRetryAttempts: target.RetryPolicy.MaximumRetryAttempts,
    maximumEventAgeSeconds: target.RetryPolicy.MaximumEventAgeInSeconds,
    deadLetterArn: target.DeadLetterConfig?.Arn,
    role,
  };
}

function inputOf(
  { Input, InputPath, InputTransformer }: z.infer<typeof TargetProperties>,
  logicalId: string,
): TargetInput {
  const given = [Input, InputPath, InputTransformer].filter(part => part !== undefined);
  if (given.length > 1)
    throw new Error(`${logicalId}: only one of Input, InputPath, InputTransformer is allowed`);
  if (Input !== undefined) return { kind: 'constant', value: parseJson(Input, logicalId) };
  const paths = InputTransformer?.InputPathsMap ?? {};
  for (const path of [...(InputPath === undefined ? [] : [InputPath]), ...Object.values(paths)])
    if (!isSimplePath(path)) throw new Error(`${logicalId}: the JSON path ${path} is not implemented`);
  if (InputPath !== undefined) return { kind: 'path', path: InputPath };
  if (!InputTransformer) return { kind: 'event' };
  for (const variable of variablesOf(InputTransformer.InputTemplate))
    if (!Object.hasOwn(paths, variable))
      throw new Error(`${logicalId}: <${variable}> is not in InputPathsMap`);
  return { kind: 'transformer', paths, template: InputTransformer.InputTemplate };
}

function parseJson(input: string, logicalId: string): Json {
  try {
    return JSON.parse(input);
  } catch {
    throw new Error(`${logicalId}: Input is no JSON`);
  }
}
