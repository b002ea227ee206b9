import type {
  AssociateApplicationStatusCheckCommandInput,
  AuthorizeSecurityGroupIngressCommandInput,
  CreateApplicationStatusCheckCommandInput,
  CreateTagsCommandInput,
  DeleteApplicationStatusCheckCommandInput,
  DeleteSecurityGroupCommandInput,
  DisableApplicationStatusCheckSuppressionCommandInput,
  DisassociateApplicationStatusCheckCommandInput,
  EnableApplicationStatusCheckSuppressionCommandInput,
  ModifyApplicationStatusCheckCommandInput,
  RevokeSecurityGroupIngressCommandInput,
} from '@aws-sdk/client-ec2';
import {
  type About,
  type ActionTable,
  type Concern,
  concern,
  onEverything,
  requestTags,
} from './resources.ts';

const checkAndInstances = (
  input: AssociateApplicationStatusCheckCommandInput | DisassociateApplicationStatusCheckCommandInput,
  about: About,
): readonly Concern[] => [
  ...about.ec2('application-status-check', listed(input.ApplicationStatusCheckId)),
  // A tag association names no instance, so instance conditions do not restrict it.
  ...about.ec2('instance', input.InstanceIds),
];

const suppression = (
  input:
    | EnableApplicationStatusCheckSuppressionCommandInput
    | DisableApplicationStatusCheckSuppressionCommandInput,
  about: About,
): readonly Concern[] => about.ec2('instance', input.InstanceIds);

/** The subnets and security groups of customer-managed paths. */
const paths = (
  { HealthCheckPaths = [] }: Pick<CreateApplicationStatusCheckCommandInput, 'HealthCheckPaths'>,
  about: About,
): readonly Concern[] => {
  const ends = HealthCheckPaths.flatMap(({ Source, Destinations = [] }) => [Source, ...Destinations]);
  return [
    ...about.ec2('subnet', distinct(ends.map(end => end?.SubnetId))),
    ...about.ec2('security-group', distinct(ends.map(end => end?.SecurityGroupId))),
  ];
};

const KIND_BY_PREFIX = {
  i: 'instance',
  asc: 'application-status-check',
  sg: 'security-group',
  eni: 'network-interface',
  subnet: 'subnet',
  vpc: 'vpc',
} as const;

const isKnownPrefix = (prefix: string): prefix is keyof typeof KIND_BY_PREFIX =>
  Object.hasOwn(KIND_BY_PREFIX, prefix);

/** Sources: aws.md 5, aws-behaviour.md 1.5. */
export const EC2: ActionTable = {
  ...onEverything(
    'DescribeApplicationStatus',
    'DescribeApplicationStatusCheckAssociations',
    'DescribeApplicationStatusChecks',
    'DescribeInstanceStatus',
    'DescribeInstances',
    'DescribeManagedPrefixLists',
    'DescribeNetworkInterfaces',
    'DescribeSecurityGroupReferences',
    'DescribeSecurityGroupRules',
    'DescribeSecurityGroupVpcAssociations',
    'DescribeSecurityGroups',
    'DescribeSubnets',
    'DescribeTags',
    'DescribeVpcs',
  ),
  EnableApplicationStatusCheckSuppression: suppression,
  DisableApplicationStatusCheckSuppression: suppression,
  AssociateApplicationStatusCheck: checkAndInstances,
  DisassociateApplicationStatusCheck: checkAndInstances,
  CreateApplicationStatusCheck(input: CreateApplicationStatusCheckCommandInput, about) {
    const tags = input.TagSpecifications?.flatMap(({ Tags = [] }) => Tags) ?? [];
    const check = concern(about.arn('ec2', 'application-status-check/*'), requestTags(tags));
    const tagging = {
      ...check,
      action: 'ec2:CreateTags',
      context: { ...check.context, 'ec2:CreateAction': ['CreateApplicationStatusCheck'] },
    };
    return [check, ...(tags.length > 0 ? [tagging] : []), ...paths(input, about)];
  },
  ModifyApplicationStatusCheck: (input: ModifyApplicationStatusCheckCommandInput, about) => [
    ...about.ec2('application-status-check', listed(input.ApplicationStatusCheckId)),
    ...paths(input, about),
  ],
  DeleteApplicationStatusCheck: (input: DeleteApplicationStatusCheckCommandInput, about) =>
    about.ec2('application-status-check', listed(input.ApplicationStatusCheckId)),
  AuthorizeSecurityGroupIngress: (input: AuthorizeSecurityGroupIngressCommandInput, about) =>
    about.ec2('security-group', listed(input.GroupId)),
  RevokeSecurityGroupIngress: (input: RevokeSecurityGroupIngressCommandInput, about) =>
    about.ec2('security-group', listed(input.GroupId)),
  DeleteSecurityGroup: (input: DeleteSecurityGroupCommandInput, about) =>
    about.ec2('security-group', listed(input.GroupId)),
  CreateTags: (input: CreateTagsCommandInput, about) =>
    (input.Resources ?? []).flatMap(id => {
      const prefix = id.slice(0, id.indexOf('-'));
      if (!isKnownPrefix(prefix))
        throw new Error(`ec2:CreateTags on ${id} is not in the authorization table`);
      return about
        .ec2(KIND_BY_PREFIX[prefix], [id])
        .map(resource => ({ ...resource, context: { ...resource.context, ...requestTags(input.Tags) } }));
    }),
};

const listed = (id: string | undefined): readonly string[] => (id === undefined ? [] : [id]);

const distinct = (ids: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(ids.filter(id => id !== undefined)),
];
