import type { Instances } from './neighbours.ts';
import type { Health, NodeView, RegisteredTarget, TargetGroup } from './target-groups.ts';
import { instanceBehind, isServedFrom } from './target-groups.ts';
import type { World } from './world.ts';

const HEALTHY: Health = { state: 'healthy' };
const REGISTERING: Health = {
  state: 'initial',
  reason: 'Elb.RegistrationInProgress',
  description: 'Target registration is in progress',
};
const FIRST_CHECKS: Health = {
  state: 'initial',
  reason: 'Elb.InitialHealthChecking',
  description: 'Initial health checks in progress',
};
const TIMED_OUT: Health = { state: 'unhealthy', reason: 'Target.Timeout', description: 'Request timed out' };
const CONNECTION_FAILED: Health = {
  state: 'unhealthy',
  reason: 'Target.FailedHealthChecks',
  description: 'Health checks failed',
};
const DRAINING: Health = {
  state: 'draining',
  reason: 'Target.DeregistrationInProgress',
  description: 'Target deregistration is in progress',
};
const NO_LOAD_BALANCER: Health = {
  state: 'unused',
  reason: 'Target.NotInUse',
  description: 'Target group is not configured to receive traffic from the load balancer',
};
const ZONE_NOT_ENABLED: Health = {
  state: 'unused',
  reason: 'Target.NotInUse',
  description: 'Target is in an Availability Zone that is not enabled for the load balancer',
};
const STOPPED: Health = {
  state: 'unused',
  reason: 'Target.InvalidState',
  description: 'Target is in the stopped state',
};
const TERMINATED: Health = {
  state: 'unused',
  reason: 'Target.InvalidState',
  description: 'Target is in the terminated state',
};
const CHECKS_DISABLED: Health = {
  state: 'unavailable',
  reason: 'Target.HealthCheckDisabled',
  description: 'Health checks are disabled for this target group',
};

const REFUSED: ProbeResult = { failure: CONNECTION_FAILED, tookMs: 1 };
const CONNECTED: ProbeResult = { failure: undefined, tookMs: 1 };

export const NOT_REGISTERED: Health = {
  state: 'unused',
  reason: 'Target.NotRegistered',
  description: 'Target is not registered to the target group',
};

/** What one health check of one load balancer node came to. */
export interface Probed {
  readonly group: TargetGroup;
  /** The node's zone. */
  readonly zone: string;
  readonly target: RegisteredTarget;
  readonly result: ProbeResult;
  /** When it was sent, in milliseconds. */
  readonly at: number;
}

export interface ProbeResult {
  /** Undefined when it passed. */
  readonly failure: Health | undefined;
  readonly tookMs: number;
  /** What was answered, if anything was. */
  readonly status?: number;
}

type HearChange = (group: TargetGroup, target: RegisteredTarget, before: Health) => void;

/**
 * Probes targets from one load balancer node an enabled zone, each on a phase of its own, and derives every target's
 * state from what the nodes saw. A node probes all targets of a group in one round an interval.
 */
export class TargetHealth {
  readonly #world: World;
  readonly #instances: Instances;
  readonly #mismatches = new Map<number, Health>();
  readonly #listeners: HearChange[] = [];
  readonly #probeListeners: ((probed: Probed) => void)[] = [];

  constructor(world: World, instances: Instances) {
    this.#world = world;
    this.#instances = instances;
  }

  onChange(hear: HearChange): void {
    this.#listeners.push(hear);
  }

  /** Calls `hear` when a health check is sent, with what becomes of it. */
  onProbe(hear: (probed: Probed) => void): void {
    this.#probeListeners.push(hear);
  }

  /** Lets every node of the group's load balancer begin its rounds. */
  watch(group: TargetGroup): void {
    if (!group.loadBalancer || !group.healthCheck.enabled) return;
    const intervalMs = group.healthCheck.intervalSeconds * 1000;
    const passes = passing(group.healthCheck.matcher);
    for (const { zone } of group.loadBalancer.zones) {
      const phase = this.#world.random.fork(`probes of ${group.arn} from ${zone}`).between(0, intervalMs);
      this.#world.clock.every(intervalMs, () => this.#round(group, zone, passes), phase);
    }
  }

