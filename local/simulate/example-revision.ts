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

/** A folder with the revision of examples/codedeploy, as it is shipped or without the calls of quiesce.sh. */
export interface ExampleRevision {
  readonly directory: string;
  remove(): void;
}

export function exampleRevision({ hooks }: { readonly hooks: boolean }): ExampleRevision {
  if (hooks) return { directory: EXAMPLE, remove: () => undefined };
  const directory = mkdtempSync(join(tmpdir(), 'revision-'));
  cpSync(EXAMPLE, directory, { recursive: true });
  const path = join(directory, 'appspec.yml');
  const { hooks: all, ...rest } = spec.parse(parse(readFileSync(path, 'utf8')));
  const own = Object.entries(all).map(([event, scripts]) => [
    event,
    scripts.filter(({ location }) => !location.endsWith('quiesce.sh')),
  ]);
  writeFileSync(path, stringify({ ...rest, version: 0, hooks: Object.fromEntries(own) }));
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}
