import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DeployedFunction, DeployedMachine, FunctionUrl, Invoker, Role } from './deployed-template.ts';
import type { JsonObject } from './json.ts';
import { ignored, jsonObject, parseProperties, text, whole } from './property-schemas.ts';
import type { Resource } from './sam-resources.ts';
import type { TemplateResources } from './template-resources.ts';
import { readYaml } from './template-text.ts';

/** What functions and machines are built from. */
export interface Surroundings {
  readonly template: TemplateResources;
  readonly directory: string;
  readonly roles: ReadonlyMap<string, Role>;
}

const FunctionProperties = z.strictObject({
  FunctionName: text.optional(),
  CodeUri: text,
  Handler: text,
  Runtime: z.string().regex(/^nodejs/, 'only Node.js is implemented'),
  Role: text,
  // Lambda's own defaults.
  Timeout: whole.default(3),
  MemorySize: whole.default(128),
  Environment: z.strictObject({ Variables: z.record(z.string(), text) }).default({ Variables: {} }),
  EventInvokeConfig: z
    .strictObject({
      MaximumRetryAttempts: whole.max(2).default(2),
      MaximumEventAgeInSeconds: whole.min(60).max(21_600).default(21_600),
      DestinationConfig: z
        .strictObject({ OnFailure: z.strictObject({ Type: z.literal('SQS'), Destination: text }) })
        .optional(),
    })
    .prefault({}),
  AutoPublishAlias: text.optional(),
  Architectures: ignored,
  AutoPublishAliasAllProperties: ignored,
  Description: ignored,
  LoggingConfig: ignored,
  PropagateTags: ignored,
  Tags: ignored,
  Tracing: ignored,
});

const FunctionMetadata = z.looseObject({ Source: text.optional(), BuildMethod: text.optional() });

/** A function of the whole folder is built by its Makefile, which takes it from here. What SAM has built has a CodeUri of its own. */
const builtBy = (buildMethod: string | undefined, codeUri: string, logicalId: string): string =>
  buildMethod === 'makefile' && codeUri === '.' ? `build/${logicalId}/` : codeUri;

export function readFunction(
  { logicalId, properties, metadata }: Resource,
  { template, roles }: Surroundings,
  permissions: FunctionPermissions,
): DeployedFunction {
  const made = parseProperties(FunctionProperties, template.resolve(properties, logicalId), logicalId);
  const { Source, BuildMethod } = parseProperties(
    FunctionMetadata,
    template.resolve(metadata, logicalId),
    logicalId,
  );
  const { name, arn } = template.naming(logicalId);
  const functionArn = arn('lambda', `function:${name}`);
  return {
    logicalId,
    name,
    arn: functionArn,
    versionArn: template.publishedArn(logicalId, 'Version'),
    aliasArn: template.publishedArn(logicalId, 'Alias'),
    codeUri: builtBy(BuildMethod, made.CodeUri, logicalId),
    handler: made.Handler,
    source: Source,
    environment: made.Environment.Variables,
    timeoutSeconds: made.Timeout,
    memoryMegabytes: made.MemorySize,
    role: roleOf(made.Role, logicalId, roles),
    asynchronous: {
      maximumRetryAttempts: made.EventInvokeConfig.MaximumRetryAttempts,
      maximumEventAgeSeconds: made.EventInvokeConfig.MaximumEventAgeInSeconds,
      onFailure: made.EventInvokeConfig.DestinationConfig?.OnFailure.Destination,
    },
    url: permissions.urlOf(functionArn),
    invokers: permissions.invokersOf(functionArn),
  };
}

const PermissionProperties = z.strictObject({
  Action: text,
  FunctionName: text,
  Principal: text,
  SourceArn: text.optional(),
  SourceAccount: ignored,
  FunctionUrlAuthType: ignored,
  InvokedViaFunctionUrl: ignored,
});

const UrlProperties = z.strictObject({
  TargetFunctionArn: text,
  AuthType: z.enum(['AWS_IAM', 'NONE']),
  InvokeMode: z.literal('BUFFERED').optional(),
  Qualifier: text.optional(),
});

/** The resource policies and URLs that the template gives to functions, which name their function. */
export class FunctionPermissions {
  readonly #urls: readonly { readonly functionArn: string; readonly url: FunctionUrl }[];
  readonly #invokers: readonly { readonly functionArn: string; readonly invoker: Invoker }[];

