import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorld } from '../../../local/account/world.ts';
import type { DeployedTemplate } from '../../../local/stack/deployed-template.ts';
import { readTemplate } from '../../../local/stack/template.ts';

export interface Written {
  readonly template: string;
  /** Other files beside the template, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Reads a template whose text stands in a test. */
export function deploy({ template, files = {}, parameters = {} }: Written): DeployedTemplate {
  const directory = mkdtempSync(join(tmpdir(), 'template-'));
  try {
    const path = join(directory, 'template.yaml');
    writeFileSync(path, template);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    return readTemplate({ world: createWorld(), path, parameters });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A template with these resources only. */
export const deployResources = (resources: string): DeployedTemplate =>
  deploy({ template: `Resources:\n${resources}` });
