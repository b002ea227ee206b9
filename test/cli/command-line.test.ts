import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wrap } from '../../local/cli/format.ts';
import { quiesce, scenarioFile } from './helpers/quiesce.ts';

const PROMOTE_CHECK = 'arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-PromoteCheck';

test.each([
  ['a command that does not exist', ['deploy'], /^There is no command deploy: use one of simulate\b.*\.\n$/],
  ['a misspelt command', ['staus'], /, completion\. Did you mean status\?\n$/],
  [
    'a misspelt option',
    ['status', '--tabel', 'x'],
    /^Unknown option '--tabel': see quiesce status --help\. Did you mean --table\?\n$/,
  ],
  [
    'an option that a variable left empty',
    ['plan', '--table', '', '--machine='],
    /^--table is empty: is the variable set\?\n--machine is empty: is the variable set\?\n$/,
  ],
  ['no command', [], /^Name a command: one of simulate\b.*\.\n$/],
  ['an unknown option', ['--loud'], /^Unknown option '--loud': see quiesce --help\.\n$/],
  ['no scenario', ['simulate'], /^Name one scenario, .*\.\n$/],
  [
    "an unknown option of a command's",
    ['simulate', scenarioFile('protected'), '--fast'],
    /^Unknown option '--fast': see quiesce simulate --help\.\n$/,
  ],
  [
    'a seed that is no whole number',
    ['simulate', scenarioFile('protected'), '--seed', '1.5'],
    /^The seed is .* not 1\.5\.\n$/,
  ],
  ['a file that does not exist', ['simulate', 'nowhere.yaml'], /^There is no file nowhere\.yaml\.\n$/],
  [
    'a folder for a scenario',
    ['simulate', 'scenarios'],
    /^scenarios is a folder: name a scenario in it\.\n$/,
  ],
  [
    'settings of a check that exists already',
    ['adopt', '--machine', PROMOTE_CHECK, '--auto-scaling-group', 'web', '--check', 'asc-1', '--port', '80'],
    /^--port belongs to a check to create, and one that exists is named: leave out --check or --port\.\n$/,
  ],
  [
    'a phase beyond the interval',
    ['timing', '--phase', '31'],
    /^--phase: must be at most 30, the shorter interval, not 31\n$/,
  ],
  [
    'a file that is not YAML',
    ['simulate', scenarioFile('not-yaml')],
    /not-yaml\.yaml:\d+: this is not YAML: .+\n$/,
  ],
  [
    'a scenario with a misspelt field',
    ['simulate', scenarioFile('misspelt')],
    /^test\/cli\/scenarios\/misspelt\.yaml:5: deployment\.batchs: is no member here: use through, .*\n$/,
  ],
  [
    'a page that cannot be written, before anything is simulated',
    ['simulate', scenarioFile('protected'), '--timeline', 'nowhere/page.html'],
    /^nowhere\/page\.html cannot be written: there is no such folder\.\n$/,
  ],
  [
    'no machine',
    ['after', '--run', 'release-42'],
    /^Name the state machine after-deploy: --machine ARN, or the environment variable QUIESCE_AFTER_DEPLOY\.\n/,
  ],
  [
    "another machine's ARN",
    [
      'before',
      '--machine',
      'arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-UndoRun',
      '--request',
      'r.json',
    ],
    /^arn:aws:states:\S+:quiesce-UndoRun is UndoRun: the stack's output BeforeDeployArn is meant\.\n/,
  ],
  [
    'an instance id that is none',
    ['plan', '--instances', 'web'],
    /^--instances: must be an instance id such as i-\w+, not "web"\n$/,
  ],
])('%s ends with 2 and one sentence, nothing else', async (_, args, sentence) => {
  const { code, stdout, stderr } = await quiesce(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(sentence);
});

test('--help names every command, and a command its options and exit codes', async () => {
  const [general, simulate] = await Promise.all([quiesce('--help'), quiesce('simulate', '--help')]);
  expect(general).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^ {2}simulate\s/m) });
  expect(simulate).toMatchObject({ code: 0, stderr: '' });
  for (const said of ['--seed', '--without', '--json', 'Exit code']) expect(simulate.stdout).toContain(said);
});

test('--version prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(await quiesce('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('a line is not broken between a number and its unit', () => {
  expect(wrap('a grace period of 300 s.', 21)).toEqual(['a grace period of', '300 s.']);
  expect(wrap('of 20 % or 30 stars', 12)).toEqual(['of 20 % or', '30 stars']);
});
