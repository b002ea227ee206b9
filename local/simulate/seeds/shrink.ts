import { scenario } from '../scenario.ts';
import { type Attempt, attempt, type Breach } from './attempt.ts';
import type { ScenarioInput } from './generate.ts';

/** The shortest history found that breaks the same thing. */
export interface Shrunk {
  readonly scenario: ScenarioInput;
  readonly breach: Breach;
  /** How many scenarios were simulated for it. */
  readonly tried: number;
}

/**
 * Leaves out one thing after the other, as long as the same breach remains. Greedy: what is left need not be the shortest
 * history of all, but nothing of it can be left out alone.
 *
 * @param most scenarios to simulate at most
 */
export async function shrink(
  found: ScenarioInput,
  breach: Breach,
  most: number,
  simulated: (input: ScenarioInput) => Promise<Attempt> = attempt,
): Promise<Shrunk> {
  let shortest = { scenario: found, breach };
  let tried = 0;
  for (let shortened = true; shortened; ) {
    shortened = false;
    for (const simpler of simplifications(shortest.scenario)) {
      if (tried >= most) return { ...shortest, tried };
      tried++;
      const same = (await simulated(simpler)).breaches.find(one => likeness(one) === likeness(breach));
      if (!same) continue;
      shortest = { scenario: simpler, breach: same };
      shortened = true;
      break;
    }
  }
  return { ...shortest, tried };
}

/** What a breach is, whichever instance, group or second it is about. */
const likeness = ({ invariant, what }: Breach): string =>
  `${invariant} ${what.replace(/\b(i|d|eni|asc)-[0-9A-Za-z]+|\d+(\.\d+)?|arn:\S+/g, '*')}`;

/** Each scenario that lacks one thing of this one, what saves most first. */
export function* simplifications(from: ScenarioInput): Generator<ScenarioInput> {
  // Some members cannot be left out alone.
  for (const simpler of lackingOne(from)) if (scenario.safeParse(simpler).success) yield simpler;
}

function* lackingOne(scenario: ScenarioInput): Generator<ScenarioInput> {
  const {
    fleet,
    deployment = {},
    rivals = [],
    events = [],
    faults,
    physics = {},
    parameters = {},
  } = scenario;
  for (const fewer of without(rivals)) yield { ...scenario, rivals: fewer };
  for (const fewer of without(events)) yield { ...scenario, events: fewer };
  if (faults) {
    const { faults: _, ...faultless } = scenario;
    yield faultless;
    for (const rates of lacking(faults.rates)) yield { ...scenario, faults: { ...faults, rates } };
    const { fromSeconds = 0, untilSeconds } = faults;
    const middle = Math.round((fromSeconds + untilSeconds) / 2);
    if (untilSeconds - fromSeconds > 10) {
      yield { ...scenario, faults: { ...faults, untilSeconds: middle } };
      yield { ...scenario, faults: { ...faults, fromSeconds: middle } };
    }
  }
  for (const instances of new Set([1, Math.ceil(fleet.instances / 2), fleet.instances - 1]))
    if (instances > 0 && instances < fleet.instances) yield withInstances(scenario, instances);
  for (const targetGroups of without(fleet.targetGroups ?? []))
    yield { ...scenario, fleet: { ...fleet, targetGroups } };
  for (const checks of without(fleet.checks ?? [])) yield { ...scenario, fleet: { ...fleet, checks } };
  for (const fewer of lacking(physics)) yield { ...scenario, physics: fewer };
  for (const fewer of lacking(parameters)) yield { ...scenario, parameters: fewer };
  for (const adopt of lackingDeeply(deployment.adopt ?? {}))
    yield { ...scenario, deployment: { ...deployment, adopt } };
  for (const request of lackingDeeply(deployment.request ?? {}))
    yield { ...scenario, deployment: { ...deployment, request } };
  for (const fewer of lacking(deployment)) yield { ...scenario, deployment: fewer };
  const { instances, ...rest } = fleet;
  for (const fewer of lacking(rest)) yield { ...scenario, fleet: { ...fewer, instances } };
  for (const [index, group] of (fleet.targetGroups ?? []).entries()) {
    const { name, port, ...others } = group;
    for (const fewer of lackingDeeply(others)) {
      const targetGroups = (fleet.targetGroups ?? []).with(index, { ...fewer, name, port });
      yield { ...scenario, fleet: { ...fleet, targetGroups } };
    }
  }
}

/** A smaller fleet, with what names instances by their number kept within it. */
function withInstances(scenario: ScenarioInput, instances: number): ScenarioInput {
  const { fleet, deployment = {}, rivals = [], events = [] } = scenario;
  const within = <D extends { readonly instances?: number[] | undefined }>(spec: D): D =>
    spec.instances ? { ...spec, instances: [...new Set(spec.instances.map(n => n % instances))] } : spec;
  return {
    ...scenario,
    fleet: { ...fleet, instances },
    deployment: within(deployment),
    rivals: rivals.map(within),
    events: events.map(event => ({ ...event, instance: (event.instance ?? 0) % instances })),
  };
}

const without = <T>(items: readonly T[]): T[][] => items.map((_, index) => items.toSpliced(index, 1));

/** Each copy of an object that lacks one member. */
const lacking = <T extends object>(members: T): T[] =>
  Object.keys(members).map(name => {
    const { [name as keyof T]: _, ...rest } = members;
    return rest as T;
  });

/** As `lacking`, and of members that are objects as well. */
function lackingDeeply<T extends object>(members: T): T[] {
  const within = Object.entries(members).flatMap(([name, value]) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? lacking(value as object).map(inner => ({ ...members, [name]: inner }))
      : [],
  );
  return [...lacking(members), ...within];
}
