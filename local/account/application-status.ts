import type { Random } from '../clock/random.ts';
import { type CheckQuotas, CheckRegistry, documentedQuotas, type StatusCheck } from './check-registry.ts';
import { aggregated, type CheckResult, evaluated, newResult } from './check-result.ts';
import { sourcesFor } from './check-settings.ts';
import type { Ec2, Ec2Instance } from './ec2.ts';
import { Lagged } from './lagged.ts';
import { ManagedInterfaces } from './managed-interfaces.ts';
import type { ApplicationStatuses, Instance, Metrics, OverallStatus } from './neighbours.ts';
import { type DueCheck, type Evaluation, ProbeCycle } from './probe-cycle.ts';
import { type Spread, type Suppression, Suppressions } from './suppression.ts';
import type { Trail } from './trail.ts';
import type { World } from './world.ts';

/** What DescribeApplicationStatus shows of one instance. Times are milliseconds since the epoch. */
export interface StatusView {
  readonly status: OverallStatus;
  readonly since: number;
  readonly updatedAt: number;
  readonly resumesAt: number | undefined;
  readonly results: readonly CheckResult[];
  /** Some instances are not reported at all. */
  readonly listed: boolean;
}

interface Monitored {
  readonly instance: Ec2Instance;
  readonly probeSecond: number;
  readonly lagMs: number;
  readonly results: Map<string, CheckResult>;
  view: StatusView;
  readonly described: Lagged<StatusView>;
}

/** EC2 Application Status Checks: which instances are under which checks, and what status follows from the probes. */
export class ApplicationStatusChecks implements ApplicationStatuses {
  readonly world: World;
  readonly ec2: Ec2;
  readonly registry: CheckRegistry;
  /** What records calls; nothing does unless given. */
  readonly trail: Trail | undefined;
  readonly #metrics: Metrics | undefined;
  readonly #quotas: CheckQuotas;
  readonly #random: Random;
  readonly #probing: ProbeCycle;
  readonly #interfaces: ManagedInterfaces;
  readonly #suppressions: Suppressions;
  readonly #monitored = new Map<string, Monitored>();
  readonly #listeners: ((instanceId: string, status: OverallStatus) => void)[] = [];
  #targets = 0;
  /** Instances with a target beyond the account's quota. */
  readonly #overQuota = new Set<string>();

