import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { stringify } from 'yaml';
import type { FaultProfile } from '../simulate/fault-spec.ts';
import { generate } from '../simulate/seeds/generate.ts';
import type { SeedResult } from '../simulate/seeds/seed-run.ts';
import { exitCode } from './command.ts';
import { writeOut } from './files.ts';
import { document } from './format.ts';
import { describeBreach, describeFinding, describeTally, type Finding } from './seeds-text.ts';

export interface SeedsRequest {
  readonly from: number;
  readonly count: number;
  readonly profile: FaultProfile | 'each';
  readonly processes: number | undefined;
  /** Where the scenarios of seeds that broke something are written. */
  readonly directory: string;
  readonly json: boolean;
}

/** Of the seeds that broke something, so many are made shorter. */
const MOST_FINDINGS = 5;
const MOST_SIMPLIFICATIONS = 150;

/** Simulates many seeds, and makes the history of those that break something as short as it can. */
export async function simulateSeeds(request: SeedsRequest): Promise<number> {
  const { from, count, profile, json } = request;
  const [{ runInProcesses }, { tasksFor }, { shrink }, { tallyOf }] = await Promise.all([
    import('../simulate/seeds/pool.ts'),
    import('../simulate/seeds/seed-run.ts'),
    import('../simulate/seeds/shrink.ts'),
    import('../simulate/seeds/tally.ts'),
  ]);
  const began = performance.now();
  const results: SeedResult[] = [];
  const progress = progressOf(count);
  await runInProcesses(
    tasksFor(from, count, profile),
    request.processes ?? availableParallelism(),
    result => {
      results.push(result);
      progress(results);
    },
  );
  const seconds = (performance.now() - began) / 1000;
  const tally = tallyOf(results);
  const findings: Finding[] = [];
  for (const result of tally.broken.slice(0, MOST_FINDINGS)) {
    const [breach] = result.breaches;
    if (!breach) continue;
    const shrunk = await shrink(generate(result.seed, result.profile), breach, MOST_SIMPLIFICATIONS);
    mkdirSync(request.directory, { recursive: true });
    const path = join(request.directory, `seed-${result.seed}-${result.profile}.yaml`);
    writeOut(path, stringify(shrunk.scenario));
    findings.push({ result, shrunk, path });
    if (!json) process.stdout.write(`${describeFinding({ result, shrunk, path })}\n`);
  }
  process.stdout.write(
    json ? document({ ...tally, seconds, findings }) : `${describeTally(tally, seconds)}\n`,
  );
  return tally.broken.length === 0 ? exitCode.ok : exitCode.failed;
}

/** On standard error: what breaks, as it breaks, and a line that is rewritten on a terminal and comes now and then elsewhere. */
function progressOf(count: number): (results: readonly SeedResult[]) => void {
  const terminal = isatty(2) && process.env.TERM !== 'dumb';
  const every = terminal ? 1 : Math.max(1, Math.ceil(count / 20));
  let broken = 0;
  return results => {
    const latest = results.at(-1);
    const [breach] = latest?.breaches ?? [];
    if (latest && breach) {
      broken++;
      process.stderr.write(
        `${terminal ? '\r' : ''}Seed ${latest.seed}, ${latest.profile}: ${describeBreach(breach)}\n`,
      );
    }
    if (results.length % every !== 0 && results.length !== count) return;
    const line = `${results.length} of ${count} seeds, ${broken} broke something`;
    process.stderr.write(terminal ? `\r${line}${results.length === count ? '\n' : ''}` : `${line}\n`);
  };
}
