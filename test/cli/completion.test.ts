import { execFileSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
import { helpOf } from '../../local/cli/command.ts';
import { commands } from '../../local/cli/commands.ts';
import type { CompletedCommand } from '../../local/cli/completion-scripts.ts';
import { type Shell, scripts } from '../../local/cli/completion-scripts.ts';
import { quiesce } from './helpers/quiesce.ts';

let completed: CompletedCommand[];
beforeAll(async () => {
  const { stdout } = await quiesce('completion', 'bash', '--json');
  completed = JSON.parse(stdout);
});

/** What bash offers for the last word. */
function offers(...line: readonly string[]): string[] {
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quiesce; echo "\${COMPREPLY[*]}"`;
  const script = `${scripts.bash(completed)}\n${ask}`;
  const answer = execFileSync('bash', ['-c', script, 'bash', 'quiesce', ...line], { encoding: 'utf8' });
  return answer.trim().split(' ');
}

test.each<[readonly string[], readonly string[]]>([
  [['s'], ['simulate', 'serve', 'status']],
  [['plan', '--traf'], ['--traffic']],
  [
    ['plan', '--traffic', ''],
    ['drain', 'leave'],
  ],
  [['serve', '--speed', 'm'], ['max']],
  [['before', '--request', 'package.j'], ['package.json']],
  [['simulate', 'scenarios/rolling'], ['scenarios/rolling.yaml']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
])('bash completes %j', (line, expected) => {
  expect(offers(...line)).toEqual(expected);
});

test.each<Shell>(['bash', 'zsh', 'fish'])('the script of %s knows every option of every command', shell => {
  const script = scripts[shell](completed);
  const flag = (option: string) => (shell === 'fish' ? `-l ${option} ` : `--${option}`);
  for (const { name, options } of completed) {
    expect(script).toContain(name);
    for (const option of Object.keys(options)) expect(script).toContain(flag(option));
  }
});

test.each(Object.entries(commands))(
  'the help of %s names its options, an example and its exit codes',
  async (name, { load }) => {
    const command = await load();
    const help = helpOf(command);
    expect(command.name).toBe(name);
    for (const option of [...Object.keys(command.options), 'json']) expect(help).toContain(`--${option}`);
    expect(help).toMatch(new RegExp(`\\nExamples?:\\n {2}.*quiesce ${name}`));
    expect(help).toMatch(/\nExit code:\n {2}0 {2}.+\n(.*\n)* {2}1 {2}.+\n(.*\n)* {2}2 {2}.+\n/);
    for (const line of help.split('\n').filter(line => !line.startsWith('  quiesce')))
      expect(line.length).toBeLessThanOrEqual(100);
  },
);
