import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { World } from '../account/world.ts';
import type { CustomResource, DeployedTemplate, InertResource } from './deployed-template.ts';
import { isCustomResource, RESOURCE_TYPES } from './resource-identities.ts';
import type { Resource } from './sam-resources.ts';
import { readAlarms } from './template-alarms.ts';
import { FunctionPermissions, readFunction, readMachine } from './template-compute.ts';
import { TemplateResources } from './template-resources.ts';
import { readRoles } from './template-roles.ts';
import { readRule } from './template-rules.ts';
import { readQueues, readTable, readTopicPolicies } from './template-storage.ts';
import { readYaml } from './template-text.ts';

export interface TemplateOptions {
  readonly world: World;
  /** The path of template.yaml. */
  readonly path: string;
  /** Values for parameters; the others take their defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly stackName?: string;
}

/**
 * Reads a SAM template and the state machine definitions that it names, as `sam deploy` would deploy them.
 *
 * @throws Error that names the logical id and what is wrong, or not implemented: nothing is passed over in silence
 */
export function readTemplate({
  world,
  path,
  parameters = {},
  stackName = 'quiesce',
}: TemplateOptions): DeployedTemplate {
  const document = readYaml(readFileSync(path, 'utf8'), path);
  const template = new TemplateResources({ world, stackName, document, parameters });
  const directory = dirname(path);
  const roles = readRoles(template);
  const surroundings = { template, directory, roles };
  const permissions = new FunctionPermissions(template);
  const each = <T extends { readonly logicalId: string }>(
    types: readonly string[],
    read: (resource: Resource) => T,
  ): ReadonlyMap<string, T> => byLogicalId(template.ofType(...types).map(read));
  const deployed: DeployedTemplate = {
    stackName,
    directory,
    functions: each(['AWS::Serverless::Function'], resource =>
      readFunction(resource, surroundings, permissions),
    ),
    machines: each(['AWS::Serverless::StateMachine'], resource => readMachine(resource, surroundings)),
    tables: each(['AWS::DynamoDB::Table', 'AWS::Serverless::SimpleTable'], resource =>
      readTable(resource, template),
    ),
    rules: each(['AWS::Events::Rule'], resource => readRule(resource, template, roles)),
    queues: byLogicalId(readQueues(template)),
    topicPolicies: readTopicPolicies(template),
    alarms: readAlarms(template),
    customResources: byLogicalId(
      template.resources.filter(({ type }) => isCustomResource(type)).map(readCustomResource(template)),
    ),
    inert: byLogicalId(template.resources.filter(isInert).map(readInert(template))),
    outputs: template.outputs(),
    needs: template.needs,
  };
  template.refuseCircles();
  return deployed;
}

const isInert = ({ type }: Resource): boolean => RESOURCE_TYPES[type]?.inert !== undefined;

const readInert =
  (template: TemplateResources) =>
  ({ logicalId, type, properties }: Resource): InertResource => ({
    logicalId,
    type,
    properties: template.resolve(properties, logicalId),
  });

const readCustomResource =
  (template: TemplateResources) =>
  ({ logicalId, type, properties }: Resource): CustomResource => {
    const { ServiceToken, ...rest } = template.resolve(properties, logicalId);
    if (typeof ServiceToken !== 'string') throw new Error(`${logicalId}: a ServiceToken is needed`);
    return { logicalId, type, serviceToken: ServiceToken, properties: rest };
  };

const byLogicalId = <T extends { readonly logicalId: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map(item => [item.logicalId, item]));
