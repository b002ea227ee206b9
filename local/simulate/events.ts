import type { Account } from '../account/account.ts';
import type { Answer } from '../account/application.ts';
import { autoScalingActs } from '../account/auto-scaling-acts.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Stack } from '../stack/deploy.ts';
import { ServiceError } from '../wire/contract.ts';
import type { BuiltFleet } from './build-fleet.ts';
import { OPEN, OWN_GROUP, registerBesides } from './build-fleet.ts';
import type { Scenario, ScenarioEvent } from './scenario.ts';

/** What a scenario lets happen cannot, as the account stands then. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
  /** The event's number, counted from 0. */
  readonly event: number;

  constructor(event: number, why: string) {
    super(why);
    this.event = event;
  }
}

/** There is nothing that the event could act on. */
class NothingToActOn extends Error {}

/**
 * Sets the scenario's events on the clock, counted from now or from the state that they name. One that cannot happen ends the
 * simulation with EventRefused, unless it may be missed or there is nothing of Quiesce: then the fleet may be gone before.
 *
 * @returns the events that have not happened yet
 */
export function scheduleEvents(
  account: Account,
  fleet: BuiltFleet,
  scenario: Scenario,
  stack: Stack | undefined,
): ReadonlySet<ScenarioEvent> {
  const { clock, journal } = account.world;
  const ahead = new Set(scenario.events);
  for (const event of scenario.events) {
    const set = () =>
      clock.after(event.atSeconds * 1000, () => {
        ahead.delete(event);
        try {
          happen(account, fleet, scenario, event, stack);
        } catch (error) {
          if (!(error instanceof ServiceError || error instanceof NothingToActOn)) throw error;
          if (stack && !event.mayMiss) throw new EventRefused(scenario.events.indexOf(event), error.message);
        }
      });
    if (event.after === undefined) {
      set();
      continue;
    }
    const stop = journal.listen(entry => {
      if (entry.type !== 'state-entered' || entry.state !== event.after) return;
      stop();
      set();
    });
  }
  return ahead;
}

function happen(
  account: Account,
  fleet: BuiltFleet,
  scenario: Scenario,
  event: ScenarioEvent,
  stack: Stack | undefined,
): void {
  const instance = fleet.instances[event.instance];
  if (!instance) throw new Error(`the fleet has no instance number ${event.instance}`);
  if (event.mayMiss && !canHappen(account, fleet, event, instance)) return;
  account.world.journal.record({ type: 'person', act: event.do, instanceId: instance.id });
  switch (event.do) {
    case 'terminate-instance':
      account.ec2.terminate(instance.id);
      return;
    case 'release-suppression':
      ec2Api(account.checks).DisableApplicationStatusCheckSuppression({ InstanceIds: [instance.id] });
      return;
    case 'suppress-instance':
      ec2Api(account.checks).EnableApplicationStatusCheckSuppression({
        InstanceIds: [instance.id],
        ...(event.seconds !== undefined && { DurationSeconds: event.seconds }),
      });
      return;
    case 'delete-check':
      for (const ApplicationStatusCheckId of checksLeft(account).slice(0, 1))
        ec2Api(account.checks).DeleteApplicationStatusCheck({ ApplicationStatusCheckId });
      return;
    case 'register-targets':
      registerBesides(account, scenario.fleet, fleet.targetGroups, [instance]);
      return;
    case 'enter-standby':
      autoScalingActs(account.autoScaling).EnterStandby({
        AutoScalingGroupName: fleet.groupName,
        InstanceIds: [instance.id],
        ShouldDecrementDesiredCapacity: true,
      });
      return;
    case 'exit-standby':
      autoScalingActs(account.autoScaling).ExitStandby({
        AutoScalingGroupName: fleet.groupName,
        InstanceIds: [instance.id],
      });
      return;
    case 'mark-unhealthy':
      autoScalingActs(account.autoScaling).SetInstanceHealth({
        InstanceId: instance.id,
        HealthStatus: 'Unhealthy',
        ShouldRespectGracePeriod: false,
      });
      return;
    case 'break-application':
      instance.application.suffer(() => FAILS);
      return;
    case 'answer-errors':
      instance.application.suffer(({ path }) => (isHealthPath(scenario, path) ? undefined : FAILS));
      return;
    case 'heal-application':
      instance.application.suffer(undefined);
      return;
    case 'stop-application':
      instance.application.stop();
      return;
    case 'deregister-targets':
      deregister(account, fleet, instance);
      return;
    case 'close-security-group':
      setIngress(account, []);
      return;
    case 'open-security-group':
      setIngress(account, [OPEN]);
      return;
    case 'include-check':
      for (const ApplicationStatusCheckId of checksLeft(account))
        ec2Api(account.checks).ModifyApplicationStatusCheck({
          ApplicationStatusCheckId,
          Aggregation: 'included',
        });
      return;
    case 'disassociate-check':
      for (const ApplicationStatusCheckId of checksLeft(account).slice(0, 1))
        ec2Api(account.checks).DisassociateApplicationStatusCheck({
          ApplicationStatusCheckId,
          TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: fleet.groupName }],
        });
      return;
    case 'use-own-group':
      account.ec2.network.addInterface({
        subnetId: instance.subnetId,
        groupIds: [ownGroup(account)],
        addressCount: 1,
        description: 'ELB app/other/0123456789abcdef',
        owner: { kind: 'requester', requesterId: 'amazon-elb' },
      });
      return;
    case 'refer-to-own-group': {
      const rule = { fromPort: 443, toPort: 443, from: { groupId: ownGroup(account) } };
      account.ec2.addSecurityGroup({ name: 'other', ingress: [rule] });
      return;
    }
    case 'stop-deployment':
      stopDeployment(account);
      return;
    case 'scale-out':
      scale(account, fleet, 1);
      return;
    case 'scale-in':
      scale(account, fleet, -1);
      return;
    case 'refresh-instances':
      account.autoScaling.refreshes.start(account.autoScaling.group(fleet.groupName));
      return;
    case 'replace-instance':
      autoScalingActs(account.autoScaling).TerminateInstanceInAutoScalingGroup({
        InstanceId: instance.id,
        ShouldDecrementDesiredCapacity: false,
      });
      return;
    case 'stop-execution':
      for (const execution of stack?.executions.all() ?? [])
        if (execution.status === 'RUNNING' && execution.machine.name.includes(event.machine ?? ''))
          stack?.executions.stop(execution.arn, 'Operator.Stopped', 'by a person');
  }
}

