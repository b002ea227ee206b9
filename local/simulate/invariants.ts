import { executionName } from '../../functions/core/naming.ts';
import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Call, Gate } from '../wire/contract.ts';
import type { BuiltFleet } from './build-fleet.ts';
import { People } from './people.ts';
import {
  deploymentOfRun,
  deploymentsOf,
  findsDetached,
  isEmergency,
  leavesTraffic,
  policyOf,
} from './runs.ts';
import type { Scenario } from './scenario.ts';

/** One of the things that must always hold did not. */
export interface Violation {
  readonly at: number;
  /** The number under which the design lists it. */
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  readonly what: string;
}

const LEAD_MS = 180_000;

/** How much later a run may end when its calls fail and are repeated: what the product itself allows for. */
const REPEATING_SECONDS = 900;

/** What the ledger holds under one key; all but the key only of a run. Times are seconds since the epoch. */
export interface LedgerItem {
  readonly pk: string;
  readonly status: string | undefined;
  readonly outcome?: string | undefined;
  readonly error?: string | undefined;
  readonly deadline?: number | undefined;
  readonly goAheadAt?: number | undefined;
  readonly resumedAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

/**
 * What must always hold, checked from outside the product: from the account's true state and its journal, never from what
 * the product says of itself. Checked at every quiet instant, so after each virtual second in which anything happened.
 */
export class Invariants {
  readonly violations: Violation[] = [];
  readonly #account: Account;
  readonly #fleet: BuiltFleet;
  readonly #scenario: Scenario;
  /** Since when an instance's present suppression was asked for. */
  readonly #suppressedSince = new Map<string, number>();
  /** The run of each instance, from its go-ahead until its after-deploy ends or fails. */
  readonly #inDeployment = new Map<string, { readonly runId: string; readonly since: number }>();
  readonly #people: People;
  /** Every instance that the fleet's group has had. */
  readonly #members = new Set<string>();
  /** What people had set before the first run. */
  readonly #foreign = new Map<string, number | undefined>();
  /** Where people's suppression does not show, for want of an included check: nobody can tell it from ours (D13). */
  readonly #unseen = new Set<string>();
  /** By instance id, and by each private address. */
  readonly #byTargetId: ReadonlyMap<string, Instance>;
  readonly #membershipsAtStart: ReadonlyMap<string, string>;
  readonly #suspendedAtStart: ReadonlySet<string>;
  /** Deregistrations of targets that were healthy when they were asked for. */
  readonly #takesHealthy = new WeakSet<Call>();
  #deregistered = new Set<string>();
  #checkedAt = 0;
  #checkedInstants = 0;

  constructor(account: Account, fleet: BuiltFleet, scenario: Scenario) {
    this.#account = account;
    this.#fleet = fleet;
    this.#scenario = scenario;
    this.#people = new People(account, scenario);
    this.#byTargetId = new Map(
      fleet.instances.flatMap(instance =>
        [instance.id, ...instance.privateAddresses].map(id => [id, instance] as const),
      ),
    );
    this.#membershipsAtStart = this.#memberships();
    this.#suspendedAtStart = this.#suspended();
    for (const { id } of fleet.instances) {
      const suppression = account.checks.suppression(id);
      if (!suppression) continue;
      if (account.checks.overall(id).status === 'suppressed') this.#foreign.set(id, suppression.resumesAt);
      else this.#unseen.add(id);
    }
    for (const group of account.autoScaling.groups())
      if (group.name === fleet.groupName) for (const id of group.members.keys()) this.#members.add(id);
    account.world.journal.listen(entry => this.#hear(entry));
  }

  /** Stands behind the calls: what our functions do is judged by its effect, at once. */
  readonly gate: Gate = {
    before: (call, input) => this.#beforeCall(call, input),
    after: (call, input) => this.#afterCall(call, input),
  };

  /** At how many instants so far something happened that was checked. */
  get checkedInstants(): number {
    return this.#checkedInstants;
  }

