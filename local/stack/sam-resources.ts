import { isObject, type Json, type JsonObject } from './json.ts';

/** A resource as the template writes it, with Globals merged in and intrinsics still inside. */
export interface Resource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  readonly metadata: JsonObject;
}

/** A role whose Policies are SAM's: names, ARNs and policy documents. */
export const GENERATED_ROLE = 'SAM::GeneratedRole';

/**
 * What SAM makes of one resource: a function or machine without Policies, Events and FunctionUrlConfig, and the plain
 * resources that stand for them, under SAM's own logical ids. Other resources stay as they are.
 */
export function expandSam(resource: Resource): readonly Resource[] {
  if (resource.type === 'AWS::Serverless::Function') return expandFunction(resource);
  if (resource.type === 'AWS::Serverless::StateMachine') return expandMachine(resource);
  return [resource];
}

function expandFunction({ properties, ...resource }: Resource): readonly Resource[] {
  const { Policies = [], Events = {}, FunctionUrlConfig, PermissionsBoundary: _, ...own } = properties;
  const { logicalId } = resource;
  const target = { Ref: own.AutoPublishAlias === undefined ? logicalId : `${logicalId}.Alias` };
  const arn = own.AutoPublishAlias === undefined ? getArn(logicalId) : target;
  const role = withRole(logicalId, own, [...destinationPolicies(own, logicalId), ...listed(Policies)]);
  const events = eventsOf(Events, logicalId).flatMap(([event, rule]) => [
    eventRule(`${logicalId}${event}`, rule, { Arn: arn }),
    plain(`${logicalId}${event}Permission`, 'AWS::Lambda::Permission', {
      Action: 'lambda:InvokeFunction',
      FunctionName: target,
      Principal: 'events.amazonaws.com',
      SourceArn: getArn(`${logicalId}${event}`),
    }),
  ]);
  return [
    { ...resource, properties: role.properties },
    ...role.generated,
    ...urlOf(FunctionUrlConfig, logicalId, target),
    ...events,
  ];
}

function expandMachine({ properties, ...resource }: Resource): readonly Resource[] {
  const { Policies = [], Events = {}, PermissionsBoundary: _, ...own } = properties;
  const { logicalId } = resource;
  const role = withRole(logicalId, own, listed(Policies));
  const events = eventsOf(Events, logicalId).flatMap(([event, rule]) => {
    const ruleId = `${logicalId}${event}`;
    return [
      eventRule(ruleId, rule, { Arn: { Ref: logicalId }, RoleArn: getArn(`${ruleId}Role`) }),
      plain(`${ruleId}Role`, GENERATED_ROLE, {
        Policies: [allow('states:StartExecution', { Ref: logicalId })],
      }),
    ];
  });
  return [{ ...resource, properties: role.properties }, ...role.generated, ...events];
}

/** With the role that it names, or with one that SAM generates from its policies, which it would ignore beside a role. */
function withRole(
  logicalId: string,
  own: JsonObject,
  policies: readonly Json[],
): { readonly properties: JsonObject; readonly generated: readonly Resource[] } {
  if (own.Role !== undefined && policies.length > 0)
    throw new Error(`${logicalId}: SAM ignores Policies and destinations' permissions beside a Role`);
  if (own.Role !== undefined) return { properties: own, generated: [] };
  return {
    properties: { ...own, Role: getArn(`${logicalId}Role`) },
    generated: [plain(`${logicalId}Role`, GENERATED_ROLE, { Policies: policies })],
  };
}

/** SAM lets the function send to its own destinations. */
function destinationPolicies({ EventInvokeConfig }: JsonObject, logicalId: string): readonly Json[] {
  const destinations = isObject(EventInvokeConfig) ? EventInvokeConfig.DestinationConfig : undefined;
  const failure = isObject(destinations) ? destinations.OnFailure : undefined;
  if (!isObject(failure) || failure.Destination === undefined) return [];
  if (failure.Type !== 'SQS')
    throw new Error(`${logicalId}: on-failure destinations of type ${failure.Type} are not implemented`);
  return [allow('sqs:SendMessage', failure.Destination)];
}

function urlOf(config: Json | undefined, logicalId: string, target: Json): readonly Resource[] {
  if (config === undefined) return [];
  if (!isObject(config)) throw new Error(`${logicalId}: FunctionUrlConfig has to be a map`);
  return [plain(`${logicalId}Url`, 'AWS::Lambda::Url', { ...config, TargetFunctionArn: target })];
}

function eventsOf(events: Json, logicalId: string): readonly (readonly [string, JsonObject])[] {
  if (!isObject(events)) throw new Error(`${logicalId}: Events has to be a map`);
  return Object.entries(events).map(([name, event]) => {
    const where = `${logicalId}, event ${name}`;
    if (!isObject(event) || typeof event.Type !== 'string' || !isObject(event.Properties))
      throw new Error(`${where}: Type and Properties are needed`);
    if (event.Type !== 'Schedule' && event.Type !== 'EventBridgeRule')
      throw new Error(`${where}: the type ${event.Type} is not implemented`);
    return [name, event.Properties];
  });
}

/** The rule under its plain names; members that are not SAM's are kept, so that they are refused with the rest. */
function eventRule(logicalId: string, event: JsonObject, target: JsonObject): Resource {
  const { Pattern, Schedule, RuleName, Target = {}, ...members } = event;
  const { Input, InputPath, InputTransformer, RetryPolicy, DeadLetterConfig, ...others } = members;
  if (!isObject(Target)) throw new Error(`${logicalId}: Target has to be a map`);
  const shape = { Input, InputPath, InputTransformer, RetryPolicy, DeadLetterConfig };
  return plain(
    logicalId,
    'AWS::Events::Rule',
    given({
      Name: RuleName,
      ...others,
      EventPattern: Pattern,
      ScheduleExpression: Schedule,
      Targets: [given({ Id: `${logicalId}Target`, ...Target, ...target, ...shape })],
    }),
  );
}

const plain = (logicalId: string, type: string, properties: JsonObject): Resource => ({
  logicalId,
  type,
  properties,
  metadata: {},
});

const getArn = (logicalId: string): JsonObject => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });

const allow = (action: string, resource: Json): JsonObject => ({
  Version: '2012-10-17',
  Statement: [{ Sid: 'GeneratedBySam', Effect: 'Allow', Action: action, Resource: resource }],
});

const listed = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

const given = (members: { readonly [name: string]: Json | undefined }): JsonObject =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
