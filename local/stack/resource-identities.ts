import { GENERATED_ROLE } from './sam-resources.ts';

/** What a resource of the simulated account is called. */
export interface Naming {
  readonly name: string;
  readonly region: string;
  readonly accountId: string;
  arn(service: string, rest: string): string;
}

/** How one type of resource is named, and what Ref and Fn::GetAtt give for it. */
export interface ResourceType {
  /** The property that overrides the generated name. */
  readonly nameProperty?: string;
  readonly ref: (naming: Naming) => string;
  readonly attributes?: Readonly<Record<string, (naming: Naming) => string>>;
  /** Present for types that only have an identity here: why nothing behind them is missed. */
  readonly inert?: string;
}

const name = (naming: Naming): string => naming.name;

const arn =
  (service: string, prefix = '') =>
  (naming: Naming): string =>
    naming.arn(service, `${prefix}${naming.name}`);

/** IAM is global: its ARNs name no Region. */
const iamArn =
  (kind: 'role' | 'policy') =>
  (naming: Naming): string =>
    naming.arn('iam', `${kind}/${naming.name}`).replace(`:${naming.region}:`, '::');

const queueUrl = ({ region, accountId, name: queue }: Naming): string =>
  `https://sqs.${region}.amazonaws.com/${accountId}/${queue}`;

const functionUrl = ({ region, name: id }: Naming): string =>
  `https://${id.toLowerCase()}.lambda-url.${region}.on.aws/`;

const table: ResourceType = {
  nameProperty: 'TableName',
  ref: name,
  attributes: { Arn: arn('dynamodb', 'table/') },
};

const alarm: ResourceType = {
  nameProperty: 'AlarmName',
  ref: name,
  attributes: { Arn: arn('cloudwatch', 'alarm:') },
};

const attachment: ResourceType = { ref: name };

/** Every type of resource that a template may have, custom resources aside. */
export const RESOURCE_TYPES: Readonly<Record<string, ResourceType>> = {
  'AWS::Serverless::Function': {
    nameProperty: 'FunctionName',
    ref: name,
    attributes: { Arn: arn('lambda', 'function:') },
  },
  'AWS::Serverless::StateMachine': {
    nameProperty: 'Name',
    ref: arn('states', 'stateMachine:'),
    attributes: { Arn: arn('states', 'stateMachine:'), Name: name },
  },
  'AWS::Serverless::SimpleTable': table,
  'AWS::DynamoDB::Table': table,
  'AWS::Events::Rule': {
    nameProperty: 'Name',
    ref: name,
    attributes: { Arn: arn('events', 'rule/') },
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    ref: queueUrl,
    attributes: { Arn: arn('sqs'), QueueName: name, QueueUrl: queueUrl },
  },
  'AWS::SQS::QueuePolicy': attachment,
  'AWS::Lambda::Permission': attachment,
  'AWS::Lambda::Url': { ref: name, attributes: { FunctionUrl: functionUrl } },
  'AWS::IAM::Role': { nameProperty: 'RoleName', ref: name, attributes: { Arn: iamArn('role') } },
  [GENERATED_ROLE]: { ref: name, attributes: { Arn: iamArn('role') } },
  'AWS::IAM::Policy': attachment,
  'AWS::IAM::ManagedPolicy': { nameProperty: 'ManagedPolicyName', ref: iamArn('policy') },
  'AWS::CloudWatch::Alarm': alarm,
  'AWS::CloudWatch::CompositeAlarm': alarm,
  'AWS::CloudWatch::Dashboard': {
    nameProperty: 'DashboardName',
    ref: name,
    inert: 'it only shows',
  },
  'AWS::KMS::Key': {
    ref: name,
    attributes: { Arn: arn('kms', 'key/'), KeyId: name },
    inert: 'nothing is encrypted in a simulation',
  },
  'AWS::KMS::Alias': { nameProperty: 'AliasName', ref: name, inert: 'nothing is encrypted in a simulation' },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    ref: name,
    attributes: { Arn: naming => naming.arn('logs', `log-group:${naming.name}:*`) },
    inert: 'log lines are kept by the stack, not by a log group',
  },
  'AWS::Logs::MetricFilter': { ref: name, inert: 'log lines make no metrics here' },
  'AWS::Logs::QueryDefinition': { ref: name, inert: 'it only shows' },
  'AWS::SNS::Subscription': { ref: arn('sns'), inert: 'nobody is notified in a simulation' },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    ref: arn('sns'),
    attributes: { TopicArn: arn('sns'), TopicName: name },
    inert: 'what is published to it is kept, and nobody is sent it',
  },
  'AWS::SNS::TopicPolicy': attachment,
  'AWS::SSM::Parameter': { nameProperty: 'Name', ref: name, inert: 'it tells other stacks our names' },
};

export const isCustomResource = (type: string): boolean =>
  type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource';
