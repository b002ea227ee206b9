import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { countProgress } from './cli/count-progress.ts';
import { counted, grouped, table } from './cli/format.ts';
import { failCommand } from './failed-command.ts';
import { everyFault, tellingFaults } from './simulate/call-sites.ts';
import { faultLine, readFault } from './simulate/faults.ts';
import { faultsIn, isPassage, passages } from './simulate/passages.ts';
import { runInProcesses } from './simulate/pool.ts';
import type { Strike, Struck } from './simulate/strike.ts';

const WORKER = new URL('simulate/strike-worker.ts', import.meta.url);

const USAGE = `npm run call-sites [-- [PASSAGE..] [--telling] [--fault "CALLER SERVICE:ACTION ORDINAL WAY"]]

Makes each call to AWS of a small deployment fail, in each way in which it can, and checks every invariant.
PASSAGE is one of ${Object.keys(passages).join(', ')}; all of them unless given.
--telling takes only what the tests do; --fault only one, as a failure prints it.`;

/** @throws Error when the arguments cannot be read */
function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { telling: { type: 'boolean', default: false }, fault: { type: 'string' } },
  });
  const wrong = positionals.find(name => !isPassage(name));
  if (wrong !== undefined) throw new Error(`There is no passage ${wrong}.\n\n${USAGE}`);
  const asked = positionals.filter(isPassage);
  if (values.fault !== undefined && asked.length !== 1)
    throw new Error(`--fault needs the one passage that it belongs to.\n\n${USAGE}`);
  const all = Object.keys(passages).filter(isPassage);
  return { ...values, passages: asked.length > 0 ? asked : all };
}

async function main(): Promise<void> {
  const { telling, fault, passages } = readArguments();
  const choose = telling ? tellingFaults : everyFault;
  const strikes: Strike[] = [];
  for (const passage of passages)
    for (const one of fault ? [readFault(fault)] : await faultsIn(passage, choose))
      strikes.push({ passage, fault: one });

  const began = performance.now();
  const results: Struck[] = [];
  const progress = countProgress(strikes.length, 'faults');
  await runInProcesses(WORKER, strikes, availableParallelism(), (struck: Struck) => {
    results.push(struck);
    progress(struck.wrong.length > 0 ? describeBroken(struck) : undefined);
  });
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(`${describeAll(results, seconds)}\n`);
  process.exitCode = results.some(isBroken) ? 1 : 0;
}

const isBroken = ({ wrong }: Struck): boolean => wrong.length > 0;

const endingOf = ({ outcome, error }: Struck): string => [outcome, error].filter(Boolean).join(' ');

const describeBroken = (struck: Struck): string =>
  [
    `${struck.passage} --fault "${faultLine(struck.fault)}" (${endingOf(struck)})`,
    ...struck.wrong.map(one => `  ${one}`),
  ].join('\n');

/** How many faults each passage met, how many broke something, and how it ended with them. */
function describeAll(results: readonly Struck[], seconds: number): string {
  const byPassage = [...Map.groupBy(results, ({ passage }) => passage)];
  const counts = byPassage.map(([passage, struck]) => [
    passage,
    grouped(struck.length),
    grouped(struck.filter(isBroken).length),
  ]);
  const endings = byPassage.map(([, struck]) => {
    const alike = [...Map.groupBy(struck, endingOf)].sort(([, a], [, b]) => b.length - a.length);
    return alike.map(([ending, { length }]) => `${grouped(length)} ${ending}`).join(', ');
  });
  const rows = table([['passage', 'faults', 'broke'], ...counts]);
  const broken = results.filter(isBroken).length;
  return [
    ...rows.map((row, place) => `${row}  ${['ended', ...endings][place]}`),
    `${counted(results.length, 'fault')} in ${grouped(Math.round(seconds))} s, ${grouped(broken)} broke something.`,
  ].join('\n');
}

main().catch(failCommand);
