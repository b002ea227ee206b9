import type { Random } from '../clock/random.ts';
import type { Timer } from '../clock/virtual-clock.ts';
import type { Application } from './application.ts';
import type { ElasticLoadBalancing } from './elastic-load-balancing.ts';
import type { Happening } from './journal.ts';
import { LoadBalancerMetrics } from './load-balancer-metrics.ts';
import type { Instance, Instances, Metrics } from './neighbours.ts';
import { instanceBehind, type RegisteredTarget, type TargetGroup } from './target-groups.ts';
import { routes, slowStartShares } from './target-routing.ts';
import type { World } from './world.ts';

export type FailureCause = Extract<Happening, { type: 'requests-failed' }>['cause'];

/** What clients send to a target group; `share` of the requests, from 0 to 1, is long. Durations in milliseconds. */
export interface TrafficShape {
  readonly requestsPerSecond: number;
  readonly short: { readonly ms: number };
  readonly long: { readonly share: number; readonly ms: number };
}

export interface TrafficTotals {
  readonly sent: number;
  readonly failed: number;
  readonly byCause: Readonly<Record<FailureCause, number>>;
}

/** Requests of one duration that reached one target in one second. */
interface Batch {
  readonly group: TargetGroup;
  readonly targetId: string | undefined;
  readonly port: number | undefined;
  readonly zone: string | undefined;
  readonly durationMs: number;
  readonly count: number;
}

interface InFlight extends Batch {
  readonly endsAt: number;
}

/** What the load balancer node of one zone does with requests: none of `targets` means a 503. */
interface Node {
  readonly targets: readonly RegisteredTarget[];
  readonly shares: readonly number[];
}

/** UG: an Application Load Balancer gives a silent target up after 60 s, by default. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Generated requests: each group's are sent once a virtual second and counted by target. Whether a request fails is
 * decided when it arrives; after that it can only be cut, by its application, its instance or its load balancer.
 */
export class Traffic {
  readonly #world: World;
  readonly #elb: ElasticLoadBalancing;
  readonly #instances: Instances;
  readonly #metrics: LoadBalancerMetrics | undefined;
  readonly #streams: Timer[] = [];
  /** By instance id. */
  readonly #inFlight = new Map<string, InFlight[]>();
  readonly #heard = new WeakSet<Application>();
  readonly #byCause = { 'no-target': 0, refused: 0, 'error-status': 0, 'timed-out': 0, cut: 0 };
  readonly #sentBySecond = new Map<number, number>();
  #sent = 0;

