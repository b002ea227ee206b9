import type { World } from '../account/world.ts';
import { type Identities, Intrinsics } from './intrinsics.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { type ParameterValue, resolveParameters } from './parameters.ts';
import { isCustomResource, type Naming, RESOURCE_TYPES, type ResourceType } from './resource-identities.ts';
import { expandSam, type Resource } from './sam-resources.ts';
import { mergeGlobals, refuseMembers, section } from './template-text.ts';

export interface TemplateSettings {
  readonly world: World;
  readonly stackName: string;
  /** The parsed template. */
  readonly document: JsonObject;
  readonly parameters: Readonly<Record<string, string>>;
}

const SECTIONS = [
  ...['AWSTemplateFormatVersion', 'Conditions', 'Description', 'Globals', 'Mappings', 'Metadata'],
  ...['Outputs', 'Parameters', 'Resources', 'Transform'],
];

const RESOURCE_MEMBERS = [
  ...['Type', 'Properties', 'Metadata', 'Condition', 'DependsOn', 'DeletionPolicy', 'UpdateReplacePolicy'],
];

interface Identity {
  readonly type: ResourceType;
  readonly naming: Naming;
}

/** The resources of a template whose conditions hold, and what Ref and Fn::GetAtt make of them. */
export class TemplateResources implements Identities {
  readonly resources: readonly Resource[];
  readonly #settings: TemplateSettings;
  readonly #intrinsics: Intrinsics;
  readonly #identities = new Map<string, Identity>();
  /** Whom each resource needs to exist before it. */
  readonly needs = new Map<string, Set<string>>();

