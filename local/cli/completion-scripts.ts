import type { CommandOption, OptionTable } from './command.ts';

/** What there is to complete of one command. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: OptionTable;
  /** Absent when it takes no operands. */
  readonly operandChoices?: readonly string[] | 'files';
}

export type Shell = 'bash' | 'zsh' | 'fish';

/** Completion scripts by shell, written from the commands' own tables. */
export const scripts: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = {
  bash,
  zsh,
  fish,
};

interface NamedOption extends CommandOption {
  readonly name: string;
}

const optionsOf = ({ options }: CompletedCommand): NamedOption[] => [
  ...Object.entries(options).map(([name, option]) => ({ name, ...option })),
  { name: 'help', type: 'boolean', about: 'Show the help.' },
];

function bash(commands: readonly CompletedCommand[]): string {
  return `# Completion of quiesce for bash.
_quiesce() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(bashValues).join('\n')}
  esac
  case "\${COMP_WORDS[1]} $word" in
${commands.map(bashOptions).join('\n')}
${commands.flatMap(bashOperands).join('\n')}
  esac
}
complete -F _quiesce quiesce
`;
}

const words = (all: readonly string[]): string => `COMPREPLY=($(compgen -W "${all.join(' ')}" -- "$word"))`;
const FILES = 'COMPREPLY=($(compgen -f -- "$word"))';

const bashValues = (command: CompletedCommand): string[] =>
  optionsOf(command)
    .filter(({ type }) => type === 'string')
    .map(({ name, file, choices }) => {
      const values = file ? `${FILES}; ` : choices ? `${words(choices)}; ` : '';
      return `    "${command.name} --${name}") ${values}return ;;`;
    });

const bashOptions = (command: CompletedCommand): string =>
  `    "${command.name} -"*) ${words(optionsOf(command).map(({ name }) => `--${name}`))} ;;`;

function bashOperands({ name, operandChoices }: CompletedCommand): string[] {
  if (operandChoices === undefined) return [];
  return [`    "${name} "*) ${operandChoices === 'files' ? FILES : words(operandChoices)} ;;`];
}

function zsh(commands: readonly CompletedCommand[]): string {
  return `#compdef quiesce
# Completion of quiesce for zsh.
_quiesce() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${commands.map(zshCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_quiesce" ]; then _quiesce "$@"; else compdef _quiesce quiesce; fi
`;
}

function zshCase(command: CompletedCommand): string {
  const options = optionsOf(command).map(({ name, type, about, value = '', file, choices = [] }) => {
    const values = file ? '_files' : `(${choices.join(' ')})`;
    const takes = type === 'string' ? `:${inBrackets(value)}:${values}` : '';
    return quoted(`--${name}[${inBrackets(about)}]${takes}`);
  });
  const { operandChoices } = command;
  const operands =
    operandChoices === undefined
      ? []
      : [quoted(`*:operand:${operandChoices === 'files' ? '_files' : `(${operandChoices.join(' ')})`}`)];
  return `    ${command.name}) _arguments ${[...options, ...operands].join(' ')} ;;`;
}

/** Characters that `_arguments` reads as its own. */
const inBrackets = (text: string): string => text.replace(/[\\[\]:]/g, char => `\\${char}`);

function fish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(command => {
    const { name, summary, operandChoices } = command;
    const within = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c quiesce -n __fish_use_subcommand -f -a ${name} -d ${fishQuoted(summary)}`,
      operandChoices === 'files'
        ? `complete -c quiesce ${within} -F`
        : `complete -c quiesce ${within} -f${operandChoices?.length ? ` -a '${operandChoices.join(' ')}'` : ''}`,
      ...optionsOf(command).map(
        ({ name: option, type, about, file, choices = [] }) =>
          `complete -c quiesce ${within} -l ${option}${type === 'string' ? (file ? ' -r -F' : ' -x') : ''}${
            choices.length > 0 ? ` -a '${choices.join(' ')}'` : ''
          } -d ${fishQuoted(about)}`,
      ),
    ];
  });
  return `# Completion of quiesce for fish.\n${lines.join('\n')}\n`;
}

/** In single quotes, where a POSIX shell takes nothing for its own. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** fish takes a backslash and a quote inside single quotes for its own. */
const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, char => `\\${char}`)}'`;
