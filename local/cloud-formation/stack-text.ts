import type { World } from '../account/world.ts';
import { type Identities, Intrinsics } from '../stack/intrinsics.ts';
import { isList, isObject, type Json, type JsonObject } from '../stack/json.ts';
import { type ParameterValue, resolveParameters } from '../stack/parameters.ts';
import { readYaml, refuseMembers, section } from '../stack/template-text.ts';

/** One resource as the template writes it, with intrinsics still inside. */
export interface Declared {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  /** The resources that it refers to, or that DependsOn names: they are there before it and go after it. */
  readonly needs: ReadonlySet<string>;
}

export interface StackText {
  readonly resources: ReadonlyMap<string, Declared>;
  /** The properties of a resource as CloudFormation gives them, once what they refer to is there. */
  resolve(declared: Declared, identities: Identities): JsonObject;
}

export interface StackTextSettings {
  readonly world: World;
  readonly stackName: string;
  readonly stackId: string;
  /** A template in YAML. */
  readonly text: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** What other stacks export, by name. */
  readonly imports?: ReadonlyMap<string, string>;
}

const SECTIONS = ['AWSTemplateFormatVersion', 'Description', 'Parameters', 'Resources', 'Outputs'];
const MEMBERS = ['Type', 'Properties', 'DependsOn'];

/** @throws Error on whatever the template says that is not implemented */
export function readStackText(settings: StackTextSettings): StackText {
  const { world, stackName, stackId, text, imports = new Map() } = settings;
  const document = readYaml(text, stackName);
  refuseMembers(document, SECTIONS, stackName);
  const declared = section(document, 'Resources');
  const logicalIds = new Set(Object.keys(declared));
  const pseudo: readonly (readonly [string, ParameterValue])[] = [
    ['AWS::AccountId', world.accountId],
    ['AWS::Partition', world.partition],
    ['AWS::Region', world.region],
    ['AWS::StackId', stackId],
    ['AWS::StackName', stackName],
  ];
  const parameters = new Map([
    ...pseudo,
    ...resolveParameters(section(document, 'Parameters'), settings.parameters ?? {}),
  ]);
  return {
    resources: new Map(
      Object.entries(declared).map(([logicalId, resource]) => [
        logicalId,
        readDeclared(logicalId, resource, logicalIds),
      ]),
    ),
    resolve({ logicalId, properties }, identities) {
      const intrinsics = new Intrinsics({ parameters, mappings: {}, conditions: {}, identities, imports });
      const resolved = intrinsics.resolve(properties, logicalId);
      return isObject(resolved) ? resolved : {};
    },
  };
}

function readDeclared(logicalId: string, resource: Json, logicalIds: ReadonlySet<string>): Declared {
  if (!isObject(resource) || typeof resource.Type !== 'string') throw new Error(`${logicalId} has no Type`);
  refuseMembers(resource, MEMBERS, logicalId);
  const { Type: type, Properties: properties = {}, DependsOn = [] } = resource;
  if (!isObject(properties)) throw new Error(`${logicalId}: Properties has to be a map`);
  const named = [
    ...(isList(DependsOn) ? DependsOn.map(String) : [String(DependsOn)]),
    ...referredTo(properties),
  ];
  return { logicalId, type, properties, needs: new Set(named.filter(name => logicalIds.has(name))) };
}

/** Every name in the value that may be a resource's. */
function referredTo(value: Json): readonly string[] {
  if (isList(value)) return value.flatMap(referredTo);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    if (member === 'Ref' && typeof inner === 'string') return [inner];
    if (member === 'Fn::GetAtt')
      return [(isList(inner) ? String(inner[0]) : String(inner)).replace(/\..*/, '')];
    if (member !== 'Fn::Sub') return referredTo(inner);
    const text = isList(inner) ? String(inner[0]) : String(inner);
    return [...[...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name), ...referredTo(inner)];
  });
}
