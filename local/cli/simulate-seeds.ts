import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { FaultProfile } from '../simulate/fault-spec.ts';
import { generate } from '../simulate/seeds/generate.ts';
import type { SeedResult } from '../simulate/seeds/seed-run.ts';
import { exitCode } from './command.ts';
import { countProgress } from './count-progress.ts';
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

const WORKER = new URL('../simulate/seeds/worker.ts', import.meta.url);

/** Simulates many seeds, and makes the history of those that break something as short as it can. */
export async function simulateSeeds(request: SeedsRequest): Promise<number> {
  const { from, count, profile, json } = request;
  const [{ runInProcesses }, { tasksFor }, { shrink }, { tallyOf }] = await Promise.all([
    import('../simulate/pool.ts'),
    import('../simulate/seeds/seed-run.ts'),
    import('../simulate/seeds/shrink.ts'),
    import('../simulate/seeds/tally.ts'),
  ]);
  const began = performance.now();
  const results: SeedResult[] = [];
  const progress = countProgress(count, 'seeds');
  await runInProcesses(
    WORKER,
    tasksFor(from, count, profile),
    request.processes ?? availableParallelism(),
    (result: SeedResult) => {
      results.push(result);
      const [breach] = result.breaches;
      progress(breach && `Seed ${result.seed}, ${result.profile}: ${describeBreach(breach)}`);
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
