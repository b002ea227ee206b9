import { type ChildProcess, spawn } from 'node:child_process';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import type { ScriptLog } from './script-log.ts';
import { StillTime } from './still-time.ts';
import type { Turns } from './turns.ts';

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly status: number }
  | { readonly kind: 'timed-out' }
  /** The instance went away, and the script with it. */
  | { readonly kind: 'lost' };

export interface ScriptSettings {
  readonly clock: VirtualClock;
  readonly turns: Turns;
  readonly instanceId: string;
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly log: ScriptLog;
}

/** One hook script, running as a child process with a process group of its own. */
export class ScriptProcess {
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when its output is closed too: nothing of it runs any more. */
  readonly gone: Promise<void>;
  readonly #time: StillTime;
  readonly #child: ChildProcess;
  readonly #end: (end: ProcessEnd) => void;
  readonly #turn: () => Promise<void>;

  constructor({ clock, turns, instanceId, path, environment, timeoutSeconds, log }: ScriptSettings) {
    this.#turn = () => turns.take(instanceId).then(() => log.tell());
    const ended = Promise.withResolvers<ProcessEnd>();
    const gone = Promise.withResolvers<void>();
    this.ended = ended.promise;
    this.gone = gone.promise;
    this.#time = new StillTime(clock);
    const child = spawn('bash', [path], {
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const timeout = clock.after(timeoutSeconds * 1000, () => {
      this.#signal('SIGTERM');
      this.#end({ kind: 'timed-out' });
    });
    this.#end = end => {
      timeout.cancel();
      ended.resolve(end);
    };
    const streams = [
      { source: child.stdout, sink: log.stream('[stdout]') },
      { source: child.stderr, sink: log.stream('[stderr]') },
    ];
    for (const { source, sink } of streams) source.setEncoding('utf8').on('data', sink.take);
    child.once('error', error => {
      this.#time.end();
      clock.fail(error);
    });
    // The agent waits for the end of the output as well, so a process that a script leaves behind keeps the event open.
    child.once('close', (code, signal) => {
      for (const { sink } of streams) sink.end();
      this.#time.end();
      gone.resolve();
      this.#turn().then(() => this.#end({ kind: 'exited', status: code ?? (signal ? 1 : 0) }));
    });
  }

  /** Does what the script asks for and waits for, which may take virtual time. */
  waits<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#time.during(async () => {
      await this.#turn();
      return work();
    });
  }

  /** Ends the script at once, as the end of its machine does. */
  lose(): void {
    this.#signal('SIGKILL');
    this.#end({ kind: 'lost' });
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#time.interrupt();
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // It has just ended by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
