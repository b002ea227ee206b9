import { z } from 'zod';
import type { Role } from './deployed-template.ts';
import { isObject, type Json } from './json.ts';
import type { Statement } from './permissions.ts';
import { readPolicy } from './policy-document.ts';
import { ignored, json, parseProperties, text } from './property-schemas.ts';
import { GENERATED_ROLE, type Resource } from './sam-resources.ts';
import type { TemplateResources } from './template-resources.ts';

const RoleProperties = z.strictObject({
  RoleName: text.optional(),
  AssumeRolePolicyDocument: json,
  Policies: z.array(z.strictObject({ PolicyName: text, PolicyDocument: json })).default([]),
  ManagedPolicyArns: z.array(text).default([]),
  Description: ignored,
  MaxSessionDuration: ignored,
  Path: ignored,
  PermissionsBoundary: ignored,
  Tags: ignored,
});

const GeneratedRoleProperties = z.strictObject({ Policies: z.array(json) });

const AttachedPolicyProperties = z.strictObject({
  PolicyName: text.optional(),
  ManagedPolicyName: text.optional(),
  PolicyDocument: json,
  Roles: z.array(text).default([]),
  Description: ignored,
  Path: ignored,
});

/**
 * AWS's managed policies that a template may name. These only let Lambda and Step Functions write logs and traces, which
 * are no calls here.
 */
const AWS_MANAGED_POLICIES = new Set([
  'AWSLambdaBasicExecutionRole',
  'AWSXRayDaemonWriteAccess',
  'AWSXrayWriteOnlyAccess',
]);

interface AttachedPolicy {
  readonly arn: string;
  readonly roleNames: readonly string[];
  readonly statements: readonly Statement[];
}

/** The template's roles by ARN, each with copies of its statements, so that their use is counted for each role. */
export function readRoles(template: TemplateResources): ReadonlyMap<string, Role> {
  const attached = template
    .ofType('AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy')
    .map(policy => readAttachedPolicy(policy, template));
  const roles = template.ofType('AWS::IAM::Role', GENERATED_ROLE).map((resource): Role => {
    const { logicalId } = resource;
    const { name } = template.naming(logicalId);
    const own = resource.type === GENERATED_ROLE ? samStatements : roleStatements;
    const statements = [
      ...own(resource, template, attached),
      ...attached.filter(({ roleNames }) => roleNames.includes(name)).flatMap(policy => policy.statements),
    ];
    return {
      logicalId,
      name,
      arn: template.attribute(logicalId, 'Arn', 'the stack'),
      statements: statements.map(statement => ({ ...statement })),
    };
  });
  return new Map(roles.map(role => [role.arn, role]));
}

function readAttachedPolicy(
  { logicalId, type, properties }: Resource,
  template: TemplateResources,
): AttachedPolicy {
  const { PolicyDocument, Roles } = parseProperties(
    AttachedPolicyProperties,
    template.resolve(properties, logicalId),
    logicalId,
  );
  return {
    arn: type === 'AWS::IAM::ManagedPolicy' ? template.ref(logicalId, 'the stack') : '',
    roleNames: Roles,
    statements: readPolicy(PolicyDocument, logicalId),
  };
}

type StatementReader = (
  resource: Resource,
  template: TemplateResources,
  attached: readonly AttachedPolicy[],
) => readonly Statement[];

const roleStatements: StatementReader = ({ logicalId, properties }, template, attached) => {
  const { Policies, ManagedPolicyArns } = parseProperties(
    RoleProperties,
    template.resolve(properties, logicalId),
    logicalId,
  );
  return [
    ...Policies.flatMap(({ PolicyName, PolicyDocument }) =>
      readPolicy(PolicyDocument, `${logicalId}, policy ${PolicyName}`),
    ),
    ...ManagedPolicyArns.flatMap(arn => managedStatements(arn, logicalId, attached)),
  ];
};

const samStatements: StatementReader = ({ logicalId, properties }, template, attached) =>
  parseProperties(
    GeneratedRoleProperties,
    template.resolve(properties, logicalId),
    logicalId,
  ).Policies.flatMap(policy => samPolicy(policy, logicalId, attached));

/** SAM takes policy documents and the names and ARNs of managed policies; its policy templates are not implemented. */
function samPolicy(
  policy: Json,
  logicalId: string,
  attached: readonly AttachedPolicy[],
): readonly Statement[] {
  if (typeof policy === 'string') return managedStatements(policy, logicalId, attached);
  if (isObject(policy) && 'Statement' in policy) return readPolicy(policy, logicalId);
  const name = isObject(policy) ? Object.keys(policy).join(', ') : JSON.stringify(policy);
  throw new Error(`${logicalId}: the policy template ${name} is not implemented; write a policy document`);
}

function managedStatements(
  nameOrArn: string,
  logicalId: string,
  attached: readonly AttachedPolicy[],
): readonly Statement[] {
  if (AWS_MANAGED_POLICIES.has(nameOrArn.replace(/^arn:[\w-]+:iam::aws:policy\/(service-role\/)?/, '')))
    return [];
  const own = attached.find(({ arn }) => arn === nameOrArn);
  if (!own) throw new Error(`${logicalId}: the managed policy ${nameOrArn} is not known`);
  return own.statements;
}
