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
  /** Who has made it in this account's name, such as `amazon-elb`. */
  readonly requester?: string;
  /** The instance of this account that it is attached to. */
  readonly instanceId?: string;
  /** Whose the other end of its attachment is, an account's or a service's; absent when it is attached to nothing. */
  readonly attachedTo?: string;
  /** Since when; an interface of checks is attached as long as it is there. */
  readonly attachedAt?: Date;
}

/** Is this an interface of an application status check? It goes by itself, 20 minutes and more after its last use (MEASURED). */
export const isOfChecks = ({ operator }: InterfaceFacts): boolean => operator === CHECKS_OPERATOR;

/** An interface as a person is told of it: which it is, where, whose, and what it is attached to. */
export function interfaceInWords(one: InterfaceFacts): string {
  const attached = `attached to ${one.attachedTo ?? 'nothing'}`;
  const whose =
    one.operator !== undefined
      ? `managed by ${one.operator}, ${attached}`
      : one.instanceId !== undefined
        ? `of instance ${one.instanceId}`
        : `of ${one.requester ?? 'this account'}, ${attached}`;
  return `${one.id} "${one.description}" in ${one.subnetId}, ${whose}`;
}

/** What keeps a security group from being deleted (D34). */
export type Blocker =
  | { readonly kind: 'interface'; readonly found: InterfaceFacts }
  /** A rule of this other group refers to it. */
  | { readonly kind: 'rule'; readonly groupId: string }
  | { readonly kind: 'vpc'; readonly vpcId: string };

/** A security group that is to be deleted. */
export interface HeldGroup {
  readonly id: string;
  readonly blockers: readonly Blocker[];
}

function blockerInWords(blocker: Blocker): string {
  switch (blocker.kind) {
    case 'interface':
      return `interface ${interfaceInWords(blocker.found)}`;
    case 'rule':
      return `a rule of ${blocker.groupId} that refers to it`;
    case 'vpc':
      return `its association with ${blocker.vpcId}`;
  }
}

/** How many blockers of one group are named: a group may be on thousands of interfaces. */
const MOST_NAMED = 5;

/** `sg-1 is held by interface eni-1 "..." in subnet-1, ...; a rule of sg-2 that refers to it; and 3 more`. */
export function heldInWords({ id, blockers }: HeldGroup): string {
  if (blockers.length === 0) return `EC2 does not delete ${id}, and shows nothing that holds it`;
  const rest = blockers.length - MOST_NAMED;
  const named = blockers.slice(0, MOST_NAMED).map(blockerInWords);
  return `${id} is held by ${[...named, ...(rest > 0 ? [`${rest} more`] : [])].join('; ')}`;
}

/** Is it held by nothing but interfaces that AWS deletes by itself? */
export const isHeldByChecksAlone = ({ blockers }: HeldGroup): boolean =>
  blockers.every(blocker => blocker.kind === 'interface' && isOfChecks(blocker.found));
