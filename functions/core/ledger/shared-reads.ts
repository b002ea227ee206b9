import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ObservationPending } from '../errors.ts';
import { change, get, type Item, number, text } from './table.ts';

/**
 * One read of AWS for many runs (D10). Whoever needs it first, and finds nothing fresh enough, takes a short lease and reads
 * for all; the others find what it wrote. Nobody waits inside a function: a read that is just being made is
 * `ObservationPending`, and the machine comes again.
 */
export interface SharedRead<T> {
  readonly key: string;
  /** What was read before this instant is too old, in milliseconds since the epoch. */
  readonly notBefore: number;
  readonly read: () => Promise<T>;
}

/** A partition key holds 2,048 bytes, and a key may list many ARNs. */
const pk = (key: string): string =>
  `seen#${key.length <= 200 ? key : createHash('sha256').update(key).digest('hex')}`;

/** How long a reader may take before another takes over: an act's own time-out is longer, a read is not. */
const LEASE_MS = 20_000;

/** Two reads of the same thing are at least so far apart, however many ask. */
const SPACING_MS = 3_000;

const KEPT_SECONDS = 3600;

/** @throws ObservationPending while another run is reading, or has only just read */
export async function readShared<T>({ key, notBefore, read }: SharedRead<T>): Promise<T> {
  const seen = await get(pk(key));
  const readAt = Number(seen?.readAt?.N ?? 0);
  // Without an instant of its reading the item is nothing but the lease of a reader.
  if (seen && readAt > 0 && readAt >= notBefore) return unpacked<T>(seen);
  const now = Date.now();
  if (!(await takeLease(key, readAt, now)))
    throw new ObservationPending(`Another run is just reading ${key}: what it sees is used.`);
  const value = await read();
  const isKept = await change(pk(key), {
    UpdateExpression: 'SET readAt = :at, packed = :value, expiresAt = :expires REMOVE leaseUntil',
    ConditionExpression: 'leaseUntil = :lease',
    ExpressionAttributeValues: {
      ':lease': number(now + LEASE_MS),
      ':at': number(now),
      ':value': { B: gzipSync(JSON.stringify(value, replacer)) },
      ':expires': number(now / 1000 + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  if (!isKept) throw new ObservationPending(`${key} was changed while it was read: it is read again.`);
  return value;
}

/** Nobody is to decide any more by what was read of this until now, or is just being read. */
export async function forgetShared(key: string): Promise<void> {
  await change(pk(key), {
    UpdateExpression: 'REMOVE readAt, packed, leaseUntil',
    ConditionExpression: 'attribute_exists(pk)',
    ReturnValues: 'NONE',
  });
}

/** One reader at a time, and none right after the last one. */
async function takeLease(key: string, readAt: number, now: number): Promise<boolean> {
  if (now - readAt < SPACING_MS) return false;
  const taken = await change(pk(key), {
    UpdateExpression: 'SET leaseUntil = :until, reading = :key',
    ConditionExpression:
      '(attribute_not_exists(leaseUntil) OR leaseUntil < :now) AND (attribute_not_exists(readAt) OR readAt = :seen)',
    ExpressionAttributeValues: {
      ':until': number(now + LEASE_MS),
      ':now': number(now),
      ':seen': number(readAt),
      ':key': text(key),
    },
    ReturnValues: 'NONE',
  });
  return taken !== undefined;
}

const unpacked = <T>(item: Item): T =>
  JSON.parse(gunzipSync(item.packed?.B ?? new Uint8Array()).toString(), reviver) as T;

/** JSON has neither maps nor dates, and what is read has both. */
function replacer(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const raw = this[name];
  if (raw instanceof Map) return { $map: [...raw] };
  return raw instanceof Date ? { $date: raw.getTime() } : value;
}

function reviver(_name: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if ('$map' in value && Array.isArray(value.$map)) return new Map(value.$map);
  return '$date' in value && typeof value.$date === 'number' ? new Date(value.$date) : value;
}
