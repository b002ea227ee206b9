import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWorld } from '../account/world.ts';
import { bundleFunctions } from '../bundle/bundle-functions.ts';
import { timeImport } from '../bundle/smoke-import.ts';
import { readTemplate } from '../stack/template.ts';
import { type Figure, shown } from './figures.ts';

/** Lambda reads a bundle before it runs it. */
const KILOBYTES = 360;
/** Of the import that has the SDK beside it, file by file. */
const IMPORT_RATIO = 0.4;
/** The machine that measures has other work: the shortest of so many imports counts, taken in turns. */
const ROUNDS = 3;

/**
 * Size and import time of every function's bundle, beside a handler that does nothing, and beside the same function with the
 * SDK left out of the bundle and imported from node_modules.
 */
export async function bundleFigures(): Promise<Figure[]> {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const template = readTemplate({ world: createWorld(), path: join(repository, 'template.yaml') });
  const directory = await mkdtemp(join(tmpdir(), 'bundles-'));
  try {
    const bundles = await bundleFunctions(template, join(directory, 'bundled'));
    const beside = await bundleFunctions(template, join(directory, 'beside'), {
      external: ['@aws-sdk/*', '@smithy/*'],
    });
    await symlink(join(repository, 'node_modules'), join(directory, 'node_modules'));
    const bare = join(directory, 'bare.mjs');
    await writeFile(bare, 'export const handler = async () => {};');
    const files = [bare, ...bundles.map(({ file }) => file), ...beside.map(({ file }) => file)];
    const times = await shortestImports(files);
    const timeOf = (file: string | undefined) => times.get(file ?? '') ?? Number.NaN;
    return [
      shown('nothing', (await stat(bare)).size / 1024, 'KB'),
      shown('  import of nothing', timeOf(bare), 'ms'),
      ...bundles.flatMap(({ function: fn, file, bytes }, index): Figure[] => {
        const bound = timeOf(beside[index]?.file);
        return [
          {
            ...shown(fn.logicalId, bytes / 1024, 'KB'),
            goal: { of: 'measured', atMost: KILOBYTES },
          },
          {
            ...shown(`  import of ${fn.logicalId}`, timeOf(file), 'ms', 'bound: the SDK outside'),
            bound,
            ratio: timeOf(file) / bound,
            goal: { of: 'ratio', atMost: IMPORT_RATIO },
          },
        ];
      }),
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function shortestImports(files: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const shortest = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++)
    for (const file of files)
      shortest.set(file, Math.min(shortest.get(file) ?? Number.POSITIVE_INFINITY, await timeImport(file)));
  return shortest;
}
