import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const EXAMPLE = fileURLToPath(new URL('../../examples/codedeploy', import.meta.url));

const spec = z.looseObject({
  hooks: z.record(z.string(), z.array(z.looseObject({ location: z.string() }))),
});

/** The folder of the revision without the calls of quiesce.sh: one for all deployments, of which some launch for long. */
let withoutHooks: string | undefined;

/** A folder with the revision of examples/codedeploy, as it is shipped or without the calls of quiesce.sh. */
export function exampleRevision({ hooks }: { readonly hooks: boolean }): string {
  if (hooks) return EXAMPLE;
  withoutHooks ??= writeWithoutHooks();
  return withoutHooks;
}

function writeWithoutHooks(): string {
  const directory = mkdtempSync(join(tmpdir(), 'revision-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  cpSync(EXAMPLE, directory, { recursive: true });
  const path = join(directory, 'appspec.yml');
  const { hooks: all, ...rest } = spec.parse(parse(readFileSync(path, 'utf8')));
  const own = Object.entries(all).map(([event, scripts]) => [
    event,
    scripts.filter(({ location }) => !location.endsWith('quiesce.sh')),
  ]);
  writeFileSync(path, stringify({ ...rest, version: 0, hooks: Object.fromEntries(own) }));
  return directory;
}
