import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from './did-you-mean.ts';
import { wrap } from './format.ts';

/** An option of a command: what `parseArgs` reads, and what help and shell completion say of it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly default?: string | boolean;
  /** One sentence. */
  readonly about: string;
  /** What stands for the value in the help, for example `FILE`. */
  readonly value?: string;
  /** Values to choose from, for completion; others may be right as well. */
  readonly choices?: readonly string[];
  /** Is the value the name of a file? */
  readonly file?: boolean;
  /** Does an empty value mean something? Else it is mostly that of a variable which is not set, and is refused. */
  readonly mayBeEmpty?: boolean;
}

export type OptionTable = Readonly<Record<string, CommandOption>>;

/** One subcommand of the command line. */
export interface Command {
  readonly name: string;
  /** What it does, in a sentence or two. */
  readonly about: string;
  /** What follows its name, without the options; for example `SCENARIO`. */
  readonly operands?: string;
  /** What the operands are: a line or two. */
  readonly operandsAbout?: string;
  /** What an operand completes to in a shell; files unless given. */
  readonly operandChoices?: readonly string[];
  readonly options: OptionTable;
  readonly examples: readonly string[];
  /** What the exit codes 0 and 1 mean here; 2 means the same everywhere. */
  readonly endsWith: { readonly ok: string; readonly failed: string };
  /** Answers with the exit code. */
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
  /** By the shells' convention, 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

/** Every command has it. */
export const jsonOption = {
  type: 'boolean',
  default: false,
  about: 'Print one JSON document and nothing else.',
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
    // Node's words for an option that is followed by another one.
    const plain = said?.replace(/\.$/, '').replace('argument is ambiguous', 'lacks its value');
    const [, unknown = ''] = /^Unknown option '(--[^']+)'/.exec(error.message) ?? [];
    const meant = didYouMean(
      unknown,
      ['help', ...Object.keys(config.options ?? {})].map(name => `--${name}`),
    );
    throw new UsageError(`${plain}: see ${command} --help.${meant}`);
  }
}

/** Reads a command's arguments. @throws UsageError when there are operands that it does not take, or an option is empty */
export function readOptions<O extends OptionTable>(
  name: string,
  options: O,
  args: readonly string[],
  takesOperands = false,
) {
  const read = parse(`quiesce ${name}`, { args: [...args], options, allowPositionals: takesOperands });
  const empty = Object.entries(read.values).filter(
    ([option, value]) => value === '' && !options[option]?.mayBeEmpty,
  );
  if (empty.length > 0)
    throw new UsageError(empty.map(([option]) => `--${option} is empty: is the variable set?`).join('\n'));
  return read;
}

const WIDTH = 100;

/** The help of a command, written from its own table of options. */
export function helpOf(command: Command): string {
  const { name, about, operands, operandsAbout, options, examples, endsWith } = command;
  const shown: [string, string][] = Object.entries(options).map(([option, { value, about: said }]) => [
    `    --${option}${value ? ` ${value}` : ''}`,
    said,
  ]);
  shown.push(['-h, --help', 'Show this help.']);
  return [
    ...wrap(about, WIDTH),
    '',
    `Usage: quiesce ${name}${operands ? ` ${operands}` : ''} [options]`,
    '',
    ...(operandsAbout ? [...wrap(operandsAbout, WIDTH - 2).map(line => `  ${line}`), ''] : []),
    'Options:',
    ...hanging(shown),
    '',
    examples.length > 1 ? 'Examples:' : 'Example:',
    ...examples.map(example => `  ${example}`),
    '',
    'Exit code:',
    ...hanging([
      ['0', endsWith.ok],
      ['1', endsWith.failed],
      ['2', 'The command line, or a file that it names, cannot be used.'],
    ]),
    '',
  ].join('\n');
}

function hanging(entries: readonly (readonly [string, string])[]): string[] {
  const indent = Math.max(...entries.map(([term]) => term.length)) + 4;
  return entries.flatMap(([term, said]) =>
    wrap(said, WIDTH - indent).map(
      (line, index) => (index === 0 ? `  ${term}`.padEnd(indent) : ' '.repeat(indent)) + line,
    ),
  );
}
