import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { type CompletedCommand, type Shell, scripts } from './completion-scripts.ts';
import { document } from './format.ts';

const shells = Object.keys(scripts);

const options = {
  json: { ...jsonOption, about: 'Print what is completed as one JSON document, instead of a script.' },
} as const;

export const completionCommand: Command = {
  name: 'completion',
  about: 'Prints a script that completes the commands, their options and the values of these in a shell.',
  operands: shells.join('|'),
  operandChoices: shells,
  options,
  examples: [
    'source <(quiesce completion bash)',
    'quiesce completion zsh > ~/.zfunc/_quiesce',
    'quiesce completion fish > ~/.config/fish/completions/quiesce.fish',
  ],
  endsWith: { ok: 'It is printed.', failed: 'It never ends so.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('completion', options, args, true);
  const [shell, ...more] = positionals;
  if (!isShell(shell) || more.length > 0) throw new UsageError(`Name one shell: ${shells.join(', ')}.`);
  const completed = await Promise.all(
    Object.values(commands).map(async ({ summary, load }): Promise<CompletedCommand> => {
      const { name, options, operands, operandChoices } = await load();
      return { name, summary, options, ...(operands && { operandChoices: operandChoices ?? 'files' }) };
    }),
  );
  process.stdout.write(values.json ? document(completed) : scripts[shell](completed));
  return exitCode.ok;
}

const isShell = (given: string | undefined): given is Shell =>
  given !== undefined && Object.hasOwn(scripts, given);
