import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** The guide: without a timeout a script may take an hour. */
const LONGEST_SCRIPT_SECONDS = 3600;

const script = z.strictObject({
  location: z.string().min(1),
  timeout: z.coerce.number().int().positive().default(LONGEST_SCRIPT_SECONDS),
  // The agent runs as root, which is what every script runs as unless it says otherwise.
  runas: z.literal('root').optional(),
});

const hookNames = z.enum([
  'BeforeBlockTraffic',
  'AfterBlockTraffic',
  'ApplicationStop',
  'BeforeInstall',
  'AfterInstall',
  'ApplicationStart',
  'ValidateService',
  'BeforeAllowTraffic',
  'AfterAllowTraffic',
]);

const applicationSpec = z.strictObject({
  version: z.literal(0),
  os: z.literal('linux'),
  // A simulated instance has no disk: Install takes its time, and copies nothing.
  files: z.array(z.unknown()).optional(),
  permissions: z.array(z.unknown()).optional(),
  file_exists_behavior: z.enum(['DISALLOW', 'OVERWRITE', 'RETAIN']).optional(),
  hooks: z.partialRecord(hookNames, z.array(script).nullable()).default({}),
});

export type HookScript = z.output<typeof script>;

/** The scripts of one lifecycle event in a revision's appspec.yml. @throws Error on what the simulated agent cannot do */
export function scriptsOf(directory: string, lifecycleEvent: string): readonly HookScript[] {
  const path = join(directory, 'appspec.yml');
  const read = applicationSpec.safeParse(parse(readFileSync(path, 'utf8')));
  if (!read.success)
    throw new Error(`${path}: the simulated agent cannot use it: ${z.prettifyError(read.error)}`);
  const event = hookNames.safeParse(lifecycleEvent);
  return event.success ? (read.data.hooks[event.data] ?? []) : [];
}
