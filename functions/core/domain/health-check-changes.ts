import type { FailureReason } from './health-check-line.ts';
import type { SeenFailure, SeenPass, SeenTarget } from './health-check-summary.ts';

/** A target that failed the last health check that a node is known to have made. Times are milliseconds since the epoch. */
export interface FailingTarget {
  readonly group: string;
  readonly target: string;
  readonly since: number;
  /** When it last failed. */
  readonly until: number;
  /** Of the first failure. */
  readonly reason: FailureReason;
  readonly statusCode: number | null;
  /** The slowest of the checks that it had passed before in the same file; null when there was none. */
  readonly passSeconds: number | null;
}

/** A target's first failure after it had passed, or its first pass after it had failed, as one node saw it. */
export interface Change {
  readonly kind: 'failed' | 'recovered';
  readonly group: string;
  readonly target: string;
  readonly at: number;
  readonly reason: FailureReason | null;
  readonly statusCode: number | null;
  /** For how long it had failed; of a recovery. */
  readonly failedSeconds?: number;
}

export interface Changes {
  /** In the order of time. */
  readonly changes: readonly Change[];
  readonly failing: readonly FailingTarget[];
}

/** A target of which a node's logs have nothing for so long is not checked any more: two files. */
const FORGOTTEN_MS = 600_000;

/**
 * What changed on a node's targets in one file, after what was known to fail before it. Of a target that goes to and fro in one
 * file its first change each way is told, and how it ends.
 */
export function changesIn(targets: readonly SeenTarget[], failingBefore: readonly FailingTarget[]): Changes {
  const before = new Map(failingBefore.map(failing => [keyOf(failing), failing]));
  const told = targets.map(seen => {
    const known = before.get(keyOf(seen));
    before.delete(keyOf(seen));
    return changesOf(seen, known);
  });
  const latest = Math.max(...targets.map(({ lastAt }) => lastAt));
  const unseen = [...before.values()].filter(({ until }) => until > latest - FORGOTTEN_MS);
  return {
    changes: told.flatMap(({ changes }) => changes).sort((a, b) => a.at - b.at),
    failing: [...unseen, ...told.flatMap(({ failing }) => failing)],
  };
}

function changesOf(seen: SeenTarget, known: FailingTarget | undefined): Changes {
  const { firstFailure, firstPass, lastPass, failingSince, lastAt } = seen;
  const first = known ? undefined : firstFailure;
  const began = known ?? (first && failing(seen, first));
  if (!began) return { changes: [], failing: [] };
  const failed = first ? [change('failed', seen, first)] : [];
  // The first pass may be from before the failure: then only the last one tells of a recovery.
  const recovery = [firstPass, lastPass].find(pass => pass && pass.at > began.since);
  if (!recovery) return { changes: failed, failing: [{ ...began, until: lastAt }] };
  const failedSeconds = Math.round((recovery.at - began.since) / 1000);
  const recovered = { ...change('recovered', seen, { ...recovery, reason: null }), failedSeconds };
  if (!failingSince) return { changes: [...failed, recovered], failing: [] };
  return {
    changes: [...failed, recovered, change('failed', seen, failingSince)],
    failing: [failing(seen, failingSince)],
  };
}

function failing(
  { group, target, lastAt, firstPass, slowestPassSeconds }: SeenTarget,
  { at, reason, statusCode }: SeenFailure,
): FailingTarget {
  const passSeconds = firstPass && firstPass.at < at ? slowestPassSeconds : null;
  return { group, target, since: at, until: lastAt, reason, statusCode, passSeconds };
}

const change = (
  kind: Change['kind'],
  { group, target }: SeenTarget,
  { at, reason, statusCode }: SeenPass & Pick<Change, 'reason'>,
): Change => ({ kind, group, target, at, reason, statusCode });

const keyOf = ({ group, target }: { readonly group: string; readonly target: string }): string =>
  `${group} ${target}`;
