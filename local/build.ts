/**
 * `npm run build`: bundles every function of template.yaml. With `--check` each bundle is also imported in a fresh
 * process, and how long that took is told.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createWorld } from './account/world.ts';
import { bundleFunctions } from './bundle/bundle-functions.ts';
import { smokeImport } from './bundle/smoke-import.ts';
import { failCommand } from './failed-command.ts';
import { readTemplate } from './stack/template.ts';

async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const path = fileURLToPath(new URL('../template.yaml', import.meta.url));
  const template = readTemplate({ world: createWorld(), path });
  row('function', 'size', options.check ? 'import' : '');
  for (const { function: fn, bytes } of await bundleFunctions(template)) {
    const time = options.check ? `${Math.round(await smokeImport(fn, template.directory))} ms` : '';
    row(fn.logicalId, `${Math.ceil(bytes / 1024)} KB`, time);
  }
}

const row = (name: string, size: string, time: string): void =>
  console.log(`${name.padEnd(24)}${size.padStart(8)}${time.padStart(10)}`.trimEnd());

main().catch(failCommand);
