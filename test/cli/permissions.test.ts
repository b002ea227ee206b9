import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { serveShop } from './helpers/served.ts';

const scenario = parseScenario(
  `
name: permitted
fleet:
  instances: 1
  autoScaling: {}
  targetGroups: [{ name: web, port: 8080 }]
  checks: [{ port: 8080 }]
`,
  'permitted.yaml',
);
const shop = serveShop('max', { InterfaceWatch: 'Enabled' }, scenario);

/** The actions that docs/permissions.md gives for each command: those of its row and of the rows that go on with it. */
function documented(): ReadonlyMap<string, ReadonlySet<string>> {
  const [, part = ''] = readFileSync('docs/permissions.md', 'utf8').split('## For people and pipelines\n');
  const byCommand = new Map<string, Set<string>>();
  let commands: readonly string[] = [];
  for (const [, named = '', actions = ''] of part.matchAll(/^\| (.*?) ?\| (.*?) \|.*\|$/gm)) {
    if (named !== '') commands = [...named.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
    for (const command of commands) {
      const known = byCommand.get(command) ?? new Set();
      for (const [, action = ''] of actions.matchAll(/`(\w+:\w+)`/g)) known.add(action);
      byCommand.set(command, known);
    }
  }
  return byCommand;
}

test('docs/permissions.md names what commands call, and nothing else', async () => {
  const { calls, quiesce, told, table } = shop();
  const { machines, checkIds, targetGroups } = told;
  // Of a check that is not there: it ends at once. A second time it is joined.
  const retire = [
    'retire',
    'asc-0123456789abcdef0',
    '--machine',
    machines.RetireCheck ?? '',
    '--name',
    'once',
  ];
  const timing = ['--target-group', targetGroups[0]?.arn ?? '', '--check', checkIds[0] ?? ''];
  const called = async (...args: readonly string[]) => {
    calls.length = 0;
    await quiesce(...args);
    return calls.map(({ service, action }) => `${service}:${action}`);
  };
  const seen: readonly [string, string[]][] = [
    ['interfaces', await called('interfaces', '--table', table)],
    ['timing', await called('timing', ...timing)],
    ['alarms', await called('alarms', '--machine', machines.ReconcileAlarms ?? '')],
    ['retire', [...(await called(...retire)), ...(await called(...retire))]],
  ];
  const rows = documented();
  for (const [command, actions] of seen)
    expect({ command, actions: [...new Set(actions)].toSorted() }).toEqual({
      command,
      actions: [...(rows.get(command) ?? [])].toSorted(),
    });
});
