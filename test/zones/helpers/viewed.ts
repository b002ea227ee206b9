import type { Application } from '../../../local/account/application.ts';
import { startTraffic } from '../../../local/simulate/simulation.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet } from '../../machine/helpers/bracket.ts';

/** Two instances in each of three zones, under traffic; nobody replaces one. The even zone of a number: 0 and 3 are in a. */
export const SIX: Fleet = {
  instances: 6,
  autoScaling: null,
  targetGroups: [
    {
      name: 'web',
      port: 8080,
      attributes: { 'deregistration_delay.timeout_seconds': '120' },
      traffic: { requestsPerSecond: 60, longShare: 0.2, longMs: 20_000 },
    },
  ],
};

/** A fleet whose zones are viewed each minute, and have been found well. */
export async function viewed(fleet: Fleet = SIX, settings: BracketSettings = {}) {
  const run = await bracket(fleet, {
    ...settings,
    parameters: { ZoneView: 'Enabled', ...settings.parameters },
  });
  const { account, fleet: built, scenario } = run.standing;
  startTraffic(account, built, scenario);
  const minutes = (count: number) => run.clock.pass(count * 60_000);
  await minutes(6);
  const applications = (...numbers: readonly number[]): Application[] =>
    numbers.flatMap(number => built.instances[number]?.application ?? []);
  return {
    run,
    minutes,
    /** Their health checks fail from now on. */
    fail: (...numbers: readonly number[]) => {
      for (const one of applications(...numbers))
        one.suffer(({ path }) => (path === '/' ? undefined : { kind: 'responds', status: 503, afterMs: 20 }));
    },
    /** Their users get errors, and their health checks pass. */
    answerWrongly: (...numbers: readonly number[]) => {
      for (const one of applications(...numbers))
        one.suffer(({ path }) => (path === '/' ? { kind: 'responds', status: 500, afterMs: 20 } : undefined));
    },
    heal: (...numbers: readonly number[]) => {
      for (const one of applications(...numbers)) one.suffer(undefined);
    },
  };
}

interface Line {
  readonly event?: string;
  readonly [member: string]: unknown;
}

const linesOf = ({ stack }: Bracket): readonly Line[] =>
  stack.lambda.logs.filter(line => line.function === 'ViewZonesFunction').map(({ line }) => JSON.parse(line));

/** The classes that were told, one after the other. */
export const classes = (run: Bracket): readonly unknown[] => changes(run).map(({ to }) => to);

export const changes = (run: Bracket): readonly Line[] =>
  linesOf(run).filter(({ event }) => event === 'zones.class-changed');

/** The last value of a metric that has these dimensions. */
export const lastOf = (run: Bracket, metric: string, dimensions: Readonly<Record<string, string>>): unknown =>
  linesOf(run).findLast(
    line => metric in line && Object.entries(dimensions).every(([name, value]) => line[name] === value),
  )?.[metric];

/** The alarms that ring, of those that name a class. */
export const ringing = ({ standing }: Bracket): readonly string[] =>
  standing.account.alarms
    .all()
    .filter(({ state, name }) => state.value === 'ALARM' && !/Deploy|Function|Schedule/.test(name))
    .map(({ name }) => name.replace('quiesce-', ''));
