import type { World } from '../account/world.ts';

const HOUR = 3_600_000;

/** The ends of a machine's executions begin the next ones, and nothing would ever stop them. */
export class ExecutionLoop extends Error {
  override readonly name = 'ExecutionLoop';
}

/**
 * How often a machine may be started in an hour: for each instance some runs with their undos, each repeated, and what a sweep
 * every five minutes and a message now and then make besides.
 */
const mostAnHour = (instances: number): number => 200 + 8 * instances;

/** Ends the simulation when a machine is started again and again, since it would not end by itself (R-LOOP). */
export function refuseExecutionLoops(
  { clock, journal }: Pick<World, 'clock' | 'journal'>,
  instances: number,
): void {
  const starts = new Map<string, number[]>();
  journal.listen(entry => {
    if (entry.type !== 'execution' || entry.status !== 'RUNNING') return;
    const ofMachine = (starts.get(entry.machine) ?? []).filter(at => entry.at - at < HOUR);
    ofMachine.push(entry.at);
    starts.set(entry.machine, ofMachine);
    if (ofMachine.length > mostAnHour(instances))
      clock.fail(new ExecutionLoop(`${entry.machine} was started ${ofMachine.length} times within an hour.`));
  });
}
