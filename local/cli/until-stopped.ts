/** How often npm's shell is looked after: nobody waits for longer than this after npm was ended. */
const LOOK_EVERY_MS = 500;

/** Read at once: whoever is told that the server is there may end npm before anything else is done here. */
const startedBy = process.ppid;

/**
 * Settles when somebody wants this process to end: on Ctrl-C, on SIGTERM, and when npm, which had started it, is gone.
 * npm hands a signal to the shell between the two, which dies of it and leaves this process running, unseen.
 */
export async function untilStopped(): Promise<void> {
  const waiting = new AbortController();
  const signals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map(
    signal => new Promise<void>(resolve => process.once(signal, () => resolve())),
  );
  await Promise.race([...signals, ...(startedByNpm() ? [parentGone(waiting.signal)] : [])]);
  waiting.abort();
}

const startedByNpm = (): boolean => process.env.npm_command !== undefined;

function parentGone(given: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const looking = setInterval(() => process.ppid !== startedBy && resolve(), LOOK_EVERY_MS);
    given.addEventListener('abort', () => clearInterval(looking));
  });
}
