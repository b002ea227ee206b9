import { readFileSync } from 'node:fs';
import { ec2Api } from '../../../local/account/ec2-service.ts';
import { CloudFormation, type SimulatedStack } from '../../../local/cloud-formation/cloud-formation.ts';
import type { Request } from '../../../local/cloud-formation/custom-resources.ts';
import { OPT_IN } from '../../../local/simulate/build-fleet.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet } from '../../machine/helpers/bracket.ts';

/** Two instances in two zones, in a group, without a check. */
const fleet: Fleet = {
  instances: 2,
  zones: ['eu-west-1a', 'eu-west-1b'],
  targetGroups: [],
  checks: [],
  autoScaling: { healthChecks: ['EC2'] },
};

const EXAMPLE = readFileSync('examples/cloudformation/checked-fleet.yaml', 'utf8');

/** Has the guard of the example give up seven minutes before these seconds are over. */
export const hasty = (seconds: number) =>
  ['\n      SecurityGroupId', `\n      ServiceTimeout: ${seconds}\n      SecurityGroupId`] as const;

type Properties = Readonly<Record<string, unknown>>;

/** A stack of custom resources alone; the others come after the first. */
export const customResources = (
  resources: Readonly<Record<string, Properties & { readonly type?: string }>>,
) => ({
  text: JSON.stringify({
    Resources: Object.fromEntries(
      Object.entries(resources).map(
        ([name, { type = 'Custom::QuiesceCheckAssociation', ...properties }], index) => [
          name,
          {
            Type: type,
            ...(index > 0 && { DependsOn: Object.keys(resources)[0] }),
            Properties: { ServiceToken: { 'Fn::ImportValue': 'quiesce-ServiceToken' }, ...properties },
          },
        ],
      ),
    ),
  }),
});

/** An account with Quiesce in it, and a team that describes its checks in CloudFormation. */
export class Stacks {
  readonly bracket: Bracket;
  readonly cloudFormation: CloudFormation;

  constructor(of: Bracket, deliveries: number) {
    this.bracket = of;
    const { stack, standing } = of;
    this.cloudFormation = new CloudFormation({
      account: standing.account,
      invoke: (functionArn, event) => stack.invokeLater(functionArn, event),
      deliveries,
      imports: new Map([['quiesce-ServiceToken', stack.template.outputs.ServiceToken ?? '']]),
    });
  }

  get registry() {
    return this.bracket.standing.account.checks.registry;
  }

  get network() {
    return this.bracket.standing.account.ec2.network;
  }

  /** The example, with some of its text replaced. */
  example(...replaced: readonly (readonly [string, string])[]) {
    const [FirstSubnetId = '', SecondSubnetId = ''] = this.network.subnets.keys();
    const [InstanceSecurityGroupId = ''] = this.network.securityGroups.keys();
    return {
      text: replaced.reduce((text, [from, to]) => text.replaceAll(from, to), EXAMPLE),
      parameters: {
        AutoScalingGroupName: 'web',
        VpcId: this.network.vpcId,
        FirstSubnetId,
        SecondSubnetId,
        InstanceSecurityGroupId,
      },
    };
  }

  /** As a person does: excluded. With a security group, on the whole group, and asked from there. */
  createCheck(tags: Readonly<Record<string, string>> = OPT_IN, from?: string): string {
    const api = ec2Api(this.bracket.standing.account.checks);
    const [SubnetId = ''] = this.network.subnets.keys();
    const [SecurityGroupId = ''] = this.network.securityGroups.keys();
    const path = {
      Source: { SubnetId, SecurityGroupId: from },
      Destinations: [{ SubnetId, SecurityGroupId }],
    };
    const { ApplicationStatusCheck } = api.CreateApplicationStatusCheck({
      Protocol: 'http',
      Port: 8080,
      Aggregation: 'excluded',
      ...(from !== undefined && { HealthCheckPaths: [path] }),
      TagSpecifications: [
        {
          ResourceType: 'application-status-check',
          Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
        },
      ],
    });
    const id = ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
    if (from !== undefined)
      api.AssociateApplicationStatusCheck({
        ApplicationStatusCheckId: id,
        TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: 'web' }],
      });
    return id;
  }

  /** Lets time pass until it is done. */
  run<T>(work: Promise<T>): Promise<T> {
    return this.bracket.clock.runFor(work);
  }

  get requests(): readonly Request[] {
    return this.cloudFormation.custom.requests;
  }

  /** `Create Association SUCCESS`, or with another text for each different answer. */
  get answers(): string[] {
    return this.requests.map(({ type, logicalId, answers }) =>
      [type, logicalId, ...new Set(answers.map(answer => JSON.parse(answer).Status))].join(' '),
    );
  }

  /** With what every check is associated. */
  get associations(): string[] {
    return this.registry
      .active()
      .flatMap(({ associations }) =>
        [...associations.values()].map(one =>
          one.type === 'tag' ? `${one.key}=${one.value}` : one.instanceId,
        ),
      );
  }

  /** What the ledger holds for stacks. */
  async held(): Promise<string[]> {
    return (await this.bracket.ledger()).map(({ pk }) => pk).filter(pk => pk.startsWith('association#'));
  }

  /** Requests that did not get exactly one answer. */
  get unanswered(): string[] {
    return this.requests
      .filter(({ answers, timedOut }) => timedOut || answers.length !== 1)
      .map(({ type, logicalId, answers }) => `${type} ${logicalId}: ${answers.length} answers`);
  }

  stack(name = 'checks'): SimulatedStack {
    return this.cloudFormation.stack(name);
  }

  /** The stack of Quiesce itself. */
  get own(): SimulatedStack {
    const { template } = this.bracket.stack;
    return this.cloudFormation.stack(
      'quiesce',
      template.functions.get('CleanUpFunction')?.environment.STACK_ID,
    );
  }
}

export async function stacks(
  settings: BracketSettings = {},
  deliveries = 1,
  of: Fleet = fleet,
): Promise<Stacks> {
  return new Stacks(await bracket(of, settings), deliveries);
}
