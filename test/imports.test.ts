import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const files = ['functions', 'local'].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map(file => join(folder, file)),
);

/** What each file imports of ours; of `values` without what is imported as a type only, which is gone at run time. */
function importsOf(what: 'values' | 'all'): ReadonlyMap<string, readonly string[]> {
  const statement = /^(?:import|export)\s+(type\s)?[^;']*?from\s+'(\.[^']+)'/gm;
  return new Map(
    files.map(file => [
      file,
      [...readFileSync(file, 'utf8').matchAll(statement)]
        .filter(([, typeOnly]) => what === 'all' || typeOnly === undefined)
        .map(([, , path = '']) => normalize(join(dirname(file), path))),
    ]),
  );
}

/** The first circle that is found from `file` on, as the files in it. */
function circleFrom(
  file: string,
  imports: ReadonlyMap<string, readonly string[]>,
  passed: Set<string>,
  way: readonly string[] = [],
): readonly string[] | undefined {
  if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
  if (passed.has(file)) return undefined;
  passed.add(file);
  for (const next of imports.get(file) ?? []) {
    const circle = circleFrom(next, imports, passed, [...way, file]);
    if (circle) return circle;
  }
  return undefined;
}

test('no file imports itself by way of others, so each can be loaded first', () => {
  const imports = importsOf('values');
  const passed = new Set<string>();
  expect(files.map(file => circleFrom(file, imports, passed)).filter(Boolean)).toEqual([]);
  // The search itself: a circle is found whatever leads to it.
  const circular = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ]);
  expect(circleFrom('a', circular, new Set())).toEqual(['b', 'c', 'b']);
});

test.each([
  ['functions', /^local\//],
  ['local/account', /^functions\//],
  ['functions/core/domain', /^functions\/(?!core\/(domain\/|limits\.ts))/],
])('%s imports nothing of the wrong side, types included', (folder, foreign) => {
  const wrong = [...importsOf('all')]
    .filter(([file]) => file.startsWith(`${folder}/`))
    .flatMap(([file, imports]) => imports.filter(path => foreign.test(path)).map(path => `${file}: ${path}`));
  expect(wrong).toEqual([]);
});
