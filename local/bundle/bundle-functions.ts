import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { DeployedFunction, DeployedTemplate } from '../stack/deployed-template.ts';
import { handlerFile } from '../stack/handlers.ts';
import { clientVersion } from './client-version.ts';
import { environmentCredentials } from './environment-credentials.ts';
import { noEventStreams } from './no-event-streams.ts';
import { sdkSchemas } from './sdk-schemas.ts';

/** One function's code as `sam deploy` uploads it. */
export interface Bundle {
  readonly function: DeployedFunction;
  /** Absolute. */
  readonly file: string;
  readonly bytes: number;
}

/** Some dependencies are CommonJS and call `require`, which an ES module does not have. */
const BANNER = "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);";

/** How whatever runs in Lambda is bundled, with the SDK inside. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The ES modules of the packages: what is not used in them falls away.
  mainFields: ['module', 'main'],
  banner: { js: BANNER },
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [sdkSchemas, clientVersion, noEventStreams, environmentCredentials],
} satisfies BuildOptions;

/**
 * Bundles every function of the template, from its `Metadata.Source` to its CodeUri.
 *
 * @param outputRoot - the folder that every CodeUri is relative to; the template's own unless given
 * @param variation - what is to be different, for comparison
 * @throws Error when a function's source is missing or does not bundle
 */
export async function bundleFunctions(
  template: DeployedTemplate,
  outputRoot: string = template.directory,
  variation: Pick<BuildOptions, 'external'> = {},
): Promise<readonly Bundle[]> {
  const functions = [...template.functions.values()];
  await build({
    ...BUNDLE,
    ...variation,
    entryPoints: functions.map(fn => ({
      in: handlerFile(fn, template.directory, 'source'),
      out: join(fn.codeUri, 'index'),
    })),
    outdir: outputRoot,
    outExtension: { '.js': '.mjs' },
  });
  return Promise.all(
    functions.map(async fn => {
      const file = handlerFile(fn, outputRoot, 'bundles');
      return { function: fn, file, bytes: (await stat(file)).size };
    }),
  );
}
