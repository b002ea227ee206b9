import { readFile } from 'node:fs/promises';
import type { Metafile, Plugin } from 'esbuild';

/**
 * Rewrites the schema module of each of the SDK's clients so that esbuild drops what a function does not use: the schemas of
 * other operations, and every class of errors.
 */
export const sdkSchemas: Plugin = {
  name: 'sdk-schemas',
  setup(build) {
    build.initialOptions.metafile = true;
    build.onLoad(
      { filter: /[\\/]client-[^\\/]+[\\/]dist-es[\\/]schemas[\\/]schemas_\d+\.js$/ },
      async ({ path }) => ({
        contents: withLiteralKeys(withoutErrorClasses(await readFile(path, 'utf8'))),
      }),
    );
    build.onEnd(({ metafile }) => ({ errors: kept(metafile).map(refused) }));
  },
};

const kept = (metafile: Metafile | undefined): readonly string[] =>
  Object.values(metafile?.outputs ?? {})
    .flatMap(output => Object.entries(output.inputs))
    .filter(([path, { bytesInOutput }]) => ERROR_CLASSES.test(path) && bytesInOutput > 0)
    .map(([path]) => path);

const ERROR_CLASSES = /client-[^/]+\/dist-es\/models\/errors\.js$/;

const refused = (path: string) => ({
  text: `A function uses an error class of ${path}, but no bundled client throws it: go by the error's code.`,
});

/**
 * Writes the keys of the schemas as literals. The SDK writes a key as a constant in brackets, `[_eQN]: _IIns`. Evaluating
 * that may have an effect as far as esbuild can tell, so it keeps the schemas of all of a service's operations: in EC2,
 * 549 KB instead of 30.
 *
 * @throws Error on a key in brackets that is no string constant of the module: the SDK writes its schemas differently now
 */
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

/**
 * Leaves a client with its base class of errors, as EC2's has none but that. The SDK then throws the base class with the
 * name, the code and the message that AWS sent, and those are all that core/aws/call.ts goes by. Each class that a service
 * models is kept otherwise, since the module registers it: in CodeDeploy 93 classes, 39 KB.
 */
export function withoutErrorClasses(module: string): string {
  return module.replace(/^n\d+_registry\.registerError\(.*\);$/gm, '');
}