  constructor(world: World, elb: ElasticLoadBalancing, instances: Instances, metrics?: Metrics) {
    this.#world = world;
    this.#metrics = metrics && new LoadBalancerMetrics(world, metrics);
    this.#elb = elb;
    this.#instances = instances;
    elb.onDisconnect((group, target) => {
      const instance = instanceBehind(instances, group, target.id);
      if (!instance) return;
      this.#cut(
        instance.id,
        batch => batch.group === group && batch.targetId === target.id && batch.port === target.port,
      );
    });
    instances.onState(({ id, state }) => {
      if (state !== 'running') this.#cut(id);
    });
  }

  /**
   * Begins to send requests for `/` to the group, until `stop`.
   *
   * @throws ServiceError TargetGroupNotFound
   * @throws Error when no load balancer uses the group
   */
  generate(targetGroupArn: string, { requestsPerSecond, short, long }: TrafficShape): void {
    const group = this.#elb.group(targetGroupArn);
    if (!group.loadBalancer) throw new Error(`no load balancer sends requests to ${group.name}`);
    const random = this.#world.random.fork(`traffic ${this.#streams.length} to ${group.arn}`);
    const kinds = [
      { durationMs: short.ms, perSecond: requestsPerSecond * (1 - long.share), due: 0 },
      { durationMs: long.ms, perSecond: requestsPerSecond * long.share, due: 0 },
    ];
    const spread = new Spread(random);
    const sendOneSecond = () => {
      const nodes = this.#nodes(group);
      for (const kind of kinds) {
        kind.due += kind.perSecond;
        const count = Math.floor(kind.due + ROUNDING);
        kind.due -= count;
        for (const [target, portion] of spread.over(nodes, count))
          this.#arrive(group, target, kind.durationMs, portion);
      }
    };
    // On a phase of its own: acts that fall on whole seconds do not always meet a fresh batch.
    this.#streams.push(this.#world.clock.every(1000, sendOneSecond, random.between(0, 1000)));
  }

  /** Sends no more. Requests in flight can still be cut. */
  stop(): void {
    for (const stream of this.#streams) stream.cancel();
  }

  totals(): TrafficTotals {
    const byCause = { ...this.#byCause };
    return {
      sent: this.#sent,
      failed: Object.values(byCause).reduce((sum, count) => sum + count, 0),
      byCause,
    };
  }

  /** Requests sent, by the second since the epoch in which they were. */
  sentBySecond(): ReadonlyMap<number, number> {
    return this.#sentBySecond;
  }

  #nodes(group: TargetGroup): readonly Node[] {
    const now = this.#world.clock.now();
    return routes(group).map(({ targets }) => ({ targets, shares: slowStartShares(group, targets, now) }));
  }

  #arrive(group: TargetGroup, target: RegisteredTarget | undefined, durationMs: number, count: number): void {
    this.#sent += count;
    const second = Math.floor(this.#world.clock.now() / 1000);
    this.#sentBySecond.set(second, (this.#sentBySecond.get(second) ?? 0) + count);
    const zone = target?.zone;
    const batch: Batch = { group, targetId: target?.id, port: target?.port, zone, durationMs, count };
    if (target) this.#metrics?.count('RequestCount', group, zone, count);
    const outcome = target ? this.#meet(group, target) : 'no-target';
    if (typeof outcome === 'string') {
      this.#fail(batch, outcome);
      return;
    }
    const { instance, answersAfterMs } = outcome;
    this.#listenTo(instance);
    const now = this.#world.clock.now();
    const lasting = (this.#inFlight.get(instance.id) ?? []).filter(({ endsAt }) => endsAt > now);
    lasting.push({ ...batch, endsAt: now + Math.max(durationMs, answersAfterMs) });
    this.#inFlight.set(instance.id, lasting);
  }

  /** What a request meets at the target now: a failure, or an application that has begun to answer. */
  #meet(
    group: TargetGroup,
    target: RegisteredTarget,
  ): FailureCause | { readonly instance: Instance; readonly answersAfterMs: number } {
    const instance = instanceBehind(this.#instances, group, target.id);
    const from = group.loadBalancer?.securityGroupIds ?? [];
    if (instance?.state !== 'running' || !this.#instances.reachable(instance, target.port, from))
      return 'timed-out';
    const answer = instance.application.answer({ port: target.port, path: '/' });
    switch (answer.kind) {
      case 'refuses':
      case 'resets':
        return 'refused';
      case 'silent':
        return 'timed-out';
      case 'responds':
        if (answer.afterMs >= IDLE_TIMEOUT_MS) return 'timed-out';
        return answer.status >= 500 ? 'error-status' : { instance, answersAfterMs: answer.afterMs };
    }
  }

  #listenTo({ id, application }: Instance): void {
    if (this.#heard.has(application)) return;
    this.#heard.add(application);
    application.onStop(() => this.#cut(id));
  }

  /** Fails what is in flight at the instance, batches of one target and duration together. */
  #cut(instanceId: string, concerns: (batch: Batch) => boolean = () => true): void {
    const now = this.#world.clock.now();
    const running = (this.#inFlight.get(instanceId) ?? []).filter(({ endsAt }) => endsAt > now);
    const kept = running.filter(batch => !concerns(batch));
    if (kept.length > 0) this.#inFlight.set(instanceId, kept);
    else this.#inFlight.delete(instanceId);

    const together = new Map<string, Batch>();
    for (const batch of running.filter(concerns)) {
      const key = `${batch.group.arn} ${batch.targetId}:${batch.port} ${batch.durationMs}`;
      const count = (together.get(key)?.count ?? 0) + batch.count;
      together.set(key, { ...batch, count });
    }
    for (const batch of together.values()) this.#fail(batch, 'cut');
  }

  #fail({ group, targetId, zone, durationMs, count }: Batch, cause: FailureCause): void {
    this.#byCause[cause] += count;
    const answeredBy = cause === 'error-status' ? 'HTTPCode_Target_5XX_Count' : 'HTTPCode_ELB_5XX_Count';
    this.#metrics?.count(answeredBy, group, zone, count);
    this.#world.journal.record({
      type: 'requests-failed',
      targetGroupArn: group.arn,
      targetId,
      cause,
      durationMs,
      count,
    });
  }
}

/** So that ten tenths of a request are one request. */
const ROUNDING = 1e-9;

/** Requests enter at a random zone and go to its node's targets in turn; a target in slow start lets some pass by. */
class Spread {
  readonly #random: Random;
  #turn = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** How many of `count` requests each target gets; under undefined, how many find no target. */
  over(nodes: readonly Node[], count: number): ReadonlyMap<RegisteredTarget | undefined, number> {
    const portions = new Map<RegisteredTarget | undefined, number>();
    for (let request = 0; request < count; request++) {
      const node = nodes[this.#random.whole(0, nodes.length - 1)];
      const target = node && this.#next(node);
      portions.set(target, (portions.get(target) ?? 0) + 1);
    }
    return portions;
  }

  #next({ targets, shares }: Node): RegisteredTarget | undefined {
    while (targets.length > 0) {
      const place = this.#turn++ % targets.length;
      const share = shares[place] ?? 0;
      if (share >= 1 || this.#random.chance(share)) return targets[place];
    }
    return undefined;
  }
}
