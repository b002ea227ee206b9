import type { FailureReason, HealthCheckLine } from './health-check-line.ts';

/** What one load balancer node saw of one target in one file. Times are milliseconds since the epoch. */
export interface SeenTarget {
  readonly group: string;
  /** `10.0.1.20:8080`, or `-` for what a Lambda function is. */
  readonly target: string;
  readonly checks: number;
  readonly failures: ReadonlyMap<FailureReason, number>;
  /** Of its checks that passed; null when none did, or the log does not say. */
  readonly slowestPassSeconds: number | null;
  readonly lastAt: number;
  readonly firstFailure?: SeenFailure;
  readonly firstPass?: SeenPass;
  readonly lastPass?: SeenPass;
  /** The first failure of the row of failures with which the file ends, as far as its lines are in order. */
  readonly failingSince?: SeenFailure;
}

export interface SeenPass {
  readonly at: number;
  readonly statusCode: number | null;
}

export interface SeenFailure extends SeenPass {
  readonly reason: FailureReason;
}

interface Tally {
  checks: number;
  readonly failures: Map<FailureReason, number>;
  slowestPassSeconds: number | null;
  lastAt: number;
  firstFailure?: SeenFailure;
  firstPass?: SeenPass;
  lastPass?: SeenPass;
  failingSince?: SeenFailure;
}

/**
 * Targets of one load balancer that are told apart: ten times AWS's default quota. The checks of further ones count for the
 * target `other` of their group, so that no file can fill the memory.
 */
const TARGETS = 10_000;
/** The same for target groups: AWS's default is 100 a load balancer. */
const GROUPS = 1_000;
export const OTHER = 'other';

/** Adds the lines of one file up, target by target; what it holds grows with the targets and not with the lines. */
export class HealthCheckSummary {
  readonly #groups = new Map<string, Map<string, Tally>>();
  #targets = 0;
  #lines = 0;
  #bad = 0;

  /** Counts a line; undefined is a bad one. */
  add(line: HealthCheckLine | undefined): void {
    this.#lines++;
    if (!line) {
      this.#bad++;
      return;
    }
    const targets = this.#group(line.targetGroup);
    const name = line.target ?? '-';
    count(targets.get(name) ?? this.#begin(targets, name, line), line);
  }

  get lines(): number {
    return this.#lines;
  }

  get badLines(): number {
    return this.#bad;
  }

  targets(): readonly SeenTarget[] {
    return Array.from(this.#groups, ([group, targets]) =>
      Array.from(targets, ([target, tally]): SeenTarget => ({ group, target, ...tally })),
    ).flat();
  }

  #group(name: string): Map<string, Tally> {
    const known = this.#groups.get(name);
    if (known) return known;
    const key = this.#groups.size < GROUPS ? name : OTHER;
    const targets = this.#groups.get(key) ?? new Map<string, Tally>();
    this.#groups.set(key, targets);
    return targets;
  }

  #begin(targets: Map<string, Tally>, name: string, line: HealthCheckLine): Tally {
    const key = this.#targets < TARGETS ? name : OTHER;
    const crowd = targets.get(key);
    if (crowd) return crowd;
    this.#targets++;
    const tally = { checks: 0, failures: new Map(), slowestPassSeconds: null, lastAt: line.at };
    targets.set(key, tally);
    return tally;
  }
}

/** The lines of a file need not be in order. */
function count(tally: Tally, { at, reason, statusCode, latencySeconds }: HealthCheckLine): void {
  tally.checks++;
  if (reason) {
    tally.failures.set(reason, (tally.failures.get(reason) ?? 0) + 1);
    const failure = { at, statusCode, reason };
    if (!tally.firstFailure || at < tally.firstFailure.at) tally.firstFailure = failure;
    if (at >= tally.lastAt) tally.failingSince ??= failure;
  } else {
    if (latencySeconds !== null && latencySeconds > (tally.slowestPassSeconds ?? -1))
      tally.slowestPassSeconds = latencySeconds;
    const pass = { at, statusCode };
    if (!tally.firstPass || at < tally.firstPass.at) tally.firstPass = pass;
    if (!tally.lastPass || at > tally.lastPass.at) tally.lastPass = pass;
    if (at >= tally.lastAt) delete tally.failingSince;
  }
  tally.lastAt = Math.max(tally.lastAt, at);
}
