/**
 * `npm run build`: bundles every function of template.yaml. With `--check` each bundle is imported in a fresh process.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createWorld } from './account/world.ts';
import { bundleFunctions } from './bundle/bundle-functions.ts';
import { smokeImport } from './bundle/smoke-import.ts';
import { readTemplate } from './stack/template.ts';

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

const template = readTemplate({
  world: createWorld(),
  path: fileURLToPath(new URL('../template.yaml', import.meta.url)),
});

const row = (name: string, size: string, time: string) =>
  console.log(`${name.padEnd(24)}${size.padStart(10)}${time.padStart(12)}`.trimEnd());

row('function', 'size', options.check ? 'import' : '');
for (const { function: fn, bytes } of await bundleFunctions(template)) {
  const time = options.check ? `${Math.round(await smokeImport(fn, template.directory))} ms` : '';
  row(fn.logicalId, `${Math.ceil(bytes / 1024)} KB`, time);
}
