import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * Writes the keys of the SDK's schemas as literals, so that esbuild drops the schemas that a function does not use.
 *
 * The SDK writes a key as a constant in brackets, `[_eQN]: _IIns`. Evaluating that may have an effect as far as esbuild
 * can tell, so it keeps the schemas of all of a service's operations: in EC2, 549 KB instead of 30.
 */
export const literalSchemaKeys: Plugin = {
  name: 'literal-schema-keys',
  setup(build) {
    build.onLoad({ filter: /[\\/]schemas[\\/]schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: withLiteralKeys(await readFile(path, 'utf8')),
    }));
  },
};

/** @throws Error on a key in brackets that is no string constant of the module: the SDK writes its schemas differently now */
export function withLiteralKeys(module: string): string {
  const constants = new Map(
    Array.from(module.matchAll(/^const (\w+) = ("[^"\\]*");$/gm), ([, name, literal]) => [name, literal]),
  );
  return module.replace(/\[(\w+)\]:/g, (_, name: string) => {
    const literal = constants.get(name);
    if (literal === undefined)
      throw new Error(`The schema key [${name}] is no string constant of its module.`);
    return `${literal}:`;
  });
}