  /** @param options `metrics`: where the service publishes, nowhere by default; `quotas`: other than AWS's defaults */
  constructor(
    ec2: Ec2,
    options: {
      readonly metrics?: Metrics;
      readonly quotas?: Partial<CheckQuotas>;
      readonly trail?: Trail;
    } = {},
  ) {
    const { world } = ec2;
    this.world = world;
    this.ec2 = ec2;
    this.trail = options.trail;
    this.#metrics = options.metrics;
    this.#quotas = { ...documentedQuotas, ...options.quotas };
    this.registry = new CheckRegistry(world, this.#quotas);
    this.#random = world.random.fork('application-status');
    this.#probing = new ProbeCycle(
      ec2,
      instance => this.#due(instance),
      (instance, evaluations) => this.#evaluate(instance, evaluations),
    );
    this.#interfaces = new ManagedInterfaces(world, ec2.network, options.trail);
    this.#suppressions = new Suppressions(world, id => this.#refresh(id));
    for (const instance of ec2.live()) this.#follow(instance.id);
    ec2.onState(({ id }) => this.#follow(id));
    ec2.onTags(({ id }) => {
      this.reconcile(id);
      this.#fillQuota();
    });
  }

  overall(instanceId: string): { readonly status: OverallStatus; readonly since: number } {
    const monitored = this.#monitored.get(instanceId);
    if (monitored) return monitored.view;
    const instance = this.ec2.instance(instanceId);
    if (!instance) throw new Error(`there is no instance ${instanceId}`);
    return { status: 'not-applicable', since: instance.launchedAt };
  }

  hasIncludedCheck(instanceId: string): boolean {
    return this.results(instanceId).some(({ settings }) => settings.aggregation === 'included');
  }

  onOverall(hear: (instanceId: string, status: OverallStatus) => void): void {
    this.#listeners.push(hear);
  }

  /** What the service knows now of each check on the instance. */
  results(instanceId: string): readonly CheckResult[] {
    return [...(this.#monitored.get(instanceId)?.results.values() ?? [])];
  }

  /** What the service knows now of the instance's suppression, or of its end that is still on its way. */
  suppression(instanceId: string): Suppression | undefined {
    return this.#suppressions.of(instanceId);
  }

  /** What the Describe operation shows now; undefined when it does not list the instance. */
  described(instanceId: string): StatusView | undefined {
    const view = this.#monitored.get(instanceId)?.described.seenAt(this.world.clock.now());
    return view?.listed ? view : undefined;
  }

  /** @returns the reason of a failure, or when reporting resumes */
  suppress(
    instanceId: string,
    durationSeconds: number | undefined,
  ): { readonly failure: string } | { readonly resumesAt: number | undefined } {
    const monitored = this.#monitored.get(instanceId);
    if (!monitored) return { failure: this.#whyNot(instanceId) };
    return this.#suppressions.enable(instanceId, durationSeconds, this.#spread(monitored));
  }

  /** @returns the reason of a failure */
  release(instanceId: string): string | undefined {
    const monitored = this.#monitored.get(instanceId);
    if (!monitored) return this.#whyNot(instanceId);
    this.#suppressions.disable(instanceId, this.#spread(monitored));
    return undefined;
  }

  /** Why an instance cannot be acted on; undefined when it can. */
  failureFor(instanceId: string): string | undefined {
    return this.#monitored.has(instanceId) ? undefined : this.#whyNot(instanceId);
  }

  /** To be called when associations have changed. */
  reconcileAll(): void {
    for (const id of [...this.#monitored.keys()]) this.reconcile(id);
    this.#fillQuota();
  }

  /** Starts and stops targets, so that the instance is under exactly the checks that apply to it. */
  reconcile(instanceId: string): void {
    const monitored = this.#monitored.get(instanceId);
    if (!monitored) return;
    const applying = new Map(this.registry.applyingTo(monitored.instance).map(check => [check.id, check]));
    const leaving = [...monitored.results.keys()].filter(checkId => !applying.has(checkId));
    const entering = [...applying.values()].filter(({ id }) => !monitored.results.has(id));
    const wasOver = this.#overQuota.delete(instanceId);
    if (leaving.length === 0 && entering.length === 0 && !wasOver) return;
    for (const checkId of leaving) this.#stop(monitored, checkId);
    for (const check of entering) {
      if (this.#targets < this.#quotas.targets) this.#start(monitored, check);
      else this.#overQuota.add(instanceId);
    }
    this.#refresh(instanceId);
  }

  #follow(instanceId: string): void {
    const instance = this.ec2.instance(instanceId);
    const alive = instance?.state === 'pending' || instance?.state === 'running';
    const monitored = this.#monitored.get(instanceId);
    if (alive && !monitored) this.#enrol(instance);
    if (!alive && monitored) this.#leave(monitored);
  }

  #enrol(instance: Ec2Instance): void {
    const { clock, physics } = this.world;
    const [least, most] = physics.describeLagSeconds;
    const lagMs = this.#random.whole(least, most) * 1000;
    const view: StatusView = {
      status: 'not-applicable',
      since: instance.launchedAt,
      updatedAt: instance.launchedAt,
      resumesAt: undefined,
      results: [],
      listed: true,
    };
    const described = new Lagged<StatusView>(lagMs);
    described.set(Math.min(instance.launchedAt, clock.now()), view);
    const probeSecond = this.#random.whole(0, physics.probeIntervalSeconds - 1);
    this.#monitored.set(instance.id, { instance, probeSecond, lagMs, results: new Map(), view, described });
    this.reconcile(instance.id);
  }

  #leave(monitored: Monitored): void {
    const { id } = monitored.instance;
    for (const checkId of [...monitored.results.keys()]) this.#stop(monitored, checkId);
    this.#suppressions.forget(id);
    this.#monitored.delete(id);
    this.#overQuota.delete(id);
    this.#fillQuota();
  }

  #start(monitored: Monitored, { id, settings }: StatusCheck): void {
    if (monitored.results.size === 0) this.#probing.add(monitored.instance.id, monitored.probeSecond);
    this.#targets++;
    this.#accept(monitored, newResult(id, settings, this.world.clock.now()));
  }

  #stop(monitored: Monitored, checkId: string): void {
    this.#targets--;
    monitored.results.delete(checkId);
    this.#interfaces.use(target(monitored.instance, checkId), []);
    if (monitored.results.size === 0) this.#probing.remove(monitored.instance.id, monitored.probeSecond);
  }

  #fillQuota(): void {
    if (this.#targets < this.#quotas.targets) for (const id of [...this.#overQuota]) this.reconcile(id);
  }

  /** UG: health checks start when the grace period after the launch is over. */
  #due({ id, launchedAt }: Ec2Instance): readonly DueCheck[] {
    const age = this.world.clock.now() - launchedAt;
    return this.results(id)
      .map(({ checkId }) => ({ checkId, settings: this.registry.get(checkId).settings }))
      .filter(({ settings }) => age >= settings.gracePeriodSeconds * 1000);
  }

  #evaluate({ id }: Ec2Instance, evaluations: readonly Evaluation[]): void {
    const monitored = this.#monitored.get(id);
    if (!monitored) return;
    const now = this.world.clock.now();
    for (const { checkId, settings, outcome } of evaluations) {
      const before = monitored.results.get(checkId);
      if (before) this.#accept(monitored, evaluated(before, settings, outcome, now), before);
    }
    this.#refresh(id);
    this.#publish(monitored);
  }

