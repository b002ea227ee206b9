import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Random } from '../clock/random.ts';
import { type DeploymentResult, deploy } from './deployment.ts';
import type { Violation } from './evidence.ts';
import { FAULT_PROFILES } from './fault-spec.ts';
import { holdsNothing } from './judge-end.ts';
import { rivalName } from './runs.ts';
import { type DeploymentSpec, scenario } from './scenario.ts';
import { drawInBatches } from './seeds/generate-deployment.ts';
import type { FleetInput } from './seeds/generate-fleet.ts';
import { ledgerItems, type Standing, settleEnd, standUp } from './simulation.ts';

const HOUR_MS = 3_600_000;

/** What is there at the end of an hour. */
export interface Hour {
  readonly hour: number;
  readonly outcome: string;
  /** Of the heap, after a collection, without what the account remembers of the past. */
  readonly heapMegabytes: number;
  /** Items of the ledger that claim or hold something. */
  readonly claimed: number;
  readonly running: number;
  readonly suppressed: number;
}

export interface Soaked {
  readonly hours: readonly Hour[];
  readonly violations: readonly Violation[];
}

/** Six instances behind a load balancer, with an included check. */
const FLEET: FleetInput = {
  instances: 6,
  zones: ['eu-west-1a', 'eu-west-1b'],
  targetGroups: [{ name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '60' } }],
  checks: [{ port: 8080 }],
};

/**
 * One account for many virtual hours: a drawn deployment an hour, hostile but for the last hour, and in the end nothing may be
 * left and no invariant broken.
 *
 * @param told hears of each hour when it is over
 */
export async function soak(
  hours: number,
  seed: number,
  told: (hour: Hour) => void = () => undefined,
): Promise<Soaked> {
  const random = new Random(seed).fork('soak');
  const untilSeconds = (hours - 1) * 3600;
  const standing = await standUp({
    scenario: scenario.parse({
      name: `soak-${seed}`,
      seed,
      fleet: FLEET,
      // So that the invariants know what each of them asks for.
      rivals: Array.from({ length: hours }, (_, hour) => drawHour(random.fork(`hour ${hour}`), hour)),
      faults: { untilSeconds, rates: FAULT_PROFILES.hostile },
    }),
  });
  const { clock } = standing.account.world;
  const begunAt = clock.now();
  const past: Hour[] = [];
  for (const [hour, spec] of standing.scenario.rivals.entries()) {
    const ended = await clock.runFor(deployNow(standing, rivalName(standing.scenario, hour), spec));
    await clock.pass(Math.max(0, begunAt + (hour + 1) * HOUR_MS - clock.now()));
    const one = await measureHour(standing, hour + 1, ended);
    past.push(one);
    told(one);
  }
  await settleEnd(standing);
  return { hours: past, violations: standing.invariants.violations };
}

function drawHour(random: Random, hour: number) {
  const { through: _, request: { emergency: __, ...request } = {}, ...spec } = drawInBatches(random, FLEET);
  return { ...spec, request, atSeconds: hour * 3600 };
}

/** To what is in service now: instances come and go. */
async function deployNow(standing: Standing, name: string, spec: DeploymentSpec): Promise<DeploymentResult> {
  const { ec2, autoScaling } = standing.account;
  const isServing = (id: string) => autoScaling.memberOf(id)?.member.lifecycle === 'InService';
  const instances = [...ec2.live()].filter(({ id }) => isServing(id));
  const numbers = spec.instances?.filter(number => number < instances.length);
  return deploy(
    { ...standing, fleet: { ...standing.fleet, instances } },
    { name, spec: { ...spec, instances: numbers?.length ? numbers : undefined } },
  );
}

async function measureHour(
  { account, stack }: Standing,
  hour: number,
  { outcome, error }: DeploymentResult,
): Promise<Hour> {
  if (!stack) throw new Error('a soak has a stack');
  const { clock, journal } = account.world;
  const ledger = await clock.runFor(ledgerItems(stack));
  // What the account remembers grows with every hour, and is not the product's.
  journal.entries.length = 0;
  stack.lambda.logs.length = 0;
  stack.executions.forgetEndedBefore(clock.now() - REMEMBERED_MS);
  return {
    hour,
    outcome: [outcome, error].filter(Boolean).join(' '),
    heapMegabytes: heapAfterCollection() / 1_048_576,
    claimed: ledger.filter(({ pk }) => !holdsNothing(pk)).length,
    running: [...stack.executions.all()].filter(({ status }) => status === 'RUNNING').length,
    suppressed: [...account.ec2.live()].filter(({ id }) => account.checks.suppression(id)).length,
  };
}

/** The sweep may still ask for the executions of the runs of the last hours. */
const REMEMBERED_MS = 4 * HOUR_MS;

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

/** More than what the ledger keeps of ended runs, for some weeks, and code that has become warm. */
const MOST_GROWTH = 1.25;

/** Is there more on the heap at the end than when everything had happened once? */
export function hasGrown(hours: readonly Hour[]): boolean {
  const mean = (some: readonly Hour[]) =>
    some.reduce((sum, { heapMegabytes }) => sum + heapMegabytes, 0) / some.length;
  const quarter = Math.ceil(hours.length / 4);
  return mean(hours.slice(-quarter)) > MOST_GROWTH * mean(hours.slice(quarter, 2 * quarter));
}
