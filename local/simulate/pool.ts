import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';

/**
 * Has each task answered by one of so many processes.
 *
 * @param worker the module that each process runs, which calls `answerTasks`
 * @param told hears each answer as it comes, in no particular order
 * @throws Error when a process dies, which names its task
 */
export async function runInProcesses<Task extends object, Answer>(
  worker: URL,
  tasks: readonly Task[],
  processes: number,
  told: (answer: Answer) => void,
): Promise<void> {
  const waiting = tasks.values();
  const workers = Array.from({ length: Math.min(processes, tasks.length) }, () => fork(worker));
  try {
    await Promise.all(workers.map(worker => serve(worker, waiting, told)));
  } finally {
    for (const worker of workers) worker.kill();
  }
}

async function serve<Task extends object, Answer>(
  worker: ChildProcess,
  waiting: IterableIterator<Task>,
  told: (answer: Answer) => void,
): Promise<void> {
  let at = 'before its first task';
  const died = once(worker, 'exit').then(([code, signal]): never => {
    throw new Error(`A process that simulates has ended with ${code ?? signal}, ${at}.`);
  });
  const answered = async () => (await Promise.race([once(worker, 'message'), died]))[0];
  await answered();
  for (const task of waiting) {
    at = `at ${JSON.stringify(task)}`;
    worker.send(task);
    told(await answered());
  }
  died.catch(() => undefined);
}

/** In a process of the pool: answers the tasks that its parent sends, one after the other, until the parent disconnects. */
export function answerTasks<Task, Answer extends Serializable>(
  answer: (task: Task) => Promise<Answer>,
): void {
  process.on('message', (task: Task) => {
    answer(task).then(answer => process.send?.(answer));
  });
  process.send?.('ready');
}