  /** Derives the target's state again, and tells the journal and the listeners when it is another one. */
  refresh(group: TargetGroup, target: RegisteredTarget): void {
    const before = target.health;
    const after = this.#derive(group, target);
    if (after.state === 'unused') target.views.clear();
    if (before === after) return;
    target.health = after;
    if (after.state === 'healthy' && before.state !== 'healthy')
      target.healthySince = this.#world.clock.now();
    if (before.state !== after.state || before.reason !== after.reason) this.record(group, target, after);
    for (const hear of this.#listeners) hear(group, target, before);
  }

  record(group: TargetGroup, { id, port }: RegisteredTarget, { state, reason }: Health): void {
    this.#world.journal.record({ type: 'target', targetGroupArn: group.arn, id, port, state, reason });
  }

  #round(group: TargetGroup, zone: string, passes: (status: number) => boolean): void {
    const silent: RegisteredTarget[] = [];
    for (const target of group.targets) {
      if (target.leaves || target.health.state === 'unused' || !isServedFrom(group, zone, target)) continue;
      const result = this.#probe(group, target, passes);
      for (const hear of this.#probeListeners)
        hear({ group, zone, target, result, at: this.#world.clock.now() });
      if (result.failure === TIMED_OUT) silent.push(target);
      else this.#judge(group, zone, target, result.failure);
    }
    if (silent.length === 0) return;
    this.#world.clock.after(group.healthCheck.timeoutSeconds * 1000, () => {
      for (const target of silent)
        if (group.targets.holds(target) && !target.leaves) this.#judge(group, zone, target, TIMED_OUT);
    });
  }

  /** An answer in time is judged when it is asked for. */
  #probe(group: TargetGroup, target: RegisteredTarget, passes: (status: number) => boolean): ProbeResult {
    const { path, port, timeoutSeconds } = group.healthCheck;
    const timedOut: ProbeResult = { failure: TIMED_OUT, tookMs: timeoutSeconds * 1000 };
    const probed = port === 'traffic-port' ? target.port : port;
    const instance = instanceBehind(this.#instances, group, target.id);
    const from = group.loadBalancer?.securityGroupIds ?? [];
    if (instance?.state !== 'running' || !this.#instances.reachable(instance, probed, from)) return timedOut;
    const answer = instance.application.answer({ port: probed, path: path ?? '/' });
    if (answer.kind === 'refuses') return REFUSED;
    if (path === undefined) return CONNECTED;
    if (answer.kind === 'resets') return REFUSED;
    if (answer.kind === 'silent' || answer.afterMs >= timeoutSeconds * 1000) return timedOut;
    const { status, afterMs: tookMs } = answer;
    return { failure: passes(status) ? undefined : this.#mismatch(status), tookMs, status };
  }

  #judge(group: TargetGroup, zone: string, target: RegisteredTarget, failure: Health | undefined): void {
    const { healthyThreshold, unhealthyThreshold } = group.healthCheck;
    const first = target.views.size === 0;
    const view: NodeView = target.views.get(zone) ?? { verdict: 'initial', row: 0, lastPassed: true };
    if (view.row === 0) target.views.set(zone, view);
    const passed = failure === undefined;
    view.row = view.lastPassed === passed ? view.row + 1 : 1;
    view.lastPassed = passed;

    // UG: one success ends `initial` at an Application Load Balancer; a Network Load Balancer counts to its threshold.
    const needed = !passed
      ? unhealthyThreshold
      : view.verdict === 'initial' && group.type === 'application'
        ? 1
        : healthyThreshold;
    const before = view.verdict;
    if (view.row >= needed) view.verdict = passed ? 'healthy' : 'unhealthy';

    const another = failure !== undefined && failure !== target.lastFailure;
    if (another) target.lastFailure = failure;
    if (first || another || view.verdict !== before) this.refresh(group, target);
  }

  #derive(group: TargetGroup, target: RegisteredTarget): Health {
    if (target.leaves) return DRAINING;
    const { loadBalancer } = group;
    if (!loadBalancer) return NO_LOAD_BALANCER;
    if (target.zone !== 'all' && !loadBalancer.zones.some(({ zone }) => zone === target.zone))
      return ZONE_NOT_ENABLED;
    if (group.targetType === 'instance') {
      const state = instanceBehind(this.#instances, group, target.id)?.state ?? 'terminated';
      if (state === 'terminated') return TERMINATED;
      if (state === 'stopped') return STOPPED;
    }
    if (!group.healthCheck.enabled) return CHECKS_DISABLED;
    return this.#agreed(group, target, loadBalancer.zones);
  }

  #agreed(group: TargetGroup, target: RegisteredTarget, zones: readonly { readonly zone: string }[]): Health {
    const verdicts = zones
      .filter(({ zone }) => isServedFrom(group, zone, target))
      .map(({ zone }) => target.views.get(zone)?.verdict);
    const unhealthy = this.#world.physics.unhealthyNeedsAllNodes
      ? verdicts.every(verdict => verdict === 'unhealthy')
      : verdicts.includes('unhealthy');
    if (unhealthy) return this.#unhealthy(group, target);
    if (verdicts.includes('healthy')) return HEALTHY;
    return target.views.size === 0 ? REGISTERING : FIRST_CHECKS;
  }

  /** UG: a Network Load Balancer that keeps the connections of unhealthy targets shows `unhealthy.draining` first. */
  #unhealthy(group: TargetGroup, target: RegisteredTarget): Health {
    const now = this.#world.clock.now();
    const failure = target.lastFailure ?? CONNECTION_FAILED;
    const drainingMs = group.attributes.settings.unhealthyDrainingSeconds * 1000;
    if (!isUnhealthy(target.health)) {
      target.unhealthySince = now;
      if (drainingMs > 0)
        this.#world.clock.after(drainingMs, () => {
          if (group.targets.holds(target)) this.refresh(group, target);
        });
    }
    return now < target.unhealthySince + drainingMs ? { ...failure, state: 'unhealthy.draining' } : failure;
  }

  #mismatch(status: number): Health {
    const known = this.#mismatches.get(status);
    if (known) return known;
    const mismatch: Health = {
      state: 'unhealthy',
      reason: 'Target.ResponseCodeMismatch',
      description: `Health checks failed with these codes: [${status}]`,
    };
    this.#mismatches.set(status, mismatch);
    return mismatch;
  }
}

export const isUnhealthy = ({ state }: Health): boolean =>
  state === 'unhealthy' || state === 'unhealthy.draining';

/** Reads a matcher: codes and ranges, separated by commas. */
function passing(matcher: string): (status: number) => boolean {
  const ranges = matcher.split(',').map(part => {
    const [, low, high = low] = /^\s*(\d{3})(?:-(\d{3}))?\s*$/.exec(part) ?? [];
    if (low === undefined) throw new Error(`'${matcher}' is not a matcher such as 200,204 or 200-299`);
    return [Number(low), Number(high)] as const;
  });
  return status => ranges.some(([low, high]) => status >= low && status <= high);
}
