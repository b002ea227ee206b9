import { ec2Api } from '../../../local/account/ec2-service.ts';
import { OPT_IN, OWN_GROUP } from '../../../local/simulate/build-fleet.ts';
import type { Execution } from '../../../local/states/execution.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet } from '../../machine/helpers/bracket.ts';

/** One instance under one check, which is asked from a security group of its own. */
export const guarded: Fleet = {
  instances: 1,
  zones: ['eu-west-1a'],
  checks: [{ port: 8080, ownGroup: 'deleted-when-free' }],
  autoScaling: { healthChecks: ['EC2'] },
};

export const MINUTE = 60_000;

/** A fleet with a check that is to be retired, and people around it. */
export class Retiring {
  readonly bracket: Bracket;

  constructor(of: Bracket) {
    this.bracket = of;
  }

  get network() {
    return this.bracket.standing.account.ec2.network;
  }

  get api() {
    return ec2Api(this.bracket.standing.account.checks);
  }

  get registry() {
    return this.bracket.standing.account.checks.registry;
  }

  get checkId(): string {
    return this.bracket.standing.fleet.checkIds[0] ?? 'no check';
  }

  /** The check's own security group; it may be gone. */
  get groupId(): string {
    for (const { id, name } of this.network.securityGroups.values()) if (name === OWN_GROUP) return id;
    return 'no group';
  }

  /** The interfaces from which checks are asked. */
  get interfaceIds(): string[] {
    return [...this.network.interfaces.values()]
      .filter(one => one.owner.kind === 'service')
      .map(one => one.id);
  }

  start(request: Readonly<Record<string, unknown>> = { checkId: this.checkId }): Execution {
    return this.bracket.start('RetireCheck', request);
  }

  async retire(request?: Readonly<Record<string, unknown>>): Promise<Execution> {
    const execution = this.start(request);
    await this.bracket.end(execution);
    return execution;
  }

  /** As a person does. */
  deleteCheck(): void {
    this.api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: this.checkId });
  }

  /** As a person does: another check of the group, asked from the same security group. */
  createCheckBeside(tags: Readonly<Record<string, string>> = OPT_IN): string {
    const [SubnetId = ''] = this.network.subnets.keys();
    const fleetGroup = [...this.network.securityGroups.values()].find(({ name }) => name === 'web');
    const created = this.api.CreateApplicationStatusCheck({
      Protocol: 'http',
      Port: 8080,
      Aggregation: 'excluded',
      HealthCheckPaths: [
        {
          Source: { SubnetId, SecurityGroupId: this.groupId },
          Destinations: [{ SubnetId, SecurityGroupId: fleetGroup?.id }],
        },
      ],
      TagSpecifications: [
        {
          ResourceType: 'application-status-check',
          Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
        },
      ],
    });
    const ApplicationStatusCheckId = created.ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
    const [instance] = this.bracket.ids(0);
    this.api.AssociateApplicationStatusCheck({ ApplicationStatusCheckId, InstanceIds: [instance ?? ''] });
    return ApplicationStatusCheckId;
  }

  /** As a person does, with the whole group of the fleet. */
  associateGroup(ApplicationStatusCheckId: string): void {
    this.api.AssociateApplicationStatusCheck({
      ApplicationStatusCheckId,
      TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: 'web' }],
    });
  }

  /** As somebody else's load balancer does. */
  useGroup(): string {
    const [subnetId = ''] = this.network.subnets.keys();
    const { id } = this.network.addInterface({
      subnetId,
      groupIds: [this.groupId],
      addressCount: 1,
      description: 'ELB app/other/1',
      owner: { kind: 'requester', requesterId: 'amazon-elb' },
    });
    return id;
  }

  /** As a person does: another group lets in what has this one. */
  referToGroup(): string {
    const rule = { fromPort: 443, toPort: 443, from: { groupId: this.groupId } };
    return this.network.addSecurityGroup({ name: 'other', ingress: [rule] }).id;
  }

  /** What the ledger holds of retirements: key and status. */
  async records(): Promise<string[]> {
    return (await this.bracket.ledger())
      .filter(({ pk }) => /^(retirement|check)#/.test(pk))
      .map(({ pk, status }) => `${pk.split('#')[0]} ${status}`);
  }
}

/** An interface stays for 25 minutes, unless `physics` says otherwise. */
export const retiring = async (
  { physics = {}, ...settings }: BracketSettings = {},
  fleet: Fleet = guarded,
): Promise<Retiring> =>
  new Retiring(
    await bracket(fleet, { ...settings, physics: { interfaceLingerMinutes: [25, 25], ...physics } }),
  );
