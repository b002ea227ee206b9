import type { Instance } from '../account/neighbours.ts';
import type { Call, Gate } from '../wire/contract.ts';
import { leavesOthersAlarms } from './alarm-changes.ts';
import { mayChangeCheck } from './check-changes.ts';
import type { Evidence } from './evidence.ts';
import { Promotions } from './promotions.ts';
import type { Retirements } from './retirements.ts';
import { deploymentsOf, isEmergency, policyOf } from './runs.ts';
import { targetIdOf } from './underway.ts';

type Input = Readonly<Record<string, unknown>>;

/** Invariants 2, 3, 4, 5 and 6 of each call of a function of ours: judged by its effect, at once. */
export class JudgedCalls implements Gate {
  readonly #evidence: Evidence;
  readonly #promotions: Promotions;
  readonly #retirements: Retirements;
  /** Deregistrations of targets that were healthy when they were asked for. */
  readonly #takesHealthy = new WeakSet<Call>();

  constructor(evidence: Evidence, retirements: Retirements) {
    this.#evidence = evidence;
    this.#retirements = retirements;
    this.#promotions = new Promotions(evidence.account, what => evidence.broken(5, what));
  }

  before(call: Call, input: Input): void {
    if (call.caller.kind !== 'function') return;
    const { account, fleet, broken } = this.#evidence;
    const changes =
      /^(Delete|Terminate|Detach|Modify)/.test(call.action) &&
      call.service !== 'dynamodb' &&
      call.service !== 'cloudwatch';
    if (call.service === 'cloudwatch' && !leavesOthersAlarms(account, call.action, input))
      broken(6, `${call.caller.name} called ${call.action} on an alarm that somebody else has made`);
    if (changes && !mayChangeCheck(account, call.action, input) && !this.#retirements.mayDelete(call, input))
      broken(6, `${call.caller.name} called ${call.service}:${call.action}`);
    if (ACTS.test(call.action))
      for (const id of [...ids(input.InstanceIds), ...targets(input.Targets).map(({ Id }) => String(Id))])
        if (!fleet.behind(id))
          broken(6, `${call.caller.name} called ${call.action} on ${id}, which is none of the fleet`);
    if (call.action === 'DeregisterTargets') {
      const healthy = account.loadBalancing.healthyIn(String(input.TargetGroupArn));
      const leaves = ({ Id, Port }: NamedTarget) =>
        healthy.some(({ id, port }) => id === Id && port === Port);
      if (targets(input.Targets).some(leaves)) this.#takesHealthy.add(call);
    }
    if (call.action === 'RegisterTargets') this.#judgePutBack(call, input);
    if (call.action === 'DisableApplicationStatusCheckSuppression') this.#judgeRelease(call, input);
    this.#promotions.before(call, input);
  }

  after(call: Call, input: Input): void {
    if (call.caller.kind !== 'function' || call.action !== 'DeregisterTargets') return;
    this.#evidence.underway.takeOut(String(input.TargetGroupArn), targets(input.Targets));
    if (this.#takesHealthy.has(call)) this.#judgeFloor(String(input.TargetGroupArn));
  }

  /** Ends nobody else's suppression, and none that still covers an application which does not run, but to undo. */
  #judgeRelease({ caller }: Call, input: Input): void {
    const { account, others, underway, broken } = this.#evidence;
    for (const id of ids(input.InstanceIds)) {
      const instance = account.ec2.instance(id);
      const isWatched = account.checks.hasIncludedCheck(id);
      if (caller.name !== 'UndoFunction' && underway.deployments.has(id) && isWatched && isDown(instance))
        broken(2, `${caller.name} released ${id} in its deployment, before its application ran again`);
      if (others.endsAt(id) !== undefined)
        broken(4, `${caller.name} disabled somebody else's suppression on ${id}`);
    }
  }

  /** Gives no traffic to what its group, or a person, has taken out of service. */
  #judgePutBack({ caller }: Call, input: Input): void {
    const { fleet, setAside, broken } = this.#evidence;
    for (const { Id } of targets(input.Targets)) {
      const instance = fleet.behind(String(Id));
      const state = instance && setAside.shownStateOf(instance.id);
      if (state !== undefined) broken(4, `${caller.name} registered ${Id}, which is ${state}`);
    }
  }

  /** After each deregistration of ours of what gets traffic (D37), the floors still hold, counted afresh. */
  #judgeFloor(targetGroupArn: string): void {
    const { account, fleet, scenario, people, setAside, underway, broken } = this.#evidence;
    const deployments = deploymentsOf(scenario);
    if (deployments.some(isEmergency) || scenario.fleet.broken || people.tookCapacityUnseen()) return;
    const { loadBalancing } = account;
    const group = loadBalancing.group(targetGroupArn);
    if (!group.loadBalancer) return;
    const receiving = loadBalancing.receiving(group.arn).length;
    if (receiving < 1) broken(3, `our act left nothing in ${group.name}`);
    // The call does not say whose it is.
    const percent = Math.min(...deployments.map(spec => Number(policyOf(spec).minHealthyPercent ?? 50)));
    const registered = new Set(
      loadBalancing.registered(group.arn).map(({ id, port }) => `${group.arn} ${id}:${port}`),
    );
    // What somebody has set aside meanwhile is capacity no more, for its group neither.
    const isToReturn = (target: string) => {
      const id = fleet.behind(targetIdOf(target))?.id;
      return id !== undefined && fleet.isRunning(id) && setAside.stateOf(id) === undefined;
    };
    const out = [...underway.out].filter(
      target => target.startsWith(`${group.arn} `) && !registered.has(target) && isToReturn(target),
    ).length;
    const belonging = registered.size + out;
    if (receiving < Math.ceil((belonging * percent) / 100))
      broken(3, `our act left ${receiving} of ${belonging} targets in ${group.name}, below ${percent} %`);
  }
}

interface NamedTarget {
  readonly Id?: unknown;
  readonly Port?: unknown;
}

const isDown = (instance: Instance | undefined): boolean =>
  instance?.state === 'running' && !instance.application.isUp;

/** Calls that change something for the instances or targets that they name. */
const ACTS = /^(Enable|Disable)ApplicationStatusCheckSuppression$|^(Register|Deregister)Targets$|Standby$/;

const ids = (given: unknown): string[] => (Array.isArray(given) ? given.map(String) : []);

const targets = (given: unknown): readonly NamedTarget[] => (Array.isArray(given) ? given : []);
