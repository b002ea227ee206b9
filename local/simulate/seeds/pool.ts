import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SeedResult, SeedTask } from './seed-run.ts';

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

/**
 * Simulates seeds in so many processes.
 *
 * @param told hears each result as it comes, in no particular order
 * @throws Error when a process dies
 */
export async function runInProcesses(
  tasks: readonly SeedTask[],
  processes: number,
  told: (result: SeedResult) => void,
): Promise<void> {
  const waiting = tasks.values();
  const workers = Array.from({ length: Math.min(processes, tasks.length) }, () => fork(WORKER));
  try {
    await Promise.all(workers.map(worker => serve(worker, waiting, told)));
  } finally {
    for (const worker of workers) worker.kill();
  }
}

async function serve(
  worker: ChildProcess,
  waiting: IterableIterator<SeedTask>,
  told: (result: SeedResult) => void,
): Promise<void> {
  const died = once(worker, 'exit').then(([code]): never => {
    throw new Error(`A process that simulates seeds has ended with ${code}.`);
  });
  const answered = async () => (await Promise.race([once(worker, 'message'), died]))[0];
  await answered();
  for (const task of waiting) {
    worker.send(task);
    told(await answered());
  }
  died.catch(() => undefined);
}
