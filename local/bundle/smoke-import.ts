import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { DeployedFunction } from '../stack/deployed-template.ts';
import { handlerFile } from '../stack/handlers.ts';

const PROBE = fileURLToPath(new URL('import-probe.ts', import.meta.url));

/** Lambda gives a function 10 s to initialise. Source: Lambda Developer Guide, the init phase. */
const INIT_TIMEOUT_MS = 10_000;

const Report = z.union([
  z.object({ milliseconds: z.number(), functions: z.array(z.string()) }),
  z.object({ failure: z.string() }),
]);

/**
 * Imports a function's bundle in a fresh process with an empty environment, as a cold start would.
 *
 * @param directory - the folder that the function's CodeUri is relative to
 * @returns how long the import took, in milliseconds
 * @throws Error when there is no bundle, when it does not load, or when it does not export the handler
 */
export async function smokeImport(fn: DeployedFunction, directory: string): Promise<number> {
  const file = handlerFile(fn, directory, 'bundles');
  const handler = fn.handler.slice(fn.handler.lastIndexOf('.') + 1);
  const report = await probe(file);
  if ('failure' in report)
    throw new Error(`The bundle of ${fn.logicalId}, ${file}, cannot be imported: ${report.failure}`);
  if (!report.functions.includes(handler))
    throw new Error(`The bundle of ${fn.logicalId}, ${file}, exports no function named ${handler}.`);
  return report.milliseconds;
}

/**
 * How long the import of a module takes, in milliseconds.
 *
 * @throws Error when it cannot be imported
 */
export async function timeImport(file: string): Promise<number> {
  const report = await probe(file);
  if ('failure' in report) throw new Error(`${file} cannot be imported: ${report.failure}`);
  return report.milliseconds;
}

async function probe(file: string): Promise<z.output<typeof Report>> {
  const child = fork(PROBE, [pathToFileURL(file).href], {
    env: {},
    timeout: INIT_TIMEOUT_MS,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let message: unknown;
  child.on('message', given => {
    message = given;
  });
  const [code] = await once(child, 'close');
  if (message !== undefined) return Report.parse(message);
  const ending = code === null ? `was not loaded in ${INIT_TIMEOUT_MS / 1000} s` : `exited with ${code}`;
  return { failure: `it ${ending}` };
}
