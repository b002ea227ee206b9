import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { serveShop } from './helpers/served.ts';

const directory = mkdtempSync(join(tmpdir(), 'quiesce-'));
afterAll(() => rmSync(directory, { recursive: true }));

const scenario = parseScenario(
  `
name: permitted
fleet:
  instances: 2
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

/** Commands of one row may need different ones of its actions: their order of first use does not matter, nor how often. */
const distinct = (actions: Iterable<string>): readonly string[] => [...new Set(actions)].toSorted();

/** The actions that a command's process calls. */
async function called(...args: readonly string[]): Promise<readonly string[]> {
  const { calls, quiesce } = shop();
  calls.length = 0;
  await quiesce(...args);
  return calls.map(({ service, action }) => `${service}:${action}`);
}

const executionOf = (name: string): string => {
  const { executions } = shop().account.stack;
  return [...executions.all()].find(({ machine }) => machine.name.includes(name))?.arn ?? '';
};

const machine = (name: string): readonly string[] => ['--machine', shop().told.machines[name] ?? ''];

test('docs/permissions.md names what commands call, and nothing else', async () => {
  const { told, table, instanceIds } = shop();
  const { checkIds, targetGroups } = told;
  const ledger = ['--table', table];
  const runId = 'deploying';
  const request = join(directory, 'request.json');
  writeFileSync(request, JSON.stringify({ runId, fleet: { instanceIds: instanceIds.slice(0, 1) } }));
  const before = ['before', '--request', request, ...machine('BeforeDeploy')];
  const after = ['after', '--run', runId, ...machine('AfterDeploy')];
  // Of a check that is not there: each ends at once.
  const retire = ['retire', 'asc-0123456789abcdef0', '--name', 'once', ...machine('RetireCheck')];
  const adopt = [
    'adopt',
    '--check',
    'asc-0123456789abcdef0',
    '--auto-scaling-group',
    'web',
    '--name',
    'once',
  ];
  const timing = ['--target-group', targetGroups[0]?.arn ?? '', '--check', checkIds[0] ?? ''];
  // A second time they are joined.
  const twice = async (...args: readonly string[]) => [
    ...(await called(...args)),
    ...(await called(...args)),
  ];
  const seen: readonly [string, readonly string[]][] = [
    ['interfaces', await called('interfaces', ...ledger)],
    ['timing', await called('timing', ...timing)],
    ['alarms', await called('alarms', ...machine('ReconcileAlarms'))],
    ['retire', await twice(...retire)],
    ['adopt', await twice(...adopt, ...machine('PromoteCheck'))],
    ['before', await twice(...before)],
    ['status', await called('status', ...ledger)],
    ['status RUN --by-hand', await called('status', runId, '--by-hand', ...ledger)],
    ['undo', await called('undo', runId, ...machine('UndoRun'), ...ledger)],
    ['after', await twice(...after)],
    ['report', await called('report', executionOf('BeforeDeploy'), ...ledger)],
  ];
  const rows = documented();
  const rowOf = (command: string) => [command, distinct(rows.get(command) ?? [])];
  expect(seen.map(([command, actions]) => [command, distinct(actions)])).toEqual(
    seen.map(([command]) => rowOf(command)),
  );
}, 180_000);

test('plan and diagnose call what Plan may read, and what docs/permissions.md gives them besides', async () => {
  const { account, told, table } = shop();
  const { role } = account.stack.template.functions.get('PlanFunction') ?? {};
  const ofPlan = role?.statements.flatMap(({ actions }) => actions) ?? [];
  const rows = documented();
  const ids = told.instances.map(({ instanceId }) => instanceId);
  const fleet = ['--instances', ids.join(), '--table', table];
  for (const [command, actions] of [
    ['plan', await called('plan', ...fleet, ...machine('BeforeDeploy'))],
    ['diagnose', await called('diagnose', ...fleet, '--metrics')],
  ] as const) {
    const besides = actions.filter(action => !ofPlan.includes(action));
    expect([...(rows.get(command) ?? [])]).toEqual(expect.arrayContaining(besides));
    expect(actions.length).toBeGreaterThan(3);
  }
});
