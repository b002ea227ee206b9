import type { CreateApplicationStatusCheckRequest } from '@aws-sdk/client-ec2';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import { OPT_IN } from '../../../local/simulate/build-fleet.ts';
import type { Execution } from '../../../local/states/execution.ts';
import { ServiceError } from '../../../local/wire/contract.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet } from '../../machine/helpers/bracket.ts';

type Network = Bracket['standing']['account']['ec2']['network'];

/** Three instances in two zones, in a group that looks at nothing but EC2's status, without a check. */
export const unchecked: Fleet = {
  instances: 3,
  zones: ['eu-west-1a', 'eu-west-1b'],
  targetGroups: [],
  checks: [],
  autoScaling: { healthChecks: ['EC2'] },
  startUpSeconds: 20,
};

/** A group that has no check yet, and people who adopt one. */
export class Adopting {
  readonly bracket: Bracket;

  constructor(of: Bracket) {
    this.bracket = of;
  }

  get #api() {
    return ec2Api(this.bracket.standing.account.checks);
  }

  get registry() {
    return this.bracket.standing.account.checks.registry;
  }

  /** `included` or `excluded`, of every check that there is. */
  get aggregations(): string[] {
    return this.registry.active().map(({ settings }) => settings.aggregation);
  }

  /** With what each check is associated. */
  get associations(): string[] {
    return this.registry
      .active()
      .flatMap(({ associations }) =>
        [...associations.values()].map(one =>
          one.type === 'tag' ? `${one.key}=${one.value}` : one.instanceId,
        ),
      );
  }

  get checkId(): string {
    return this.registry.active()[0]?.id ?? 'no check';
  }

  /** Starts an adoption of a check on port 8080, unless `request` says otherwise. */
  start(request: Readonly<Record<string, unknown>> = {}): Execution {
    return this.bracket.start('PromoteCheck', {
      autoScalingGroupName: 'web',
      check: { protocol: 'http', port: 8080, graceSeconds: 60 },
      ...request,
    });
  }

  async adopt(request: Readonly<Record<string, unknown>> = {}): Promise<Execution> {
    const execution = this.start(request);
    await this.bracket.end(execution);
    return execution;
  }

  /** As a person does. */
  createCheck(
    tags: Readonly<Record<string, string>> = OPT_IN,
    Aggregation: 'included' | 'excluded' = 'excluded',
  ): string {
    return this.#create(tags, { Aggregation });
  }

  #create(
    tags: Readonly<Record<string, string>>,
    settings: Omit<CreateApplicationStatusCheckRequest, 'Protocol' | 'Port'>,
  ): string {
    const created = this.#api.CreateApplicationStatusCheck({
      Protocol: 'http',
      Port: 8080,
      Aggregation: 'excluded',
      InitializationGracePeriodSeconds: 60,
      TagSpecifications: [
        {
          ResourceType: 'application-status-check',
          Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
        },
      ],
      ...settings,
    });
    return created.ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
  }

  /** As a person does: asked from the first subnet and the group's own security group, by name. */
  createCheckOnPath(): string {
    const { network } = this.bracket.standing.account.ec2;
    const [SubnetId = ''] = network.subnets.keys();
    const [SecurityGroupId = ''] = network.securityGroups.keys();
    return this.#create(OPT_IN, {
      HealthCheckPaths: [
        { Source: { SubnetId, SecurityGroupId }, Destinations: [{ SubnetId, SecurityGroupId }] },
      ],
    });
  }

  /** As a person does. */
  deleteCheck(): void {
    this.#api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: this.checkId });
  }

  /** As a person does. */
  include(): void {
    this.modify({ Aggregation: 'included' });
  }

  /** As a person does. */
  modify(settings: { readonly Aggregation?: 'included' | 'excluded'; readonly Path?: string }): void {
    this.#api.ModifyApplicationStatusCheck({ ApplicationStatusCheckId: this.checkId, ...settings });
  }

  /** As a person does, with a whole group. */
  associateGroup(name: string): void {
    this.#api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId: this.checkId,
      TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: name }],
    });
  }

  /** As a person does, with a whole group. */
  disassociateGroup(name: string): void {
    this.#api.DisassociateApplicationStatusCheck({
      ApplicationStatusCheckId: this.checkId,
      TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: name }],
    });
  }

  /** A check that is on the whole group already, excluded, as its deployment has brought it. */
  createCheckOnGroup(): string {
    const ApplicationStatusCheckId = this.createCheck();
    this.#api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId,
      TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: 'web' }],
    });
    return ApplicationStatusCheckId;
  }

  /** As a person does. */
  associateByHand(checkId: string, ...InstanceIds: string[]): void {
    this.#api.AssociateApplicationStatusCheck({ ApplicationStatusCheckId: checkId, InstanceIds });
  }

  /** Every instance of the fleet's first ones answers so from now on; undefined heals. */
  answer(status: ((now: number) => number) | undefined, ...numbers: number[]): void {
    const ids = this.bracket.ids(...numbers);
    for (const { id, application } of this.bracket.standing.fleet.instances)
      if (ids.includes(id))
        application.suffer(status && ((_, now) => ({ kind: 'responds', status: status(now), afterMs: 20 })));
  }

  /** No check reaches the group any more. */
  closeIngress(): void {
    this.#setIngress([]);
  }

  openIngress(): void {
    this.#setIngress([{ fromPort: 1, toPort: 65535, from: { cidr: '10.0.0.0/8' } }]);
  }

  #setIngress(rules: Parameters<Network['setIngress']>[1]): void {
    const { network } = this.bracket.standing.account.ec2;
    for (const group of network.securityGroups.keys()) network.setIngress(group, rules);
  }

  /** Another group, like this one but for its size and tags. */
  addGroup(name: string, instances: number, tags: Readonly<Record<string, string>> = OPT_IN): void {
    const { autoScaling } = this.bracket.standing.account;
    const { settings } = autoScaling.group('web');
    autoScaling.addGroup({
      ...settings,
      name,
      minSize: 0,
      maxSize: 10,
      desiredCapacity: instances,
      tags,
      seasoned: true,
    });
  }

  /** How often Auto Scaling has replaced an instance. */
  get replacements(): number {
    return this.bracket.entries('activity').filter(({ kind }) => kind === 'terminate').length;
  }
}

/** As often as a client tries by itself (clients.ts): then the step is repeated. */
const TRIES = 4;

/** The first answers of this action are lost after it took effect, until a step fails of it. */
export function losing(action: string): Pick<BracketSettings, 'gates'> {
  let left = TRIES;
  const after = (call: { readonly action: string }) => {
    if (call.action === action && left-- > 0)
      throw new ServiceError('InternalError', 'An internal error has occurred', 500);
  };
  return { gates: () => [{ after }] };
}

export const adopting = async (settings: BracketSettings = {}, fleet: Fleet = unchecked): Promise<Adopting> =>
  new Adopting(await bracket(fleet, settings));
