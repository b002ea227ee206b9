import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { exitCode, UsageError } from './cli/command.ts';
import { countProgress } from './cli/count-progress.ts';
import { didYouMean } from './cli/did-you-mean.ts';
import { counted, grouped, table } from './cli/format.ts';
import { failCommand } from './failed-command.ts';
import { everyFault, tellingFaults } from './simulate/call-sites.ts';
import { type CallSite, type Fault, faultLine, readFault } from './simulate/faults.ts';
import { faultsIn, isPassage, type PassageName, passages } from './simulate/passages.ts';
import { runInProcesses } from './simulate/pool.ts';
import type { Strike, Struck } from './simulate/strike.ts';

const WORKER = new URL('simulate/strike-worker.ts', import.meta.url);

const PASSAGES = Object.keys(passages).filter(isPassage);

const USAGE = `npm run call-sites [-- [PASSAGE..] [--telling] [--fault "CALLER SERVICE:ACTION ORDINAL WAY"]]

Makes each call to AWS of a small deployment fail, in each way in which it can, and checks every invariant.
PASSAGE is one of ${PASSAGES.join(', ')}; all of them unless given.
--telling takes only what the tests do; --fault only one, as a failure prints it.`;

/** @throws UsageError when the arguments cannot be read */
function readArguments() {
  const { values, positionals } = parsed();
  const wrong = positionals.find(name => !isPassage(name));
  if (wrong !== undefined)
    throw new UsageError(`There is no passage ${wrong}.${didYouMean(wrong, PASSAGES)}\n\n${USAGE}`);
  const asked = positionals.filter(isPassage);
  if (values.fault !== undefined && asked.length !== 1)
    throw new UsageError(`--fault needs the one passage that it belongs to.\n\n${USAGE}`);
  return { ...values, passages: asked.length > 0 ? asked : PASSAGES };
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        telling: { type: 'boolean', default: false },
        fault: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(`${sentence}.\n\n${USAGE}`);
  }
}

function readLine(line: string): Fault {
  try {
    return readFault(line);
  } catch (error) {
    throw new UsageError(String(error instanceof Error ? error.message : error));
  }
}

/** @throws UsageError when it is no fault, the passage makes no such call, or it cannot go wrong so */
async function faultOf(passage: PassageName, line: string): Promise<Fault> {
  const fault = readLine(line);
  const all = await faultsIn(passage, everyFault);
  if (all.some(one => faultLine(one) === faultLine(fault))) return fault;
  const call = ({ caller, action }: CallSite) => `${caller} ${action}`;
  const alike = all.filter(one => call(one) === call(fault));
  if (alike.length === 0) {
    const calls = [...new Set(all.map(call))];
    throw new UsageError(
      `The passage ${passage} has no call ${call(fault)}.${didYouMean(call(fault), calls)}`,
    );
  }
  const times = Math.max(...alike.map(({ ordinal }) => ordinal));
  const ways = [...new Set(alike.map(({ way }) => way))].join(', ');
  throw new UsageError(
    `${call(fault)} is called ${counted(times, 'time')} in the passage ${passage}, and can go wrong as ${ways}.`,
  );
}

async function main(): Promise<void> {
  const { telling, fault, help, passages } = readArguments();
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const choose = telling ? tellingFaults : everyFault;
  const strikes: Strike[] = [];
  for (const passage of passages)
    for (const one of fault === undefined ? await faultsIn(passage, choose) : [await faultOf(passage, fault)])
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

main().catch((error: unknown) => {
  failCommand(error);
  if (error instanceof UsageError) process.exitCode = exitCode.usage;
});
