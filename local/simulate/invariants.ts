import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Call, Gate } from '../wire/contract.ts';
import type { BuiltFleet } from './build-fleet.ts';
import type { Scenario } from './scenario.ts';

/** One of the things that must always hold did not. */
export interface Violation {
  readonly at: number;
  /** The number under which the design lists it. */
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  readonly what: string;
}

const LEAD_MS = 180_000;

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
  /** From its go-ahead until the end of after-deploy. */
  readonly #inDeployment = new Set<string>();
  /** What people had set before the first run. */
  readonly #foreign = new Map<string, number | undefined>();
  readonly #membershipsAtStart: ReadonlyMap<string, string>;
  readonly #suspendedAtStart: ReadonlySet<string>;
  #deregistered = new Set<string>();

  constructor(account: Account, fleet: BuiltFleet, scenario: Scenario) {
    this.#account = account;
    this.#fleet = fleet;
    this.#scenario = scenario;
    this.#membershipsAtStart = this.#memberships();
    this.#suspendedAtStart = this.#suspended();
    for (const { id } of fleet.instances) {
      const suppression = account.checks.suppression(id);
      if (suppression) this.#foreign.set(id, suppression.resumesAt);
    }
    account.world.journal.listen(entry => this.#hear(entry));
  }

  /** Stands behind the calls: what our functions do is judged by its effect, at once. */
  readonly gate: Gate = {
    before: (call, input) => this.#beforeCall(call, input),
    after: (call, input) => this.#afterCall(call, input),
  };

  /** What must hold when every run is over (4, 7). */
  checkEnd(stack: Stack | undefined, ledger: readonly { readonly pk: string }[]): void {
    if (!stack) return;
    for (const execution of stack.executions.all())
      if (execution.status === 'RUNNING') this.#broken(7, `${execution.name} has not ended`);
      else if (execution.status !== 'SUCCEEDED' && !(execution.error && execution.cause))
        this.#broken(7, `${execution.name} ended as ${execution.status} and does not say why`);
    for (const { id, state } of this.#fleet.instances.map(one => this.#now(one))) {
      if (state !== 'running') continue;
      const suppression = this.#account.checks.suppression(id);
      const found = this.#foreign.has(id);
      const releasing = suppression?.state === 'releasing';
      if (suppression && !releasing && !found) this.#broken(4, `${id} is still suppressed`);
      if (!suppression && found && !(Number(this.#foreign.get(id)) < this.#account.world.clock.now()))
        this.#broken(4, `the suppression that somebody else had set on ${id} is gone`);
    }
    const now = this.#memberships();
    for (const [key, instanceId] of this.#membershipsAtStart)
      if (!now.has(key) && this.#isRunning(instanceId)) this.#broken(4, `${key} was not put back`);
    for (const process of this.#suspended())
      if (!this.#suspendedAtStart.has(process)) this.#broken(4, `${process} is still suspended`);
    for (const process of this.#suspendedAtStart)
      if (!this.#suspended().has(process))
        this.#broken(4, `${process}, which somebody else had suspended, was resumed`);
    for (const { pk } of ledger) if (!pk.startsWith('run#')) this.#broken(4, `the ledger still holds ${pk}`);
  }

  #hear(entry: Entry): void {
    switch (entry.type) {
      case 'suppression':
        if (entry.state === 'spreading') this.#suppressedSince.set(entry.instanceId, entry.at);
        if (entry.state === 'released') this.#suppressedSince.delete(entry.instanceId);
        return;
      case 'deployment':
        if (entry.state === 'go-ahead') this.#checkGoAhead(entry.instanceIds);
        return;
      case 'execution':
        if (entry.machine.includes('AfterDeploy') && entry.status !== 'RUNNING') this.#inDeployment.clear();
        return;
      case 'activity':
        if (entry.kind === 'terminate' && this.#inDeployment.has(entry.instanceId) && OURS.test(entry.cause))
          this.#broken(2, `Auto Scaling terminated ${entry.instanceId} in its deployment: ${entry.cause}`);
        return;
      case 'requests-failed':
        this.#checkRequests(entry);
        return;
    }
  }

  #checkGoAhead(instanceIds: readonly string[]): void {
    const { checks, world } = this.#account;
    const now = world.clock.now();
    const { request } = this.#scenario.deployment;
    for (const id of instanceIds) {
      const instance = this.#account.ec2.instance(id);
      if (instance?.state !== 'running') continue;
      this.#inDeployment.add(id);
      if (request.emergency === undefined && checks.hasIncludedCheck(id)) {
        if (checks.overall(id).status !== 'suppressed')
          this.#broken(1, `go-ahead while ${id} was not suppressed`);
        const ends = checks.suppression(id)?.resumesAt;
        if (ends !== undefined && ends < now + this.#scenario.deployment.downSeconds * 1000)
          this.#broken(1, `go-ahead although the suppression of ${id} ends during the deployment`);
        const since = this.#suppressedSince.get(id);
        if (since !== undefined && now - since < LEAD_MS)
          this.#broken(1, `go-ahead ${(now - since) / 1000} s after ${id} was suppressed`);
      }
      if (request.traffic === 'leave') continue;
      for (const group of this.#fleet.targetGroups)
        for (const { target, state } of this.#account.loadBalancing.statesOf(group.arn, instance))
          this.#broken(1, `go-ahead while ${target.id}:${target.port} was ${state} in ${group.name}`);
    }
  }

  /** Requests shorter than the deregistration delay must not fail because of us. */
  #checkRequests(entry: Extract<Entry, { type: 'requests-failed' }>): void {
    const delay = this.#account.loadBalancing.deregistrationDelaySeconds(entry.targetGroupArn) * 1000;
    const ours =
      entry.targetId === undefined ? this.#inDeployment.size > 0 : this.#inDeployment.has(entry.targetId);
    if (this.#scenario.deployment.request.traffic === 'leave' || this.#scenario.fleet.broken) return;
    if ((ours || this.#deregistered.size > 0) && entry.durationMs < delay)
      this.#broken(
        3,
        `${entry.count} requests of ${entry.durationMs} ms failed (${entry.cause}) at ${entry.targetId ?? 'no target'}`,
      );
  }

  #beforeCall(call: Call, input: Readonly<Record<string, unknown>>): void {
    if (call.caller.kind !== 'function') return;
    if (/^(Delete|Terminate|Detach|Modify)/.test(call.action) && call.service !== 'dynamodb')
      this.#broken(6, `${call.caller.name} called ${call.service}:${call.action}`);
    if (call.action === 'DisableApplicationStatusCheckSuppression')
      for (const id of ids(input.InstanceIds))
        if (this.#foreign.has(id))
          this.#broken(4, `${call.caller.name} disabled somebody else's suppression on ${id}`);
  }

  /** After each deregistration of ours the floors still hold, counted afresh. */
  #afterCall(call: Call, input: Readonly<Record<string, unknown>>): void {
    if (call.caller.kind !== 'function' || typeof input.TargetGroupArn !== 'string') return;
    const keys = targets(input.Targets).map(target => `${input.TargetGroupArn} ${target.Id}:${target.Port}`);
    if (call.action === 'RegisterTargets') for (const key of keys) this.#deregistered.delete(key);
    if (call.action !== 'DeregisterTargets') return;
    for (const key of keys) this.#deregistered.add(key);
    if (this.#scenario.deployment.request.emergency !== undefined || this.#scenario.fleet.broken) return;
    const { loadBalancing } = this.#account;
    const group = loadBalancing.group(input.TargetGroupArn);
    if (!group.loadBalancer) return;
    const receiving = loadBalancing.receiving(group.arn).length;
    if (receiving < 1) this.#broken(3, `our act left nothing in ${group.name}`);
    const percent = minHealthyPercent(this.#scenario);
    const out = [...this.#deregistered].filter(key => key.startsWith(`${group.arn} `)).length;
    const belonging = loadBalancing.registered(group.arn).length + out;
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

  #isRunning(instanceId: string): boolean {
    return this.#account.ec2.instance(instanceId)?.state === 'running';
  }

  #broken(invariant: Violation['invariant'], what: string): void {
    this.violations.push({ at: this.#account.world.clock.now(), invariant, what });
  }
}

/** Verdicts that our acts cause: application status, and load balancer health. */
const OURS = /Application Status check|ELB/;

const ids = (given: unknown): string[] => (Array.isArray(given) ? given.map(String) : []);

const targets = (given: unknown): { readonly Id?: unknown; readonly Port?: unknown }[] =>
  Array.isArray(given) ? given : [];

function minHealthyPercent({ deployment: { request } }: Scenario): number {
  const { policy } = request;
  const given =
    policy && typeof policy === 'object' && 'minHealthyPercent' in policy ? policy.minHealthyPercent : 50;
  return Number(given);
}
