import { z } from 'zod';
import type { DeployedAlarm } from './deployed-template.ts';
import { ignored, parseProperties, text, whole } from './property-schemas.ts';
import type { Resource } from './sam-resources.ts';
import type { TemplateResources } from './template-resources.ts';

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform(value => value === 'true')]);
const number = z.coerce.number();
const Dimensions = z.array(z.strictObject({ Name: text, Value: text })).optional();

const common = {
  AlarmName: text.optional(),
  AlarmDescription: text.optional(),
  ActionsEnabled: flag.optional(),
  AlarmActions: z.array(text).optional(),
  OKActions: z.array(text).optional(),
  InsufficientDataActions: z.array(text).optional(),
  // No decision of the account's alarms reads their tags.
  Tags: ignored,
};

const MetricStat = z.strictObject({
  Metric: z.strictObject({ Namespace: text, MetricName: text, Dimensions }),
  Period: whole,
  Stat: text,
});

const AlarmProperties = z.strictObject({
  ...common,
  Namespace: text.optional(),
  MetricName: text.optional(),
  Dimensions,
  Statistic: z.enum(['SampleCount', 'Average', 'Sum', 'Minimum', 'Maximum']).optional(),
  Period: whole.optional(),
  EvaluationPeriods: whole,
  DatapointsToAlarm: whole.optional(),
  Threshold: number,
  ComparisonOperator: z.enum([
    'GreaterThanOrEqualToThreshold',
    'GreaterThanThreshold',
    'LessThanOrEqualToThreshold',
    'LessThanThreshold',
  ]),
  TreatMissingData: text.optional(),
  Metrics: z
    .array(
      z.strictObject({
        Id: text,
        Expression: text.optional(),
        Label: text.optional(),
        MetricStat: MetricStat.optional(),
        Period: whole.optional(),
        ReturnData: flag.optional(),
      }),
    )
    .optional(),
});

const CompositeProperties = z.strictObject({ ...common, AlarmRule: text });

/** The alarms of a template in an order in which they can be created: composite ones after those that they name. */
export function readAlarms(template: TemplateResources): readonly DeployedAlarm[] {
  const metric = template.ofType('AWS::CloudWatch::Alarm').map((resource): DeployedAlarm => {
    const { Tags: _tags, ...input } = propertiesOf(AlarmProperties, resource, template);
    return { logicalId: resource.logicalId, kind: 'metric', input };
  });
  const composite = template.ofType('AWS::CloudWatch::CompositeAlarm').map(resource => {
    const { Tags: _tags, ...input } = propertiesOf(CompositeProperties, resource, template);
    return { logicalId: resource.logicalId, kind: 'composite', input } as const;
  });
  const ready: DeployedAlarm[] = [];
  let waiting = composite;
  while (waiting.length > 0) {
    const names = waiting.map(({ input }) => input.AlarmName);
    const next = waiting.filter(({ input }) => !names.some(name => namesAlarm(input.AlarmRule, name)));
    if (next.length === 0) throw new Error(`${waiting[0]?.logicalId}: composite alarms name each other`);
    ready.push(...next);
    waiting = waiting.filter(alarm => !next.includes(alarm));
  }
  return [...metric, ...ready];
}

function propertiesOf<Schema extends z.ZodType<{ readonly AlarmName?: string | undefined }>>(
  schema: Schema,
  { logicalId, properties }: Resource,
  template: TemplateResources,
): z.output<Schema> & { readonly AlarmName: string } {
  const read = parseProperties(schema, template.resolve(properties, logicalId), logicalId);
  return { ...read, AlarmName: template.naming(logicalId).name };
}

/** Rules give an alarm by its name or by its ARN, in quotes or not. */
const namesAlarm = (rule: string, name: string): boolean =>
  rule.split(/[\s()"']+/).some(word => word === name || word.endsWith(`:alarm:${name}`));
