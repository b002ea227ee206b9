/** Imports the bundle of every function that the given templates name, each in a fresh process. */
import { createWorld } from './account/world.ts';
import { smokeImport } from './bundle/smoke-import.ts';
import { failCommand } from './failed-command.ts';
import { readTemplate } from './stack/template.ts';

async function main(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const { functions, directory } = readTemplate({ world: createWorld(), path });
    for (const fn of functions.values()) await smokeImport(fn, directory);
    console.log(`${path}: ${functions.size} functions can be imported.`);
  }
}

main(process.argv.slice(2)).catch(failCommand);
