/** The operator of the interfaces that application status checks probe from. UG: EC2ApplicationStatusChecksServiceRolePolicy. */
export const CHECKS_OPERATOR = 'ec2.application-status-checks.amazonaws.com';

/** A network interface, as far as it matters for what it keeps from being deleted. */
export interface InterfaceFacts {
  readonly id: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  readonly description: string;
  /** The service that manages it: nobody else can delete it. Absent when no service does. */
  readonly operator?: string;
  /** The instance of this account that it is attached to. */
  readonly instanceId?: string;
}

/** Is this an interface of an application status check? It goes by itself, 20 minutes and more after its last use (MEASURED). */
export const isOfChecks = ({ operator }: InterfaceFacts): boolean => operator === CHECKS_OPERATOR;

/** An interface as a person is told of it: which it is, where, and whose. */
export function interfaceInWords(one: InterfaceFacts): string {
  const whose =
    one.operator !== undefined
      ? `managed by ${one.operator}`
      : one.instanceId !== undefined
        ? `of instance ${one.instanceId}`
        : 'of this account';
  return `${one.id} "${one.description}" in ${one.subnetId}, ${whose}`;
}
