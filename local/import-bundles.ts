/** Imports the bundle of every function that the given templates name, each in a fresh process. */
import { createWorld } from './account/world.ts';
import { smokeImport } from './bundle/smoke-import.ts';
import { readTemplate } from './stack/template.ts';

for (const path of process.argv.slice(2)) {
  const { functions, directory } = readTemplate({ world: createWorld(), path });
  for (const fn of functions.values()) await smokeImport(fn, directory);
  console.log(`${path}: ${functions.size} functions can be imported.`);
}