  /** @throws Error on sections, resource types or members that are not implemented, and on refused parameters */
  constructor(settings: TemplateSettings) {
    this.#settings = settings;
    const { document, world, stackName } = settings;
    refuseMembers(document, SECTIONS, 'the template');
    refuseMembers(section(document, 'Globals'), ['Function', 'SimpleTable', 'StateMachine'], 'Globals');
    const pseudo: readonly (readonly [string, ParameterValue])[] = [
      ['AWS::AccountId', world.accountId],
      ['AWS::Partition', world.partition],
      ['AWS::Region', world.region],
      ['AWS::StackId', stackId(settings)],
      ['AWS::StackName', stackName],
      ['AWS::URLSuffix', 'amazonaws.com'],
    ];
    const parameters = resolveParameters(section(document, 'Parameters'), settings.parameters);
    this.#intrinsics = new Intrinsics({
      parameters: new Map([...pseudo, ...parameters]),
      mappings: section(document, 'Mappings'),
      conditions: section(document, 'Conditions'),
      identities: this,
    });
    this.resources = Object.entries(section(document, 'Resources')).flatMap(([id, resource]) =>
      this.#read(id, resource),
    );
    for (const resource of this.resources) this.#name(resource);
  }

  ofType(...types: readonly string[]): readonly Resource[] {
    return this.resources.filter(({ type }) => types.includes(type));
  }

  /** The members of `value` without intrinsics. `from` is the resource whose creation needs them. */
  resolve(value: JsonObject, from: string): JsonObject {
    const resolved = this.#intrinsics.resolve(value, from);
    if (!isObject(resolved)) throw new Error(`${from}: a map is expected`);
    return resolved;
  }

  /** What the resource is called, without needing it. */
  naming(logicalId: string): Naming {
    return this.#identity(logicalId, logicalId).naming;
  }

  ref(logicalId: string, from: string): string {
    const [holder = '', qualifier] = logicalId.split('.');
    if (qualifier !== undefined) return this.#qualified(holder, qualifier, from);
    this.#need(from, logicalId);
    const { type, naming } = this.#identity(logicalId, from);
    return type.ref(naming);
  }

  attribute(logicalId: string, attribute: string, from: string): string {
    this.#need(from, logicalId);
    const { type, naming } = this.#identity(logicalId, from);
    const value = type.attributes?.[attribute];
    if (!value) throw new Error(`${from}: Fn::GetAtt ${logicalId}.${attribute} is not implemented`);
    return value(naming);
  }

  /** The ARN that `!Ref Function.Version` or `!Ref Function.Alias` gives; undefined when it publishes none. */
  publishedArn(functionId: string, qualifier: 'Version' | 'Alias'): string | undefined {
    const alias = this.#resource(functionId)?.properties.AutoPublishAlias;
    if (alias === undefined) return undefined;
    const { name } = this.resolve({ name: alias }, functionId);
    // The stack is deployed once, so its functions have one version.
    const { arn, name: functionName } = this.naming(functionId);
    return arn('lambda', `function:${functionName}:${qualifier === 'Version' ? '1' : name}`);
  }

  outputs(): Readonly<Record<string, string>> {
    const outputs = Object.entries(section(this.#settings.document, 'Outputs')).flatMap(([name, output]) => {
      const from = `output ${name}`;
      if (!isObject(output) || output.Value === undefined) throw new Error(`${from} has no Value`);
      if (!this.#included(output.Condition)) return [];
      const value = this.resolve({ Value: output.Value }, from).Value;
      if (typeof value !== 'string') throw new Error(`${from}: the Value has to be a string`);
      return [[name, value]];
    });
    return Object.fromEntries(outputs);
  }

  /**
   * To be asked when everything has been resolved.
   *
   * @throws Error on resources that need each other, which CloudFormation refuses
   */
  refuseCircles(): void {
    const done = new Set<string>();
    const visit = (logicalId: string, path: readonly string[]): void => {
      if (path.includes(logicalId)) {
        const circle = [...path.slice(path.indexOf(logicalId)), logicalId].join(' -> ');
        throw new Error(`Circular dependency between resources: ${circle}`);
      }
      if (done.has(logicalId)) return;
      for (const needed of this.needs.get(logicalId) ?? []) visit(needed, [...path, logicalId]);
      done.add(logicalId);
    };
    for (const logicalId of this.needs.keys()) visit(logicalId, []);
  }

  #read(logicalId: string, resource: Json): readonly Resource[] {
    if (!isObject(resource) || typeof resource.Type !== 'string') throw new Error(`${logicalId} has no Type`);
    const { Type: type, Properties = {}, Metadata: metadata = {}, Condition, DependsOn = [] } = resource;
    refuseMembers(resource, RESOURCE_MEMBERS, logicalId);
    if (!isObject(Properties) || !isObject(metadata)) throw new Error(`${logicalId}: a map is expected`);
    if (!RESOURCE_TYPES[type] && !isCustomResource(type))
      throw new Error(`${logicalId}: the type ${type} is not implemented`);
    if (!this.#included(Condition)) return [];
    for (const needed of isList(DependsOn) ? DependsOn : [DependsOn]) this.#need(logicalId, String(needed));
    const globals = section(this.#settings.document, 'Globals')[type.replace('AWS::Serverless::', '')];
    return expandSam({ logicalId, type, properties: mergeGlobals(globals, Properties), metadata });
  }

  #included(condition: Json | undefined): boolean {
    return condition === undefined || this.#intrinsics.condition(String(condition));
  }

  #name({ logicalId, type, properties }: Resource): void {
    const known = RESOURCE_TYPES[type];
    if (!known) return;
    const { world, stackName } = this.#settings;
    const { region, accountId, partition } = world;
    const chosen = known.nameProperty === undefined ? undefined : properties[known.nameProperty];
    const nameOf = (): string => {
      const name = chosen === undefined ? undefined : this.resolve({ chosen }, logicalId).chosen;
      return typeof name === 'string' ? name : `${stackName}-${logicalId}`;
    };
    const naming = {
      get name() {
        return nameOf();
      },
      region,
      accountId,
      arn: (service: string, rest: string) => `arn:${partition}:${service}:${region}:${accountId}:${rest}`,
    };
    this.#identities.set(logicalId, { type: known, naming });
  }

  #identity(logicalId: string, from: string): Identity {
    const identity = this.#identities.get(logicalId);
    if (!identity)
      throw new Error(
        `${from}: refers to ${logicalId}, which the template does not have or its condition excludes`,
      );
    return identity;
  }

  #qualified(functionId: string, qualifier: string, from: string): string {
    const arn =
      qualifier === 'Version' || qualifier === 'Alias' ? this.publishedArn(functionId, qualifier) : undefined;
    if (arn === undefined) throw new Error(`${from}: ${functionId}.${qualifier} does not exist`);
    this.#need(from, functionId);
    return arn;
  }

  #resource(logicalId: string): Resource | undefined {
    return this.resources.find(resource => resource.logicalId === logicalId);
  }

  #need(from: string, needed: string): void {
    const needs = this.needs.get(from) ?? new Set();
    this.needs.set(from, needs.add(needed));
  }
}

const stackId = ({ world: { partition, region, accountId }, stackName }: TemplateSettings): string =>
  `arn:${partition}:cloudformation:${region}:${accountId}:stack/${stackName}/00000000-0000-4000-8000-000000000000`;