  #accept(monitored: Monitored, result: CheckResult, before?: CheckResult): void {
    const { instance, results } = monitored;
    const { checkId, settings, status } = result;
    results.set(checkId, result);
    if (settings !== before?.settings) {
      const { subnets, securityGroups } = this.ec2.network;
      const sources = sourcesFor(settings, instance).filter(
        ({ subnetId, securityGroupId }) => subnets.has(subnetId) && securityGroups.has(securityGroupId),
      );
      this.#interfaces.use(target(instance, checkId), sources);
    }
    if (status === before?.status && result.outcome?.code === before.outcome?.code) return;
    const code = result.outcome?.code ?? '';
    this.world.journal.record({ type: 'check', instanceId: instance.id, checkId, status, code });
  }

  /** Works out the instance's status anew, for the service at once and for the Describe operation after its lag. */
  #refresh(instanceId: string): void {
    const monitored = this.#monitored.get(instanceId);
    if (!monitored) return;
    const now = this.world.clock.now();
    const before = monitored.view;
    const view = this.#viewOf(monitored, now);
    monitored.view = view;
    monitored.described.set(now, view);
    if (view.status === before.status) return;
    this.world.journal.record({ type: 'application-status', instanceId, status: view.status });
    for (const hear of this.#listeners) hear(instanceId, view.status);
  }

  #viewOf({ instance: { id }, results, view: before }: Monitored, now: number): StatusView {
    const current = [...results.values()];
    const live = aggregated(current);
    const masked = this.#suppressions.isEffective(id);
    const without = this.world.physics.suppressedWithoutIncludedCheck;
    const suppressed = masked && (live !== 'not-applicable' || without === 'suppressed');
    const status = suppressed ? 'suppressed' : live;
    const same = status === before.status;
    const unmonitored = current.length === 0 && this.#overQuota.has(id);
    return {
      status,
      since: same ? before.since : now,
      // An older API reference: while suppression is active, this status is not updated.
      updatedAt: suppressed && same ? before.updatedAt : now,
      resumesAt: suppressed ? this.#suppressions.of(id)?.resumesAt : undefined,
      results: current,
      listed: !unmonitored && !(masked && !suppressed && without === 'absent'),
    };
  }

  /** SEED 3.4: the aggregate metric is silent under suppression, each check's own is not. One point an evaluation. */
  #publish({ instance, results, view }: Monitored): void {
    if (!this.#metrics || results.size === 0) return;
    // INF: namespace and dimension are those of the other StatusCheckFailed metrics.
    const metric = { namespace: 'AWS/EC2', dimensions: { InstanceId: instance.id } };
    for (const { checkId, status } of results.values())
      this.#metrics.put({
        ...metric,
        name: `StatusCheckFailed_Application_${checkId}`,
        value: Number(status === 'failed'),
      });
    if (view.status === 'suppressed' || view.status === 'not-applicable') return;
    this.#metrics.put({
      ...metric,
      name: 'StatusCheckFailed_Application',
      value: Number(view.status === 'impaired'),
    });
  }

  /** SEED measured what Describe showed, so the service itself is earlier by the instance's lag. */
  #spread({ lagMs }: Monitored): Spread {
    const { suppressionSpreadSeconds, releaseSpreadSeconds } = this.world.physics;
    const seconds = ([least, most]: readonly [number, number]) => this.#random.whole(least, most);
    return {
      suppressMs: Math.max(0, seconds(suppressionSpreadSeconds) * 1000 - lagMs),
      releaseMs: Math.max(0, seconds(releaseSpreadSeconds) * 1000 - lagMs),
    };
  }

  #whyNot(instanceId: string): string {
    const instance = this.ec2.instance(instanceId);
    return instance
      ? `The instance '${instanceId}' is in the state '${instance.state}'.`
      : `The instance ID '${instanceId}' does not exist.`;
  }
}

const target = ({ id }: Instance, checkId: string): string => `${id} ${checkId}`;
