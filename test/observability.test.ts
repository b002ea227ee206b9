import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { logEvents } from '../functions/core/log-events.ts';
import { catalogue } from '../functions/core/metrics.ts';
import { createWorld } from '../local/account/world.ts';
import { readTemplate } from '../local/stack/template.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(repository, 'docs/observability.md'), 'utf8');

const sources = readdirSync(join(repository, 'functions'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts') && !/log-events|core[\\/]metrics/.test(path))
  .map(path => readFileSync(join(repository, 'functions', path), 'utf8'))
  .join('\n');

/** The words in code quotes in the first column of a table. */
const documented = new Set(
  page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => Array.from(line.split(' | ')[0]?.matchAll(/`([^`]+)`/g) ?? [], ([, word]) => word)),
);

test('R-LOG: every word of the log is said somewhere, and explained', () => {
  const names = Object.keys(logEvents);
  expect(names.filter(name => !sources.includes(`logEvents.${name}`))).toEqual([]);
  expect(Object.values(logEvents).filter(word => !documented.has(word))).toEqual([]);
});

test('every metric is measured somewhere, and explained with its dimensions', () => {
  expect(Object.keys(catalogue).filter(name => !sources.includes(`'${name}'`))).toEqual([]);
  for (const [name, { unit, dimensions }] of Object.entries(catalogue)) {
    const shown = dimensions.map(dimension => `\`${dimension}\``).join(', ');
    expect(page).toContain(`| \`${name}\` | ${unit} | ${shown ? `${shown} ` : ''}|`);
  }
});

const alarms = readTemplate({
  world: createWorld(),
  path: join(repository, 'template.yaml'),
  parameters: { Alarms: 'Enabled', ZoneView: 'Enabled', InterfaceWatch: 'Enabled' },
}).alarms.map(({ logicalId }) => logicalId);

test('every alarm is explained', () => {
  expect(alarms.filter(name => !documented.has(name))).toEqual([]);
});

test('nothing is explained that is not there, in the queries neither', () => {
  const known = new Set<string | undefined>([
    ...Object.values(logEvents),
    ...Object.keys(catalogue),
    ...alarms,
  ]);
  expect([...documented].filter(word => !known.has(word))).toEqual([]);
  const asked = Array.from(page.matchAll(/event (?:=|in) (\[[^\]]*\]|"[^"]*")/g), ([, words]) => words ?? '');
  const words = asked.flatMap(text => Array.from(text.matchAll(/"([^"]+)"/g), ([, word]) => word));
  expect(words.length).toBeGreaterThan(5);
  expect(words.filter(word => !known.has(word))).toEqual([]);
});

const shown = (parameters: Readonly<Record<string, string>>) => [
  ...readTemplate({
    world: createWorld(),
    path: join(repository, 'template.yaml'),
    parameters,
  }).inert.values(),
];

test('D24: the queries of this page are saved, but where there are no saved queries', () => {
  const saved = (parameters: Readonly<Record<string, string>>) =>
    shown(parameters)
      .filter(({ type }) => type === 'AWS::Logs::QueryDefinition')
      .map(({ properties: { Name, QueryString } }) => [String(Name).replace(/^quiesce\//, ''), QueryString]);
  const [, queries = ''] = /### Queries to save\n([\s\S]*?)\n## /.exec(page) ?? [];
  const written = Array.from(queries.matchAll(/^(.+):\n\n```\n([\s\S]*?)\n```/gm), ([, title, text]) => [
    title,
    text,
  ]);
  expect(saved({}).sort()).toEqual(written.sort());
  expect(saved({ SavedQueries: 'None' })).toEqual([]);
});

test('the dashboard shows metrics, alarms and words of the log that there are', () => {
  const [dashboard] = shown({ StatusDashboard: 'Create' }).filter(
    ({ type }) => type === 'AWS::CloudWatch::Dashboard',
  );
  const body = String(dashboard?.properties.DashboardBody);
  const { widgets } = JSON.parse(body);
  expect(widgets.length).toBeGreaterThan(5);
  const metrics = Array.from(
    body.matchAll(/"Quiesce", "(\w+)"|MetricName=\\"(\w+)/g),
    ([, a, b]) => a ?? b ?? '',
  );
  expect(metrics.length).toBeGreaterThan(5);
  expect(metrics.filter(name => !(name in catalogue))).toEqual([]);
  const words = Array.from(body.matchAll(/'((?:step|run)\.[\w.-]+)'/g), ([, word]) => word);
  expect(words.filter(word => !Object.values<string | undefined>(logEvents).includes(word))).toEqual([]);
  expect(shown({}).some(({ type }) => type === 'AWS::CloudWatch::Dashboard')).toBe(false);
});
