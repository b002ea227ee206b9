import { parseArgs } from 'node:util';
import { everyFault, tellingFaults } from './simulate/call-sites.ts';
import { type Fault, faultLine, readFault } from './simulate/faults.ts';
import { faultsIn, isPassage, type PassageName, passages } from './simulate/passages.ts';
import { strike } from './simulate/strike.ts';

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
  const all = Object.keys(passages).filter(isPassage);
  return { ...values, passages: asked.length > 0 ? asked : all };
}

async function main(): Promise<void> {
  const { telling, fault, passages } = readArguments();
  let broken = 0;
  for (const passage of passages) {
    const faults = fault ? [readFault(fault)] : await faultsIn(passage, telling ? tellingFaults : everyFault);
    broken += await strikeAll(passage, faults);
  }
  process.exitCode = broken > 0 ? 1 : 0;
}

/** @returns how many of them broke something */
async function strikeAll(passage: PassageName, faults: readonly Fault[]): Promise<number> {
  const began = performance.now();
  const endings = new Map<string, number>();
  let broken = 0;
  for (const fault of faults) {
    const { outcome, error, wrong } = await strike(passage, fault);
    const ending = `${outcome} ${error}`.trim();
    endings.set(ending, (endings.get(ending) ?? 0) + 1);
    if (wrong.length === 0) continue;
    broken++;
    process.stdout.write(`${passage} --fault "${faultLine(fault)}" (${ending})\n`);
    for (const one of wrong) process.stdout.write(`  ${one}\n`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const ended = [...endings].map(([ending, count]) => `${count} ${ending}`).join(', ');
  process.stdout.write(
    `${passage}: ${faults.length} faults in ${seconds} s, ${broken} broke something; ${ended}\n`,
  );
  return broken;
}

await main();
