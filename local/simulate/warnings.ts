import type { Account } from '../account/account.ts';
import type { Stack } from '../stack/deploy.ts';

/** Whom a deployed stack has warned of what, while a deployment went on. */
export interface Warnings {
  /** What befell the target groups, one after the other, as the view of the zones told it. */
  readonly zoneClasses: readonly string[];
  /** The alarms that rang, by their logical ids, in order of their names. */
  readonly alarms: readonly string[];
  /** The subjects of what people were told, in order. */
  readonly told: readonly string[];
}

const LOGGED_BY = 'ViewZonesFunction';
/** What the stack's name puts before a logical id. */
const STACK_PREFIX = /^quiesce-/;

/** @param from and `to`: in milliseconds since the epoch */
export function warningsBetween(
  { world }: Account,
  stack: Stack | undefined,
  from: number,
  to: number,
): Warnings {
  const isMeanwhile = ({ at }: { readonly at: number }) => from <= at && at <= to;
  const lines = (stack?.lambda.logs ?? []).filter(line => isMeanwhile(line) && line.function === LOGGED_BY);
  const rang = world.journal.entries.flatMap(entry =>
    entry.type === 'alarm' && entry.state === 'ALARM' && isMeanwhile(entry)
      ? [entry.alarm.replace(STACK_PREFIX, '')]
      : [],
  );
  return {
    zoneClasses: lines.flatMap(({ line }) => {
      const { event, to: found }: { readonly event?: string; readonly to?: string } = JSON.parse(line);
      return event === 'zones.class-changed' && found !== undefined ? [found] : [];
    }),
    alarms: [...new Set(rang)].toSorted(),
    told: (stack?.topics.published ?? []).filter(isMeanwhile).map(({ subject }) => subject),
  };
}