const FAILS: Answer = { kind: 'responds', status: 500, afterMs: 20 };

const isHealthPath = ({ fleet: { targetGroups, checks } }: Scenario, path: string): boolean =>
  targetGroups.some(group => group.healthCheck.path === path) || checks.some(check => check.path === path);

/** From every target group that it is in, on every port. */
function deregister({ loadBalancing }: Account, { targetGroups }: BuiltFleet, instance: Instance): void {
  for (const { arn, targets } of targetGroups)
    for (const id of [instance.id, ...instance.privateAddresses])
      loadBalancing.deregister(
        arn,
        [...targets.of(id)].map(({ port }) => ({ id, port })),
      );
}

/** Is there still what the event acts on? */
function canHappen(account: Account, fleet: BuiltFleet, event: ScenarioEvent, { id }: Instance): boolean {
  const { codeDeploy, ec2, autoScaling } = account;
  const { groupName } = fleet;
  if (ec2.instance(id)?.state !== 'running') return false;
  switch (event.do) {
    case 'stop-deployment':
      return codeDeploy.deployer !== undefined && carriedOut(codeDeploy) !== undefined;
    case 'scale-out':
      if (groupName === undefined) return false;
      return autoScaling.group(groupName).desiredCapacity < autoScaling.group(groupName).maxSize;
    case 'enter-standby': {
      const found = autoScaling.memberOf(id);
      return found?.member.lifecycle === 'InService' && found.group.desiredCapacity > found.group.minSize;
    }
    case 'exit-standby': {
      const found = autoScaling.memberOf(id);
      if (found?.member.lifecycle !== 'Standby' || found.group.suspends('Launch')) return false;
      return found.group.desiredCapacity < found.group.maxSize;
    }
    case 'mark-unhealthy':
      return autoScaling.memberOf(id) !== undefined;
    case 'delete-check':
      return checksLeft(account).length > 0;
    case 'use-own-group':
    case 'refer-to-own-group':
      return ownGroups(account).length > 0;
    default:
      return true;
  }
}

/** The security group from which the first check with one of its own is asked. @throws Error when there is none */
function ownGroup(account: Account): string {
  const [id] = ownGroups(account);
  if (id === undefined) throw new NothingToActOn('No check of the fleet has a security group of its own.');
  return id;
}

const ownGroups = ({ ec2: { network } }: Account): string[] =>
  [...network.securityGroups.values()].filter(({ name }) => name === OWN_GROUP).map(({ id }) => id);

function setIngress({ ec2: { network } }: Account, rules: Parameters<typeof network.setIngress>[1]): void {
  for (const id of network.securityGroups.keys()) network.setIngress(id, rules);
}

/** The checks of the fleet, and one that is adopted. */
const checksLeft = ({ checks }: Account): string[] => checks.registry.active().map(({ id }) => id);

/** The deployment that CodeDeploy carries out itself: it has a revision. */
const carriedOut = (codeDeploy: Account['codeDeploy']) =>
  [...codeDeploy.deployments()].find(({ isLive, facts }) => isLive && facts.revision !== undefined);

function stopDeployment({ codeDeploy }: Account): void {
  const live = carriedOut(codeDeploy);
  if (!live || !codeDeploy.deployer)
    throw new NothingToActOn('CodeDeploy carries out no deployment that could be stopped.');
  codeDeploy.deployer.stop(live, false);
}

function scale({ autoScaling }: Account, { groupName }: BuiltFleet, by: 1 | -1): void {
  if (groupName === undefined) throw new Error('no Auto Scaling group watches the fleet, so none can scale');
  const { desiredCapacity } = autoScaling.group(groupName);
  autoScalingActs(autoScaling).SetDesiredCapacity({
    AutoScalingGroupName: groupName,
    DesiredCapacity: desiredCapacity + by,
  });
}
