import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * Writes the keys of the SDK's schemas as literals, so that esbuild drops the schemas that a function does not use.
 *
 * The SDK writes them as constants in brackets, `[_eQN]: _IIns`. Evaluating such a key may call `toString`, which esbuild
 * has to keep: with the keys, every schema of the service stays (client-ec2: 833 KB against 316 KB, minified).
 */
export const literalSchemaKeys: Plugin = {
  name: 'literal-schema-keys',
  setup(build) {
    build.onLoad({ filter: /[\\/]schemas[\\/]schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: withLiteralKeys(await readFile(path, 'utf8')),
      loader: 'js',
    }));
  },
};

/** @throws Error on a key in brackets that is no string constant of the module: the SDK writes its schemas differently */
export function withLiteralKeys(module: string): string {
  const constants = new Map(
    Array.from(module.matchAll(/^const (\w+) = ("[^"\\]*");$/gm), ([, name, literal]) => [name, literal]),
  );
  return module.replace(/\[(\w+)\]:/g, (_, name: string) => {
    const literal = constants.get(name);
    if (literal === undefined) throw new Error(`The schema key [${name}] is no constant of its module.`);
    return `${literal}:`;
  });
}
