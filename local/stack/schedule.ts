const MILLISECONDS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/**
 * The period of a `rate(...)` expression in milliseconds.
 *
 * @throws Error on `cron(...)`, which is not implemented, and on what EventBridge would refuse (`rate(1 minutes)`)
 */
export function periodOf(expression: string, where: string): number {
  const [, count = '', unit, plural] = /^rate\((\d+) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  if (unit !== 'minute' && unit !== 'hour' && unit !== 'day')
    throw new Error(
      `${where}: the schedule ${expression} is not implemented; rate(<n> minutes|hours|days) is`,
    );
  if (Number(count) < 1 || (count === '1') !== (plural === ''))
    throw new Error(`${where}: ${expression} is not valid; the unit is singular for 1 and plural beyond`);
  return Number(count) * MILLISECONDS[unit];
}
