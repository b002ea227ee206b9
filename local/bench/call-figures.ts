import type { Call } from '../wire/contract.ts';
import type { Calls } from './call-bound.ts';
import { against, type Figure } from './figures.ts';

const CALLS_RATIO = 1.3;

/** A line a service with the goal, and below it one an action. */
export function callFigures(calls: readonly Call[], bound: Calls): Figure[] {
  const made = countCalls(calls);
  const names = [...new Set([...made.keys(), ...bound.keys()])].sort();
  const services = [...new Set(names.map(name => name.split(':')[0] ?? ''))];
  return services.flatMap(service => {
    const actions = names.filter(name => name.startsWith(`${service}:`));
    const sum = (counts: Calls) => actions.reduce((total, name) => total + (counts.get(name) ?? 0), 0);
    const total: Figure = {
      ...against(`calls of ${service}`, sum(made), sum(bound)),
      goal: { of: 'ratio', atMost: CALLS_RATIO },
    };
    const each = actions.map(name =>
      against(`  ${name.slice(service.length + 1)}`, made.get(name) ?? 0, bound.get(name) ?? 0),
    );
    return [total, ...each];
  });
}

function countCalls(calls: readonly Call[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { service, action } of calls) {
    const name = `${service}:${action}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
