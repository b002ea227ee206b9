import type { World } from '../account/world.ts';
import { type Call, type Caller, type Gate, ServiceError } from '../wire/contract.ts';
import { DYNAMODB } from './actions/dynamodb.ts';
import { EC2 } from './actions/ec2.ts';
import { AUTO_SCALING, CODEDEPLOY, ELASTIC_LOAD_BALANCING } from './actions/fleet.ts';
import { CLOUDWATCH, EVENTS, LAMBDA, S3, SNS, SQS, STATES } from './actions/operations.ts';
import { About, type ActionTable, type Concern, type TagLookup } from './actions/resources.ts';
import type { DeployedTemplate, Role } from './deployed-template.ts';
import { type Decision, decide, type Statement } from './permissions.ts';

/** An action that a role is allowed and that no call has needed. */
export interface UnusedPermission {
  readonly role: string;
  readonly sid: string;
  readonly action: string;
}

const TABLES: ReadonlyMap<string, ActionTable> = new Map(
  Object.entries({
    autoscaling: AUTO_SCALING,
    cloudwatch: CLOUDWATCH,
    codedeploy: CODEDEPLOY,
    dynamodb: DYNAMODB,
    ec2: EC2,
    elasticloadbalancing: ELASTIC_LOAD_BALANCING,
    events: EVENTS,
    lambda: LAMBDA,
    s3: S3,
    sns: SNS,
    sqs: SQS,
    states: STATES,
  }),
);

/** Used by the platforms themselves, outside any call that the account sees. */
const PLATFORM_SERVICES: ReadonlySet<string> = new Set(['kms', 'logs', 'xray']);

/**
 * Holds every call of a function, a machine or a rule to the permissions that the template gives its role. People at
 * the keyboard and AWS's own services pass.
 */
export class Authorization implements Gate {
  readonly #world: World;
  readonly #template: DeployedTemplate;
  readonly #about: About;
  readonly #used = new Map<Statement, Set<string>>();

  /** @throws Error on a role that names an action which the authorization table does not have */
  constructor(world: World, template: DeployedTemplate, lookup: TagLookup) {
    this.#world = world;
    this.#template = template;
    this.#about = new About(world, template, lookup);
    for (const { logicalId, statements } of this.#roles())
      for (const action of statements.flatMap(({ actions }) => actions))
        if (!isKnown(action)) throw new Error(`${logicalId}: ${missingRow(action)}`);
  }

  /**
   * Also for calls that do not pass the wire, such as a machine's `lambda:invoke` (`lambda` `Invoke`).
   *
   * @throws ServiceError with the code and the sentence by which the called service says that access is denied
   */
  before({ service, action, caller }: Call, input: Readonly<Record<string, unknown>>): void {
    if (caller.kind === 'operator' || caller.kind === 'service') return;
    const row = TABLES.get(service)?.[action];
    if (!row) throw denial(service, missingRow(`${service}:${action}`));
    const concerns = row(input as never, this.#about);
    for (const concern of concerns) {
      const iamAction = concern.action ?? `${service}:${action}`;
      const role = this.#roleOf(caller, concern.resource);
      const decision = role ? this.#decide(role, iamAction, concern) : ({ kind: 'not-allowed' } as const);
      if (decision.kind === 'allowed') continue;
      throw denial(service, this.#sentence(caller, role, iamAction, concern.resource, decision));
    }
  }

  /** Sorted by role and action. */
  unusedPermissions(): readonly UnusedPermission[] {
    return this.#roles()
      .flatMap(role =>
        role.statements
          .filter(({ effect }) => effect === 'Allow')
          .flatMap(statement =>
            statement.actions
              .filter(action => !this.#used.get(statement)?.has(action.toLowerCase()) && !isPlatform(action))
              .map(action => ({ role: role.logicalId, sid: statement.sid, action })),
          ),
      )
      .sort((a, b) => compare(a.role, b.role) || compare(a.action, b.action));
  }

  #decide(role: Role, action: string, { resource, context }: Concern): Decision {
    const decision = decide(role.statements, {
      action,
      resource,
      context: new Map(
        Object.entries({
          ...context,
          'aws:PrincipalAccount': [this.#world.accountId],
          'aws:RequestedRegion': [this.#world.region],
          ...(action.startsWith('ec2:') ? { 'ec2:Region': [this.#world.region] } : {}),
        }),
      ),
    });
    if (decision.kind === 'allowed') {
      const actions = this.#used.get(decision.by) ?? new Set();
      this.#used.set(decision.by, actions.add(action.toLowerCase()));
    }
    return decision;
  }

  /** A rule has a role for each target, so the resource says which one acts. */
  #roleOf({ kind, name }: Caller, resource: string): Role | undefined {
    const { functions, machines, rules } = this.#template;
    if (kind === 'rule') return rules.get(name)?.targets.find(({ arn }) => arn === resource)?.role;
    const holder = kind === 'function' ? functions.get(name) : machines.get(name);
    if (!holder) throw new Error(`the template has no ${kind} ${name}`);
    return holder.role;
  }

  #roles(): readonly Role[] {
    const { functions, machines, rules } = this.#template;
    const roles = [
      ...[...functions.values(), ...machines.values()].map(({ role }) => role),
      ...[...rules.values()].flatMap(({ targets }) => targets.flatMap(({ role }) => role ?? [])),
    ];
    return [...new Map(roles.map(role => [role.logicalId, role])).values()];
  }

  #sentence(
    { name }: Caller,
    role: Role | undefined,
    action: string,
    resource: string,
    decision: Exclude<Decision, { kind: 'allowed' }>,
  ): string {
    const { partition, accountId } = this.#world;
    const user = `arn:${partition}:sts::${accountId}:assumed-role/${role?.name ?? 'none'}/${name}`;
    const because =
      decision.kind === 'denied'
        ? `with an explicit deny in an identity-based policy (${decision.by.sid})`
        : `because no identity-based policy allows the ${action} action`;
    return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${because}`;
  }
}

/** How each service's protocol spells the refusal. */
export function denial(service: string, sentence: string): ServiceError {
  if (service === 'ec2')
    return new ServiceError(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. ${sentence}`,
      403,
    );
  return ANSWERS_IN_XML.has(service)
    ? new ServiceError('AccessDenied', sentence, 403)
    : new ServiceError('AccessDeniedException', sentence, 400);
}

const ANSWERS_IN_XML: ReadonlySet<string> = new Set(['elasticloadbalancing', 'autoscaling', 'sns', 's3']);

const missingRow = (action: string): string =>
  `${action} has no row in the authorization table (local/stack/actions)`;

const isKnown = (action: string): boolean => {
  const [service = '', name = ''] = action.split(':');
  return (
    isPlatform(action) || action === 'lambda:InvokeFunction' || TABLES.get(service)?.[name] !== undefined
  );
};

const isPlatform = (action: string): boolean => PLATFORM_SERVICES.has(action.split(':')[0] ?? '');

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
