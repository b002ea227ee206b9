import { isatty } from 'node:tty';
import { grouped } from './format.ts';

/** Hears that one more is done, and in a sentence what it broke, if it broke something. */
export type CountProgress = (broke?: string) => void;

/**
 * On standard error: what breaks, as it breaks, and how far it has come, in a line that is rewritten on a terminal and comes
 * now and then elsewhere.
 *
 * @param many what is counted, `seeds`
 */
export function countProgress(total: number, many: string): CountProgress {
  const terminal = isatty(2) && process.env.TERM !== 'dumb';
  const every = terminal ? 1 : Math.max(1, Math.ceil(total / 20));
  let done = 0;
  let broken = 0;
  return broke => {
    done++;
    if (broke !== undefined) {
      broken++;
      process.stderr.write(`${terminal ? '\r' : ''}${broke}\n`);
    }
    if (done % every !== 0 && done !== total) return;
    const line = `${grouped(done)} of ${grouped(total)} ${many}, ${grouped(broken)} broke something`;
    process.stderr.write(terminal ? `\r${line}${done === total ? '\n' : ''}` : `${line}\n`);
  };
}