  constructor(template: TemplateResources) {
    this.#urls = template.ofType('AWS::Lambda::Url').map(({ logicalId, properties }) => {
      const made = parseProperties(UrlProperties, template.resolve(properties, logicalId), logicalId);
      const url = template.attribute(logicalId, 'FunctionUrl', 'the stack');
      return { ...functionOf(made.TargetFunctionArn, template), url: { url, authType: made.AuthType } };
    });
    this.#invokers = template.ofType('AWS::Lambda::Permission').map(({ logicalId, properties }) => {
      const made = parseProperties(PermissionProperties, template.resolve(properties, logicalId), logicalId);
      const { functionArn, qualifier } = functionOf(made.FunctionName, template);
      const invoker = {
        principal: made.Principal,
        action: made.Action,
        sourceArn: made.SourceArn,
        qualifier,
      };
      return { functionArn, invoker };
    });
  }

  urlOf(functionArn: string): FunctionUrl | undefined {
    return this.#urls.find(url => url.functionArn === functionArn)?.url;
  }

  invokersOf(functionArn: string): readonly Invoker[] {
    return this.#invokers
      .filter(permission => permission.functionArn === functionArn)
      .map(({ invoker }) => invoker);
  }
}

/** A function is named by its name or ARN, with or without a version or an alias. */
function functionOf(
  named: string,
  template: TemplateResources,
): { readonly functionArn: string; readonly qualifier: string | undefined } {
  const [name = '', qualifier] = named.replace(/^arn:[^:]+:lambda:[^:]+:[^:]+:function:/, '').split(':');
  const found = template
    .ofType('AWS::Serverless::Function')
    .map(({ logicalId }) => template.naming(logicalId));
  const naming = found.find(candidate => candidate.name === name);
  if (!naming) throw new Error(`${named} is no function of the template`);
  return { functionArn: naming.arn('lambda', `function:${name}`), qualifier };
}

const MachineProperties = z.strictObject({
  Name: text.optional(),
  Definition: jsonObject.optional(),
  DefinitionUri: text.optional(),
  DefinitionSubstitutions: z.record(z.string(), text).default({}),
  Role: text,
  Type: z.literal('STANDARD').optional(),
  Logging: ignored,
  PropagateTags: ignored,
  Tags: ignored,
  Tracing: ignored,
});

export function readMachine(
  { logicalId, properties }: Resource,
  { template, directory, roles }: Surroundings,
): DeployedMachine {
  const made = parseProperties(MachineProperties, template.resolve(properties, logicalId), logicalId);
  const { name, arn } = template.naming(logicalId);
  return {
    logicalId,
    name,
    arn: arn('states', `stateMachine:${name}`),
    definition: definitionOf(made, logicalId, directory),
    role: roleOf(made.Role, logicalId, roles),
  };
}

function definitionOf(
  { Definition, DefinitionUri, DefinitionSubstitutions }: z.infer<typeof MachineProperties>,
  logicalId: string,
  directory: string,
): JsonObject {
  if (DefinitionUri !== undefined && !Definition) {
    const text = readFileSync(join(directory, DefinitionUri), 'utf8');
    return readYaml(substitute(text, DefinitionSubstitutions, logicalId), DefinitionUri);
  }
  if (Definition && DefinitionUri === undefined)
    return readYaml(substitute(JSON.stringify(Definition), DefinitionSubstitutions, logicalId), logicalId);
  throw new Error(`${logicalId}: either Definition or DefinitionUri is expected`);
}

/** Step Functions replaces in the definition's text, before anything reads it. */
function substitute(
  definition: string,
  substitutions: Readonly<Record<string, string>>,
  logicalId: string,
): string {
  const unused = new Set(Object.keys(substitutions));
  const text = definition.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = substitutions[name];
    if (value === undefined) throw new Error(`${logicalId}: DefinitionSubstitutions has no ${name}`);
    unused.delete(name);
    return value;
  });
  if (unused.size > 0)
    throw new Error(`${logicalId}: the definition does not use the substitution ${[...unused].join(', ')}`);
  return text;
}

function roleOf(arn: string, logicalId: string, roles: ReadonlyMap<string, Role>): Role {
  const role = roles.get(arn);
  if (!role) throw new Error(`${logicalId}: the role ${arn} is not of this template`);
  return role;
}
