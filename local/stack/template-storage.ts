import { z } from 'zod';
import type { DeployedQueue, DeployedTable } from './deployed-template.ts';
import type { ResourceStatement } from './permissions.ts';
import { readResourcePolicy } from './policy-document.ts';
import { ignored, json, parseProperties, text } from './property-schemas.ts';
import type { Resource } from './sam-resources.ts';
import type { TemplateResources } from './template-resources.ts';

const AttributeType = z.enum(['S', 'N', 'B']);

const TableProperties = z.strictObject({
  TableName: text.optional(),
  AttributeDefinitions: z.array(z.strictObject({ AttributeName: text, AttributeType })),
  KeySchema: z.array(z.strictObject({ AttributeName: text, KeyType: z.enum(['HASH', 'RANGE']) })),
  BillingMode: z.literal('PAY_PER_REQUEST'),
  DeletionProtectionEnabled: ignored,
  PointInTimeRecoverySpecification: ignored,
  SSESpecification: ignored,
  TableClass: ignored,
  // D16: no decision relies on TTL deletion, which takes days on AWS and never happens here.
  TimeToLiveSpecification: ignored,
  Tags: ignored,
});

const SimpleTableProperties = z.strictObject({
  TableName: text.optional(),
  PrimaryKey: z
    .strictObject({ Name: text, Type: z.enum(['String', 'Number', 'Binary']) })
    .default({ Name: 'id', Type: 'String' }),
  PointInTimeRecoverySpecification: ignored,
  SSESpecification: ignored,
  Tags: ignored,
});

const SHORT_TYPES = { String: 'S', Number: 'N', Binary: 'B' } as const;

export function readTable(resource: Resource, template: TemplateResources): DeployedTable {
  const { logicalId } = resource;
  const table =
    resource.type === 'AWS::DynamoDB::Table'
      ? parseProperties(TableProperties, template.resolve(resource.properties, logicalId), logicalId)
      : simpleTable(resource, template);
  const { name, arn } = template.naming(logicalId);
  const partitionKey = table.KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName;
  if (partitionKey === undefined) throw new Error(`${logicalId}: the key schema has no HASH key`);
  return {
    logicalId,
    name,
    arn: arn('dynamodb', `table/${name}`),
    create: {
      TableName: name,
      AttributeDefinitions: table.AttributeDefinitions,
      KeySchema: table.KeySchema,
      BillingMode: table.BillingMode,
    },
    partitionKey,
  };
}

function simpleTable({ logicalId, properties }: Resource, template: TemplateResources) {
  const { PrimaryKey } = parseProperties(
    SimpleTableProperties,
    template.resolve(properties, logicalId),
    logicalId,
  );
  return TableProperties.parse({
    AttributeDefinitions: [{ AttributeName: PrimaryKey.Name, AttributeType: SHORT_TYPES[PrimaryKey.Type] }],
    KeySchema: [{ AttributeName: PrimaryKey.Name, KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
}

const QueueProperties = z.strictObject({
  QueueName: text.optional(),
  KmsMasterKeyId: ignored,
  KmsDataKeyReusePeriodSeconds: ignored,
  MessageRetentionPeriod: ignored,
  SqsManagedSseEnabled: ignored,
  Tags: ignored,
  VisibilityTimeout: ignored,
});

const QueuePolicyProperties = z.strictObject({ Queues: z.array(text), PolicyDocument: json });

export function readQueues(template: TemplateResources): readonly DeployedQueue[] {
  const policies = template.ofType('AWS::SQS::QueuePolicy').map(({ logicalId, properties }) => {
    const policy = parseProperties(QueuePolicyProperties, template.resolve(properties, logicalId), logicalId);
    return { queues: policy.Queues, statements: readResourcePolicy(policy.PolicyDocument, logicalId) };
  });
  return template.ofType('AWS::SQS::Queue').map(({ logicalId, properties }) => {
    parseProperties(QueueProperties, template.resolve(properties, logicalId), logicalId);
    const { name, arn } = template.naming(logicalId);
    const url = template.ref(logicalId, 'the stack');
    return {
      logicalId,
      name,
      arn: arn('sqs', name),
      url,
      policy: policies.filter(({ queues }) => queues.includes(url)).flatMap(({ statements }) => statements),
    };
  });
}

const TopicPolicyProperties = z.strictObject({ Topics: z.array(text), PolicyDocument: json });

export function readTopicPolicies(
  template: TemplateResources,
): ReadonlyMap<string, readonly ResourceStatement[]> {
  return new Map(
    template.ofType('AWS::SNS::TopicPolicy').flatMap(({ logicalId, properties }) => {
      const resolved = template.resolve(properties, logicalId);
      const { Topics, PolicyDocument } = parseProperties(TopicPolicyProperties, resolved, logicalId);
      const statements = readResourcePolicy(PolicyDocument, logicalId);
      return Topics.map(topic => [topic, statements] as const);
    }),
  );
}
