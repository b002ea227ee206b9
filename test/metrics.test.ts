// First, so that the clients keep the virtual timers.
import '../local/clock/lambda-globals.ts';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readScenario } from '../local/simulate/scenario.ts';
import { type Simulated, simulate } from '../local/simulate/simulation.ts';
import type { LogLine } from '../local/stack/lambda.ts';
import { bracket, usual } from './machine/helpers/bracket.ts';

const Embedded = z.looseObject({
  _aws: z.object({
    Timestamp: z.number(),
    CloudWatchMetrics: z.tuple([
      z.object({
        Namespace: z.string(),
        Dimensions: z.tuple([z.array(z.string())]),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ]),
  }),
});

interface Datum {
  readonly at: number;
  readonly metric: string;
  readonly unit: string;
  readonly values: readonly number[];
  readonly dimensions: Readonly<Record<string, unknown>>;
}

const Values = z.union([z.number().transform(value => [value]), z.array(z.number())]);

/** What CloudWatch makes of the log, by its embedded metric format. */
function published(logs: readonly LogLine[]): Datum[] {
  return logs
    .filter(({ line }) => line.includes('"_aws"'))
    .flatMap(({ at, line }) => {
      const record = Embedded.parse(JSON.parse(line));
      const [{ Namespace, Dimensions, Metrics }] = record._aws.CloudWatchMetrics;
      expect({ Namespace, at: record._aws.Timestamp }).toEqual({ Namespace: 'Quiesce', at });
      const dimensions = Object.fromEntries(Dimensions[0].map(name => [name, record[name]]));
      return Metrics.map(({ Name, Unit }) => ({
        at,
        metric: Name,
        unit: Unit,
        values: Values.parse(record[Name]),
        dimensions,
      }));
    });
}

const valuesOf = (data: readonly Datum[], metric: string) =>
  data.filter(datum => datum.metric === metric).flatMap(({ values }) => values);

describe('a rolling deployment of two runs is measured as it went', () => {
  let simulated: Simulated;
  let data: readonly Datum[];
  beforeAll(async () => {
    const scenario = readScenario(fileURLToPath(new URL('../scenarios/rolling.yaml', import.meta.url)));
    simulated = await simulate({ scenario });
    data = published(simulated.stack?.lambda.logs ?? []);
  });

  const entries = () => simulated.account.world.journal.entries;
  /** When each batch came to this point, in seconds. */
  const reached = (state: string) =>
    entries().flatMap(entry => (entry.type === 'deployment' && entry.state === state ? entry.at / 1000 : []));

  test('the lead, from the last suppression to the go-ahead', () => {
    const leads = reached('go-ahead').map(goAhead => {
      const last = entries().findLast(
        entry => entry.type === 'suppression' && entry.state === 'spreading' && entry.at / 1000 < goAhead,
      );
      return goAhead - (last?.at ?? 0) / 1000;
    });
    const measured = valuesOf(data, 'suppression_lead_seconds');
    expect(measured).toHaveLength(leads.length);
    for (const [run, lead] of leads.entries()) expect(Math.abs(Number(measured[run]) - lead)).toBeLessThan(2);
  });

  test('the drain, from the last deregistration to the look that sees it over', () => {
    const drains = reached('batch').map((from, batch, all) => {
      const at = (state: string) =>
        entries()
          .filter(entry => entry.type === 'target' && entry.state === state)
          .map(entry => entry.at / 1000)
          .filter(when => when >= from && when < (all[batch + 1] ?? Number.POSITIVE_INFINITY));
      return Math.max(...at('unused')) - Math.max(...at('draining'));
    });
    const measured = valuesOf(data, 'drain_seconds');
    expect(measured).toHaveLength(drains.length);
    // A look comes within a poll of 10 s.
    for (const [run, drain] of drains.entries()) {
      expect(measured[run]).toBeGreaterThanOrEqual(Math.floor(drain));
      expect(measured[run]).toBeLessThan(drain + 12);
    }
  });

  test('each DeregisterTargets, by target group', () => {
    const calls = simulated.stack?.calls.counts().find(({ action }) => action === 'DeregisterTargets');
    const durations = data.filter(({ metric }) => metric === 'deregistration_duration_ms');
    expect(durations.flatMap(({ values }) => values)).toHaveLength(calls?.count ?? 0);
    expect(durations.map(({ dimensions }) => dimensions.target_group)).toEqual(['web', 'api', 'web', 'api']);
    // A call of the simulated account takes 15 to 60 ms.
    for (const value of durations.flatMap(({ values }) => values)) expect(value).toBeGreaterThanOrEqual(15);
  });

  test('each check that turns after the deployment, once, with the Code of its reason', () => {
    const turns = reached('installed').flatMap(installed =>
      entries().filter(
        entry =>
          entry.type === 'check' &&
          entry.status === 'passed' &&
          entry.at / 1000 > installed &&
          entry.at / 1000 < installed + 300,
      ),
    );
    const transitions = data.filter(({ metric }) => metric === 'readiness_transition_total');
    expect(turns).toHaveLength(simulated.fleet.instances.length);
    expect(valuesOf(data, 'readiness_transition_total')).toHaveLength(turns.length);
    for (const { dimensions } of transitions)
      expect(dimensions).toMatchObject({ from: 'not-passed', to: 'passed', reason: 'ResponseCodeMatched' });
  });

  test('healthy targets by group and zone: all of the run at the last look before it goes on', () => {
    const counts = data.filter(({ metric }) => metric === 'healthy_host_count');
    // Three instances in three zones, in `web` on two ports.
    const each = (web: number, api: number) => [web, web, web, api, api, api];
    const looks = [...Map.groupBy(counts, ({ at }) => at).values()].map(look =>
      look.flatMap(({ values }) => values),
    );
    // How many looks it takes depends on how soon each node probes.
    expect(looks.filter(look => look.join() === each(2, 1).join())).toHaveLength(2);
    expect(looks.at(-1)).toEqual(each(2, 1));
    expect(new Set(counts.map(({ dimensions }) => dimensions.az))).toEqual(
      new Set(['eu-west-1a', 'eu-west-1b', 'eu-west-1c']),
    );
  });

  test('D41: blind is at least what the account saw, and at most the spreading more', () => {
    const measured = valuesOf(data, 'blind_instance_minutes').reduce((a, b) => a + b, 0);
    const seen = simulated.measures.blindInstanceMinutes;
    // Suppression spreads in at most 196 s and is described 60 s later; so is its release, of 150 s.
    const spreading = (simulated.fleet.instances.length * (196 + 60 + 150 + 60)) / 60;
    expect(measured).toBeGreaterThan(seen);
    expect(measured).toBeLessThan(seen + spreading);
  });

  test('how each run ended', () => {
    const ends = data.filter(({ metric }) => metric === 'run_total');
    expect(ends.map(({ dimensions }) => dimensions)).toEqual(
      Array(2).fill({ service: 'quiesce', outcome: 'succeeded', error: 'none' }),
    );
  });

  test('no dimension names an instance or a run', () => {
    const values = data.flatMap(({ dimensions }) => Object.values(dimensions));
    expect(values.filter(value => /i-[0-9a-f]{8}|rolling|arn:/.test(String(value)))).toEqual([]);
  });
});

test('a run that is refused and one that fails count once each, by their errors', async () => {
  const run = await bracket(usual);
  await run.before({ fleet: { instanceIds: ['i-0123456789abcdef0'] }, runId: 'nobody' });
  await run.before();
  run.standing.fleet.instances[0]?.application.stop();
  await run.after();
  const data = published(run.stack.lambda.logs);
  expect(data.filter(({ metric }) => metric === 'run_total').map(({ dimensions }) => dimensions)).toEqual([
    { service: 'quiesce', outcome: 'refused', error: 'InstanceUnknown' },
    { service: 'quiesce', outcome: 'failed', error: 'BudgetSpent' },
  ]);
  // Suppressed for the lead, the wait for readiness that never came, and the undo.
  const [blind = 0] = valuesOf(data, 'blind_instance_minutes');
  expect(blind).toBeGreaterThan((2 * (180 + 900 + 120)) / 60);
});
