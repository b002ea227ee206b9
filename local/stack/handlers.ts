import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import type { DeployedFunction } from './deployed-template.ts';

/** `source` runs the TypeScript that `Metadata.Source` names, `bundles` what `npm run build` made of it. */
export type Code = 'source' | 'bundles';

/** Lambda's context object without the callbacks that no current runtime has. */
export type LambdaContext = Omit<Context, 'done' | 'fail' | 'succeed'>;

export type Handler = (event: unknown, context: LambdaContext) => unknown;

/** The file that a function's code is imported from. @throws Error when the template names none, or it is not there */
export function handlerFile(fn: DeployedFunction, directory: string, code: Code): string {
  const module = fn.handler.slice(0, fn.handler.lastIndexOf('.'));
  const path = code === 'source' ? fn.source : join(fn.codeUri, `${module}.mjs`);
  if (!path) throw new Error(`${fn.logicalId} has no Metadata.Source that names its TypeScript entry`);
  const file = join(directory, path);
  if (!existsSync(file)) throw new Error(`${fn.logicalId}: there is no ${path}`);
  return file;
}

/** @throws Error named as the Lambda runtime names it when the module does not export the handler */
export async function loadHandler(file: string, handler: string): Promise<Handler> {
  const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
  const name = handler.slice(handler.lastIndexOf('.') + 1);
  const found = module[name];
  if (!isHandler(found)) {
    throw Object.assign(new Error(`${handler} is undefined or not exported`), {
      name: 'Runtime.HandlerNotFound',
    });
  }
  return found;
}

const isHandler = (value: unknown): value is Handler => typeof value === 'function';