  /** What must hold when every run is over (4, 7). */
  checkEnd(stack: Stack | undefined, ledger: readonly LedgerItem[]): void {
    if (!stack) return;
    for (const execution of stack.executions.all())
      if (execution.status === 'RUNNING') this.#broken(7, `${execution.name} has not ended`);
      else if (execution.status === 'TIMED_OUT')
        this.#broken(7, `${execution.name} has not ended by itself before its machine's time-out`);
      else if (execution.status !== 'SUCCEEDED' && !(execution.error && execution.cause))
        this.#broken(7, `${execution.name} ended as ${execution.status} and does not say why`);
    for (const { id, state } of this.#fleet.instances.map(one => this.#now(one))) {
      if (state !== 'running' || this.#people.hasSuppressed(id) || this.#unseen.has(id)) continue;
      const suppression = this.#account.checks.suppression(id);
      const found = this.#foreign.has(id);
      const releasing = suppression?.state === 'releasing';
      const over = !found || this.#isOver(id);
      // What was lengthened and cannot be shortened again ends by its duration.
      const lengthened = found && this.#account.world.physics.secondEnable === 'extends';
      if (suppression && !releasing && over && !lengthened) this.#broken(4, `${id} is still suppressed`);
      if (over) continue;
      const resumesAt = this.#foreign.get(id) ?? Number.POSITIVE_INFINITY;
      if (!suppression || releasing)
        this.#broken(4, `the suppression that somebody else had set on ${id} is gone`);
      else if ((suppression.resumesAt ?? Number.POSITIVE_INFINITY) < resumesAt)
        this.#broken(4, `the suppression that somebody else had set on ${id} ends earlier than it did`);
    }
    for (const { id } of this.#launchedSince()) {
      const suppression = this.#account.checks.suppression(id);
      if (suppression && suppression.state !== 'releasing')
        this.#broken(4, `${id}, which was launched meanwhile, is still suppressed`);
    }
    const now = this.#memberships();
    // CodeDeploy's own step puts back one port of each instance.
    const ours = !this.#scenario.deployment.loadBalancerStep;
    for (const [key, instanceId] of ours ? this.#membershipsAtStart : [])
      if (!now.has(key) && this.#isServing(instanceId)) this.#broken(4, `${key} was not put back`);
    for (const process of this.#suspended())
      if (!this.#suspendedAtStart.has(process)) this.#broken(4, `${process} is still suspended`);
    for (const process of this.#suspendedAtStart)
      if (!this.#suspended().has(process))
        this.#broken(4, `${process}, which somebody else had suspended, was resumed`);
    for (const item of ledger) {
      if (!holdsNothing(item.pk)) this.#broken(4, `the ledger still holds ${item.pk}`);
      if (item.pk.startsWith('run#')) this.#checkRun(item);
    }
  }

  #checkRun(run: LedgerItem): void {
    if (run.status === 'live') this.#broken(7, `${run.pk} is still live`);
    if (run.outcome === 'failed' && !run.error) this.#broken(7, `${run.pk} has failed and does not say why`);
    // The deployment itself takes as long as it takes.
    const waitsForDeployment = run.goAheadAt !== undefined && run.resumedAt === undefined;
    if (waitsForDeployment || run.endedAt === undefined || run.deadline === undefined) return;
    const late = run.endedAt - run.deadline - (this.#scenario.faults ? REPEATING_SECONDS : 0);
    if (late > 0) this.#broken(7, `${run.pk} ended ${late} s after its budget`);
  }

  #hear(entry: Entry): void {
    this.#count(entry.at);
    switch (entry.type) {
      case 'suppression':
        if (entry.state === 'spreading') this.#suppressedSince.set(entry.instanceId, entry.at);
        if (entry.state === 'released') this.#suppressedSince.delete(entry.instanceId);
        return;
      case 'deployment':
        if (entry.state === 'go-ahead') this.#checkGoAhead(entry.detail, entry.instanceIds);
        return;
      case 'lifecycle':
        if (entry.group === this.#fleet.groupName) this.#members.add(entry.instanceId);
        return;
      case 'execution':
        if (entry.status !== 'RUNNING') this.#endDeployment(entry.executionArn);
        return;
      case 'state-entered':
        // A run that has failed gives its instances back as they are.
        if (entry.state === 'Fence') this.#endDeployment(entry.executionArn);
        return;
      case 'activity':
        if (entry.kind === 'terminate') this.#checkTermination(entry);
        return;
      case 'target':
        // Registered again, by us or by Auto Scaling at the end of Standby.
        if (entry.state === 'initial' || entry.state === 'healthy')
          this.#deregistered.delete(`${entry.targetGroupArn} ${entry.id}:${entry.port}`);
        return;
      case 'requests-failed':
        this.#checkRequests(entry);
        return;
    }
  }

  #endDeployment(executionArn: string): void {
    for (const [id, { runId }] of this.#inDeployment)
      if (endsRun(executionArn, runId)) this.#inDeployment.delete(id);
  }

  #checkTermination({ instanceId, cause }: Extract<Entry, { type: 'activity' }>): void {
    const deployed = this.#inDeployment.get(instanceId);
    if (!deployed) {
      this.#checkUnheld(instanceId, cause);
      return;
    }
    const spec = deploymentOfRun(this.#scenario, deployed.runId);
    const byStatus = cause.includes('Application Status check');
    const { autoScaling } = policyOf(spec);
    // Nothing is held around an instance that leaves Standby, and a version that never answers fails its targets by itself.
    const unheld = autoScaling === 'none' || (autoScaling === 'standby' && spec.neverReady);
    const byTargets = cause.includes('ELB') && !unheld;
    const excused = byStatus
      ? isEmergency(spec) || this.#people.changedSuppressionUnseen(instanceId, deployed.since)
      : this.#people.hasBroken(instanceId) || this.#isOutByOthers(instanceId);
    if ((byStatus || byTargets) && !excused)
      this.#broken(2, `Auto Scaling terminated ${instanceId} in its deployment: ${cause}`);
  }

  /** What we have taken out of a target group, also before the go-ahead, is not to be replaced for that. */
  #checkUnheld(instanceId: string, cause: string): void {
    const isOut = [...this.#deregistered].some(
      key => this.#behind(key.split(' ')[1]?.split(':')[0])?.id === instanceId,
    );
    const isPermitted = deploymentsOf(this.#scenario).some(spec => {
      const { autoScaling, afterFailure } = policyOf(spec);
      return autoScaling === 'none' || afterFailure !== undefined;
    });
    if (isOut && cause.includes('ELB') && !isPermitted && !this.#people.hasBroken(instanceId))
      this.#broken(2, `Auto Scaling terminated ${instanceId}, which we had taken out of traffic: ${cause}`);
  }

  /** Is it out of a group of its Auto Scaling group's that none of our acts took it out of: CodeDeploy's step, for one? */
  #isOutByOthers(instanceId: string): boolean {
    const instance = this.#behind(instanceId);
    const attached = this.#fleet.targetGroups.filter(group => group.targetType === 'instance');
    return attached.some(
      group =>
        instance !== undefined &&
        this.#account.loadBalancing
          .statesOf(group.arn, instance)
          .every(({ state }) => state.endsWith('draining')) &&
        ![...this.#deregistered].some(key => key.startsWith(`${group.arn} ${instanceId}:`)),
    );
  }

  #checkGoAhead(runId: string, instanceIds: readonly string[]): void {
    const now = this.#account.world.clock.now();
    const spec = deploymentOfRun(this.#scenario, runId);
    for (const id of instanceIds) {
      const instance = this.#account.ec2.instance(id);
      if (instance?.state !== 'running') continue;
      this.#inDeployment.set(id, { runId, since: now });
      if (!isEmergency(spec) && !this.#people.changedSuppressionUnseen(id, now))
        this.#checkSuppressed(id, now + spec.downSeconds * 1000);
      if (leavesTraffic(spec) || this.#people.registeredUnseen(id)) continue;
      const found = findsDetached(this.#scenario, spec);
      for (const group of this.#fleet.targetGroups.filter(one => found || one.targetType === 'instance'))
        for (const { target, state } of this.#account.loadBalancing.statesOf(group.arn, instance))
          if (state !== 'unused')
            this.#broken(1, `go-ahead while ${target.id}:${target.port} was ${state} in ${group.name}`);
    }
  }

  #checkSuppressed(id: string, until: number): void {
    const { checks, world } = this.#account;
    if (!checks.hasIncludedCheck(id)) return;
    const now = world.clock.now();
    if (checks.overall(id).status !== 'suppressed')
      this.#broken(1, `go-ahead while ${id} was not suppressed`);
    const ends = checks.suppression(id)?.resumesAt;
    if (ends !== undefined && ends < until)
      this.#broken(1, `go-ahead although the suppression of ${id} ends during the deployment`);
    const since = this.#suppressedSince.get(id);
    if (since !== undefined && now - since < LEAD_MS)
      this.#broken(1, `go-ahead ${(now - since) / 1000} s after ${id} was suppressed`);
  }

  /** Requests shorter than the deregistration delay must not fail because of us. */
  #checkRequests(entry: Extract<Entry, { type: 'requests-failed' }>): void {
    const target = this.#behind(entry.targetId);
    // Whoever ended the instance ended its requests.
    if (target && !this.#isRunning(target.id)) return;
    const delay = this.#account.loadBalancing.deregistrationDelaySeconds(entry.targetGroupArn) * 1000;
    const ours = target === undefined ? this.#inDeployment.size > 0 : this.#inDeployment.has(target.id);
    const deployments = deploymentsOf(this.#scenario);
    if (deployments.some(spec => leavesTraffic(spec) || isEmergency(spec)) || this.#scenario.fleet.broken)
      return;
    const told = deployments.every(spec => findsDetached(this.#scenario, spec));
    const { targetType } = this.#account.loadBalancing.group(entry.targetGroupArn);
    if (targetType === 'ip' && !told) return;
    // CodeDeploy's own step knows no floor.
    if (!target && deployments.some(spec => spec.loadBalancerStep)) return;
    if (target ? this.#people.hasUnfitted(target.id) : this.#people.tookCapacity) return;
    if ((ours || this.#deregistered.size > 0) && entry.durationMs < delay)
      this.#broken(
        3,
        `${entry.count} requests of ${entry.durationMs} ms failed (${entry.cause}) at ${entry.targetId ?? 'no target'}`,
      );
  }

  #beforeCall(call: Call, input: Readonly<Record<string, unknown>>): void {
    this.#count(call.at);
    if (call.caller.kind !== 'function') return;
    if (/^(Delete|Terminate|Detach|Modify)/.test(call.action) && call.service !== 'dynamodb')
      this.#broken(6, `${call.caller.name} called ${call.service}:${call.action}`);
    if (ACTS.test(call.action))
      for (const id of [...ids(input.InstanceIds), ...targets(input.Targets).map(({ Id }) => String(Id))])
        if (!this.#behind(id))
          this.#broken(6, `${call.caller.name} called ${call.action} on ${id}, which is none of the fleet`);
    if (call.action === 'DeregisterTargets') {
      const healthy = this.#account.loadBalancing.healthyIn(String(input.TargetGroupArn));
      const leaves = ({ Id, Port }: { readonly Id?: unknown; readonly Port?: unknown }) =>
        healthy.some(({ id, port }) => id === Id && port === Port);
      if (targets(input.Targets).some(leaves)) this.#takesHealthy.add(call);
    }
    if (call.action === 'DisableApplicationStatusCheckSuppression') this.#checkRelease(call, input);
  }

  /** Ends nobody else's suppression, and none that still covers an application which does not run, but to undo. */
  #checkRelease({ caller }: Call, input: Readonly<Record<string, unknown>>): void {
    for (const id of ids(input.InstanceIds)) {
      const instance = this.#account.ec2.instance(id);
      const isWatched = this.#account.checks.hasIncludedCheck(id);
      if (caller.name !== 'UndoFunction' && this.#inDeployment.has(id) && isWatched && isDown(instance))
        this.#broken(2, `${caller.name} released ${id} in its deployment, before its application ran again`);
      if (this.#foreign.has(id) && !this.#isOver(id))
        this.#broken(4, `${caller.name} disabled somebody else's suppression on ${id}`);
    }
  }

  /** After each deregistration of ours the floors still hold, counted afresh. */
  #afterCall(call: Call, input: Readonly<Record<string, unknown>>): void {
    if (call.caller.kind !== 'function' || typeof input.TargetGroupArn !== 'string') return;
    const keys = targets(input.Targets).map(target => `${input.TargetGroupArn} ${target.Id}:${target.Port}`);
    if (call.action !== 'DeregisterTargets') return;
    for (const key of keys) this.#deregistered.add(key);
    const deployments = deploymentsOf(this.#scenario);
    if (deployments.some(isEmergency) || this.#scenario.fleet.broken || this.#people.tookCapacityUnseen())
      return;
    const { loadBalancing } = this.#account;
    const group = loadBalancing.group(input.TargetGroupArn);
    // D37: what gets no traffic, or gets it only because nothing is healthy, may always leave.
    if (!group.loadBalancer || !this.#takesHealthy.has(call)) return;
    const receiving = loadBalancing.receiving(group.arn).length;
    if (receiving < 1) this.#broken(3, `our act left nothing in ${group.name}`);
    // The call does not say whose it is.
    const percent = Math.min(...deployments.map(spec => Number(policyOf(spec).minHealthyPercent ?? 50)));
    const registered = new Set(
      loadBalancing.registered(group.arn).map(({ id, port }) => `${group.arn} ${id}:${port}`),
    );
    const out = [...this.#deregistered].filter(
      key => key.startsWith(`${group.arn} `) && !registered.has(key) && this.#isTargetRunning(key),
    ).length;
    const belonging = registered.size + out;
    const floor = Math.ceil((belonging * percent) / 100);
    if (receiving < floor)
      this.#broken(
        3,
        `our act left ${receiving} of ${belonging} targets in ${group.name}, below ${percent} %`,
      );
  }

  #memberships(): Map<string, string> {
    const found = new Map<string, string>();
    for (const group of this.#fleet.targetGroups)
      for (const instance of this.#fleet.instances)
        for (const { target, state } of this.#account.loadBalancing.statesOf(group.arn, instance))
          if (!state.endsWith('draining'))
            found.set(`${group.name} ${target.id}:${target.port}`, instance.id);
    return found;
  }

  #suspended(): Set<string> {
    return new Set(
      [...this.#account.autoScaling.groups()].flatMap(group =>
        [...group.suspended.keys()].map(process => `${process} of ${group.name}`),
      ),
    );
  }

  #now(instance: Instance): { readonly id: string; readonly state: string } {
    return { id: instance.id, state: this.#account.ec2.instance(instance.id)?.state ?? 'terminated' };
  }

  #behind(targetId: string | undefined): Instance | undefined {
    return targetId === undefined ? undefined : (this.#byTargetId.get(targetId) ?? this.#launched(targetId));
  }

  #launchedSince(): readonly Instance[] {
    const ours = new Set(this.#fleet.instances.map(({ id }) => id));
    return [...this.#account.ec2.live()].filter(({ id }) => !ours.has(id) && this.#isRunning(id));
  }

  /** What the fleet's group has launched since belongs to the fleet too, also when it is gone. */
  #launched(targetId: string): Instance | undefined {
    const { ec2 } = this.#account;
    const instance = ec2.instance(targetId) ?? ec2.byAddress(targetId);
    return instance && this.#members.has(instance.id) ? instance : undefined;
  }

  /** @param key the target group's ARN, and `id:port` */
  #isTargetRunning(key: string): boolean {
    const instance = this.#behind(key.split(' ')[1]?.split(':')[0]);
    return instance !== undefined && this.#isRunning(instance.id);
  }

  /** Has the suppression that somebody else had set run out by itself? */
  #isOver(instanceId: string): boolean {
    return (this.#foreign.get(instanceId) ?? Number.POSITIVE_INFINITY) <= this.#account.world.clock.now();
  }

  /** Auto Scaling keeps what is on its way out running for a while, and has taken it out of its target groups itself. */
  #isServing(instanceId: string): boolean {
    const { autoScaling } = this.#account;
    const member = autoScaling.memberOf(instanceId)?.member;
    const inGroup = this.#fleet.groupName === undefined || member?.lifecycle === 'InService';
    return this.#isRunning(instanceId) && inGroup;
  }

  #isRunning(instanceId: string): boolean {
    return this.#account.ec2.instance(instanceId)?.state === 'running';
  }

  #count(at: number): void {
    if (at === this.#checkedAt) return;
    this.#checkedAt = at;
    this.#checkedInstants++;
  }

  #broken(invariant: Violation['invariant'], what: string): void {
    this.violations.push({ at: this.#account.world.clock.now(), invariant, what });
  }
}

/** Is it the after-deploy of this run, or its undo-run, whose name also tells what it takes the run over from? */
function endsRun(executionArn: string, runId: string): boolean {
  const name = executionArn.split(':').at(-1) ?? '';
  const undo = executionName('undo', runId).replace(/[0-9a-f]+$/, '');
  return [`after-${runId}`, executionName('after', runId)].includes(name) || name.startsWith(undo);
}

const isDown = (instance: Instance | undefined): boolean =>
  instance?.state === 'running' && !instance.application.isUp;

/** Calls that change something for the instances or targets that they name. */
const ACTS = /^(Enable|Disable)ApplicationStatusCheckSuppression$|^(Register|Deregister)Targets$|Standby$/;

const ids = (given: unknown): string[] => (Array.isArray(given) ? given.map(String) : []);

const targets = (given: unknown): { readonly Id?: unknown; readonly Port?: unknown }[] =>
  Array.isArray(given) ? given : [];

/** Is it one of the ledger's items that remember, and neither claim nor hold anything? */
export const holdsNothing = (pk: string): boolean => HOLDS_NOTHING.test(pk);

const HOLDS_NOTHING = /^(run|refusal|observer|seen|pace|hooks|lifecycle)#/;
