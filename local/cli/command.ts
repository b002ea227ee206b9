import { type ParseArgsConfig, parseArgs } from 'node:util';

/** One subcommand: `help` is its usage text, `run` answers with the exit code. */
export interface Command {
  readonly help: string;
  readonly run: (args: readonly string[]) => Promise<number>;
}

export const exitCode = {
  ok: 0,
  /** What was asked for was done and did not turn out as it should. */
  failed: 1,
  /** What was asked for cannot be understood. */
  usage: 2,
  /** EX_SOFTWARE of sysexits.h: an error in this program. */
  crash: 70,
} as const;

/** A command line, or a file that it names, that cannot be used. The message is all that is shown. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `parseArgs` of node:util. @throws UsageError, in one sentence */
export function parse<T extends ParseArgsConfig>(
  command: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')))
      throw error;
    const [said] = error.message.split(/\.\s|\n/);
    throw new UsageError(`${said?.replace(/\.$/, '')}: see ${command} --help.`);
  }
}
