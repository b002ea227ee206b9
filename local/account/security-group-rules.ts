import type {
  AuthorizeSecurityGroupIngressRequest,
  AuthorizeSecurityGroupIngressResult,
  IpPermission,
  RevokeSecurityGroupIngressRequest,
  RevokeSecurityGroupIngressResult,
} from '@aws-sdk/client-ec2';
import { ServiceError } from '../wire/contract.ts';
import { parseCidr } from './cidr.ts';
import type { IngressRule, Network } from './ec2-network.ts';
import { invalidValue, refuseDryRun, refuseOthers } from './ec2-request.ts';

type Change = AuthorizeSecurityGroupIngressRequest & RevokeSecurityGroupIngressRequest;

/** EC2's operations that open and close what a security group lets in: TCP, from IPv4 addresses and from groups. */
export function securityGroupRules(network: Network) {
  return {
    AuthorizeSecurityGroupIngress(
      input: AuthorizeSecurityGroupIngressRequest,
    ): AuthorizeSecurityGroupIngressResult {
      const { groupId, rules } = changeOf('AuthorizeSecurityGroupIngress', input, network);
      const { ingress } = network.securityGroup(groupId);
      const known = new Set(ingress.map(rule => keyOf(groupId, rule)));
      for (const rule of rules) {
        const key = keyOf(groupId, rule);
        if (known.has(key))
          throw new ServiceError(
            'InvalidPermission.Duplicate',
            `the specified rule "${said(groupId, rule)}" already exists`,
          );
        known.add(key);
      }
      network.setIngress(groupId, [...ingress, ...rules]);
      return { Return: true };
    },

    RevokeSecurityGroupIngress(input: RevokeSecurityGroupIngressRequest): RevokeSecurityGroupIngressResult {
      const { groupId, rules } = changeOf('RevokeSecurityGroupIngress', input, network);
      const { ingress } = network.securityGroup(groupId);
      const known = new Set(ingress.map(rule => keyOf(groupId, rule)));
      const revoked = new Set(rules.map(rule => keyOf(groupId, rule)));
      if ([...revoked].some(key => !known.has(key)))
        throw new ServiceError(
          'InvalidPermission.NotFound',
          'The specified rule does not exist in this security group.',
        );
      network.setIngress(
        groupId,
        ingress.filter(rule => !revoked.has(keyOf(groupId, rule))),
      );
      return { Return: true };
    },
  };
}

function changeOf(
  action: string,
  { GroupId, IpPermissions = [], DryRun, ...rest }: Change,
  network: Network,
): { readonly groupId: string; readonly rules: readonly IngressRule[] } {
  refuseOthers(action, rest);
  refuseDryRun(DryRun);
  if (!GroupId) throw missing('groupId');
  network.securityGroup(GroupId);
  const rules = IpPermissions.flatMap(permission => rulesOf(action, permission, network));
  if (rules.length === 0) throw missing('ipPermissions');
  return { groupId: GroupId, rules };
}

const missing = (member: string): ServiceError =>
  new ServiceError('MissingParameter', `The request must contain the parameter ${member}`);

/** One rule a source, as EC2 keeps them. */
function rulesOf(action: string, permission: IpPermission, network: Network): readonly IngressRule[] {
  const {
    IpProtocol,
    FromPort,
    ToPort,
    IpRanges = [],
    UserIdGroupPairs = [],
    PrefixListIds = [],
    Ipv6Ranges = [],
    ...rest
  } = permission;
  refuseOthers(action, { ...rest, ...(Ipv6Ranges.length > 0 && { Ipv6Ranges }) });
  if (IpProtocol !== 'tcp' && IpProtocol !== '6')
    throw new ServiceError(
      'UnsupportedOperation',
      `The simulated ${action} implements the protocol tcp, not ${IpProtocol}.`,
    );
  if (!isPort(FromPort) || !isPort(ToPort) || FromPort > ToPort)
    throw invalidValue(`Invalid TCP port range: ${FromPort} to ${ToPort}.`);
  // The account has no prefix list.
  for (const { PrefixListId } of PrefixListIds)
    throw new ServiceError(
      'InvalidPrefixListID.NotFound',
      `The prefix list ID '${PrefixListId}' does not exist`,
    );
  const ports = { fromPort: FromPort, toPort: ToPort };
  return [
    ...IpRanges.map(({ CidrIp = '', ...others }) => {
      refuseOthers(action, others);
      return { ...ports, from: { cidr: blockOf(CidrIp) } };
    }),
    ...UserIdGroupPairs.map(({ GroupId = '', UserId: _ownAccount, ...others }) => {
      refuseOthers(action, others);
      return { ...ports, from: { groupId: network.securityGroup(GroupId).id } };
    }),
  ];
}

const isPort = (port: number | undefined): port is number =>
  port !== undefined && Number.isInteger(port) && port >= 0 && port <= 65_535;

function blockOf(text: string): string {
  try {
    return parseCidr(text).text;
  } catch {
    throw invalidValue(`CIDR block ${text} is malformed`);
  }
}

const sourceOf = (groupId: string, { from }: IngressRule): string => {
  if (from === 'self') return groupId;
  return 'cidr' in from ? from.cidr : from.groupId;
};

const keyOf = (groupId: string, rule: IngressRule): string =>
  `${rule.fromPort} ${rule.toPort} ${sourceOf(groupId, rule)}`;

const said = (groupId: string, rule: IngressRule): string =>
  `peer: ${sourceOf(groupId, rule)}, TCP, from port: ${rule.fromPort}, to port: ${rule.toPort}, ALLOW`;
