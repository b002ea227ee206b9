import { findObserver } from '../ledger/observers.ts';
import { forgetShared, readShared } from '../ledger/shared-reads.ts';

type ByInstance<R> = (ids: readonly string[]) => Promise<Map<string, R>>;

/**
 * How a run reads AWS. A run of its own reads directly; the runs of one deployment share each read (D10), so that hundreds
 * of per-instance runs cost what one run over all their instances would.
 */
export interface Sharing {
  /** Wraps a read of states: what is older than the sharing's `notBefore` is read again. */
  readonly state: <A extends readonly unknown[], R>(
    name: string,
    read: (...args: A) => Promise<R>,
  ) => (...args: A) => Promise<R>;
  /** Wraps a read of settings, which nobody changes by the minute (D11). */
  readonly settings: Sharing['state'];
  /** Wraps a read of instances' states: one read serves every instance of the deployment. */
  readonly instances: <R>(name: string, read: ByInstance<R>) => ByInstance<R>;
}

const unshared: Sharing = {
  state: (_name, read) => read,
  settings: (_name, read) => read,
  instances: (_name, read) => read,
};

/** The name under which the health of a target group's targets is shared. */
export const HEALTH = 'health';

/** Instances whose states are kept in one item. */
const SHARD = 500;

const SETTINGS_MAX_AGE_MS = 180_000;

/**
 * @param observer the deployment whose runs share their reads; undefined for a run of its own
 * @param notBefore states that were read earlier are too old to decide by, in milliseconds since the epoch
 */
export async function sharingOf(observer: string | undefined, notBefore: number): Promise<Sharing> {
  if (observer === undefined) return unshared;
  const known = (await findObserver(observer))?.instanceIds ?? [];
  const shared =
    (oldest: number): Sharing['state'] =>
    (name, read) =>
    (...args) =>
      readShared({ key: keyOf(name, args), notBefore: oldest, read: () => read(...args) });
  return {
    state: shared(notBefore),
    settings: shared(Date.now() - SETTINGS_MAX_AGE_MS),
    instances: (name, read) => async ids => {
      const shards = new Set(ids.map(id => Math.floor(known.indexOf(id) / SHARD)));
      const seen = await Promise.all(
        [...shards].map(shard => {
          // An instance that joined the deployment later is read for itself.
          if (shard < 0) return read(ids.filter(id => !known.includes(id)));
          const members = known.slice(shard * SHARD, (shard + 1) * SHARD);
          return readShared({ key: `${name} ${observer} ${shard}`, notBefore, read: () => read(members) });
        }),
      );
      return new Map(ids.flatMap(id => seen.flatMap(one => [...pick(one, id)])));
    },
  };
}

const keyOf = (name: string, args: readonly unknown[]): string => `${name} ${JSON.stringify(args)}`;

/**
 * For who has put targets back: a run that finds them in nobody's hands any more must not plan by a list that they are not on.
 */
export const forgetHealth = (targetGroupArn: string): Promise<void> =>
  forgetShared(keyOf(HEALTH, [targetGroupArn]));

function* pick<R>(seen: ReadonlyMap<string, R>, id: string): Iterable<[string, R]> {
  const found = seen.get(id);
  if (found !== undefined) yield [id, found];
}
