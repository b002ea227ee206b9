import type {
  AutoRollbackEvent,
  ComputePlatform,
  DeploymentCreator,
  DeploymentInfo,
  DeploymentStatus,
  Diagnostics,
  ErrorInformation,
  LifecycleEvent,
  LifecycleEventStatus,
  TargetLabel,
  TargetStatus,
} from '@aws-sdk/client-codedeploy';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import type { Revision } from './code-deploy-agent.ts';
import { Lagged } from './lagged.ts';

export interface AutoRollback {
  readonly enabled: boolean;
  readonly events: readonly AutoRollbackEvent[];
}

export interface DeploymentGroup {
  readonly id: string;
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  /** `Server` is EC2. */
  readonly computePlatform: Exclude<ComputePlatform, 'Kubernetes'>;
  readonly deploymentConfigName: string;
  readonly autoScalingGroupNames: readonly string[];
  /** CodeDeploy knows target groups by name. With any, its own steps block and allow traffic. */
  readonly targetGroupNames: readonly string[];
  /** Instances outside Auto Scaling groups are found by all of these tags; none are found without any. */
  readonly instanceTags: Readonly<Record<string, string>>;
  readonly autoRollback: AutoRollback;
  /** Deploys to a copy of its Auto Scaling group (COPY_AUTO_SCALING_GROUP), then ends the original's instances. */
  readonly blueGreen: { readonly terminateAfterMinutes: number } | undefined;
}

/** One instance of a deployment, as CodeDeploy knows it at one moment. */
export interface TargetView {
  readonly status: TargetStatus;
  readonly updatedAt: number;
  readonly lifecycleEvents: readonly LifecycleEvent[];
}

/** One instance of a deployment. */
export class DeploymentTarget {
  readonly instanceId: string;
  readonly label: TargetLabel | undefined;
  readonly #shown: Shown<TargetView>;

  constructor(
    instanceId: string,
    label: TargetLabel | undefined,
    events: readonly string[],
    shownWith: ShownSettings,
  ) {
    this.instanceId = instanceId;
    this.label = label;
    this.#shown = new Shown(shownWith, {
      status: 'Pending',
      updatedAt: shownWith.clock.now(),
      lifecycleEvents: events.map(lifecycleEventName => ({ lifecycleEventName, status: 'Pending' })),
    });
  }

  /** What the API shows, which lies behind. */
  get shown(): TargetView {
    return this.#shown.shown;
  }

  get status(): TargetStatus {
    return this.#shown.current.status;
  }

  get events(): readonly string[] {
    return this.#shown.current.lifecycleEvents.map(({ lifecycleEventName = '' }) => lifecycleEventName);
  }

  get isRunningAnEvent(): boolean {
    return this.#shown.current.lifecycleEvents.some(({ status }) => status === 'InProgress');
  }

  begin(): void {
    this.#set('InProgress', event => event);
  }

  enter(name: string): void {
    this.#set('InProgress', event =>
      event.lifecycleEventName === name
        ? { ...event, status: 'InProgress', startTime: this.#shown.date() }
        : event,
    );
  }

  leave(name: string, status: LifecycleEventStatus, diagnostics?: Diagnostics): void {
    this.#set(this.status, event =>
      event.lifecycleEventName === name
        ? { ...event, status, endTime: this.#shown.date(), ...(diagnostics && { diagnostics }) }
        : event,
    );
  }

  /** Events that have not begun get `left`. */
  end(status: TargetStatus, left: LifecycleEventStatus = 'Skipped'): void {
    this.#set(status, event =>
      event.status === 'Pending' ? { ...event, status: left, endTime: this.#shown.date() } : event,
    );
  }

  #set(status: TargetStatus, change: (event: LifecycleEvent) => LifecycleEvent): void {
    const { lifecycleEvents } = this.#shown.current;
    this.#shown.set({
      status,
      updatedAt: this.#shown.date().getTime(),
      lifecycleEvents: lifecycleEvents.map(change),
    });
  }
}

export type DeploymentEnd = 'Succeeded' | 'Failed' | 'Stopped';

interface DeploymentView {
  readonly status: DeploymentStatus;
  readonly endedAt: number | undefined;
}

export interface DeploymentFacts {
  readonly id: string;
  readonly group: DeploymentGroup;
  readonly creator: DeploymentCreator;
  readonly deploymentConfigName: string;
  /** Undefined for a deployment that somebody else carries out, step by step. */
  readonly revision: Revision | undefined;
  /** The group's last successful revision when the deployment began. */
  readonly previousRevision: Revision | undefined;
  readonly ignoreApplicationStopFailures: boolean;
  readonly autoRollback: AutoRollback;
  /** Those that it begins with. */
  readonly targets: ReadonlyMap<string, DeploymentTarget>;
  /** The deployment that this one rolls back. */
  readonly rollbackOf: string | undefined;
}

/** One deployment: what it was asked to do, and how far it has come. */
export class Deployment {
  readonly facts: DeploymentFacts;
  readonly startedAt: number;
  rollbackInfo: DeploymentInfo['rollbackInfo'];
  errorInformation: ErrorInformation | undefined;
  readonly #view: Shown<DeploymentView>;
  readonly #targets: Map<string, DeploymentTarget>;

  constructor(facts: DeploymentFacts, shownWith: ShownSettings) {
    this.facts = facts;
    this.startedAt = shownWith.clock.now();
    this.#targets = new Map(facts.targets);
    this.rollbackInfo =
      facts.rollbackOf === undefined ? undefined : { rollbackTriggeringDeploymentId: facts.rollbackOf };
    this.#view = new Shown(shownWith, { status: 'Created', endedAt: undefined });
    this.#view.set({ status: 'InProgress', endedAt: undefined });
  }

  get id(): string {
    return this.facts.id;
  }

  get group(): DeploymentGroup {
    return this.facts.group;
  }

  get targets(): ReadonlyMap<string, DeploymentTarget> {
    return this.#targets;
  }

  add(target: DeploymentTarget): void {
    this.#targets.set(target.instanceId, target);
  }

  get status(): DeploymentStatus {
    return this.#view.current.status;
  }

  get isLive(): boolean {
    return this.status === 'InProgress';
  }

  get shown(): DeploymentView {
    return this.#view.shown;
  }

  end(status: DeploymentEnd, errorInformation?: ErrorInformation): void {
    this.errorInformation = errorInformation;
    this.#view.set({ status, endedAt: this.#view.date().getTime() });
  }
}

export interface ShownSettings {
  readonly clock: VirtualClock;
  readonly lagMs: number;
}

/** A value, and what the API shows of it. */
class Shown<T> {
  readonly #clock: VirtualClock;
  readonly #first: T;
  readonly #seen: Lagged<T>;
  #current: T;

  constructor({ clock, lagMs }: ShownSettings, first: T) {
    this.#clock = clock;
    this.#first = first;
    this.#current = first;
    this.#seen = new Lagged(lagMs);
  }

  get current(): T {
    return this.#current;
  }

  get shown(): T {
    return this.#seen.seenAt(this.#clock.now()) ?? this.#first;
  }

  set(value: T): void {
    this.#current = value;
    this.#seen.set(this.#clock.now(), value);
  }

  date(): Date {
    return this.#clock.date();
  }
}
