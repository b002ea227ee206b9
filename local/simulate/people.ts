import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Scenario } from './scenario.ts';

/** From the read that a go-ahead rests on to the go-ahead itself: two tasks, repeated when calls fail. */
const DECIDING_MS = 60_000;
const DECIDING_AMID_FAULTS_MS = 300_000;

const BREAKING = new Set(['break-application', 'stop-application']);
const CAPACITY = new Set([
  ...BREAKING,
  'terminate-instance',
  'mark-unhealthy',
  'enter-standby',
  'answer-errors',
  'deregister-targets',
]);
/** What leaves Standby is registered by Auto Scaling. */
const REGISTERING = new Set(['register-targets', 'exit-standby']);
/** Who brings back from Standby what a run has left there gets what Auto Scaling registers, and no further target (R-LIFECYCLE). */
const TAKING_OUT = new Set(['deregister-targets', 'enter-standby']);
const SUPPRESSION = new Set(['suppress-instance', 'release-suppression']);

/** What people did to the fleet beside its deployments, so that nothing of it is counted against a product that could not see it. */
export class People {
  readonly #account: Account;
  readonly #acts: Extract<Entry, { type: 'person' }>[] = [];
  readonly #decidingMs: number;
  readonly #detectionMs: number;

  constructor(account: Account, { faults, fleet }: Scenario) {
    this.#account = account;
    this.#decidingMs = faults ? DECIDING_AMID_FAULTS_MS : DECIDING_MS;
    const seconds = fleet.targetGroups.map(
      ({ healthCheck }) =>
        (healthCheck.intervalSeconds + healthCheck.timeoutSeconds) * healthCheck.unhealthyThreshold,
    );
    this.#detectionMs = Math.max(0, ...seconds) * 1000;
    account.world.journal.listen(entry => {
      if (entry.type === 'person') this.#acts.push(entry);
    });
  }

  /** Has a person changed the suppression of an instance so late before `at` that no read could show it? */
  changedSuppressionUnseen(instanceId: string, at: number): boolean {
    const { releaseSpreadSeconds, describeLagSeconds } = this.#account.world.physics;
    const hiddenMs = (releaseSpreadSeconds[1] + describeLagSeconds[1]) * 1000 + this.#decidingMs;
    return this.#acted(SUPPRESSION, instanceId, at - hiddenMs);
  }

  /** Is the suppression of an instance, or its absence, a person's doing by now? */
  hasSuppressed(instanceId: string): boolean {
    return this.#acted(SUPPRESSION, instanceId, 0);
  }

  hasRegistered(instanceId: string, since = 0): boolean {
    return this.#acted(REGISTERING, instanceId, since);
  }

  hasTakenOut(instanceId: string): boolean {
    return this.#acted(TAKING_OUT, instanceId, 0);
  }

  /** A target that a person puts back shows at once: only what was decided already, or is at `at`, can be wrong. */
  registeredUnseen(instanceId: string, at: number): boolean {
    return this.hasRegistered(instanceId, at - this.#decidingMs);
  }

  hasBroken(instanceId: string): boolean {
    return this.#acted(BREAKING, instanceId, 0);
  }

  /** Does a person's act make a target fail requests: a broken application, an instance ended, one registered too early? */
  hasUnfitted(instanceId: string): boolean {
    return this.#acted(CAPACITY, instanceId, 0) || this.hasRegistered(instanceId);
  }

  /** Has a person taken capacity away at all? */
  get tookCapacity(): boolean {
    return this.#acts.some(({ act }) => CAPACITY.has(act));
  }

  /** Has a person, or Auto Scaling for one, taken capacity away that a load balancer still counts? */
  tookCapacityUnseen(): boolean {
    const { clock, journal } = this.#account.world;
    const since = clock.now() - this.#detectionMs - this.#decidingMs;
    return (
      this.#acts.some(({ act, at }) => at >= since && CAPACITY.has(act)) ||
      journal.entries.some(
        entry => entry.type === 'activity' && entry.kind === 'terminate' && entry.at >= since,
      )
    );
  }

  #acted(acts: ReadonlySet<string>, instanceId: string, since: number): boolean {
    return this.#acts.some(one => acts.has(one.act) && one.instanceId === instanceId && one.at >= since);
  }
}
