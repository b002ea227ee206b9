import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from './command.ts';

/** The JSON value in a file, or on standard input when the path is `-`. @throws UsageError */
export function readJsonFile(path: string): unknown {
  const name = path === '-' ? 'Standard input' : path;
  const text = onDisk(name, () => readFileSync(path === '-' ? 0 : path, 'utf8'));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** @throws UsageError when the file cannot be written */
export const writeOut = (path: string, text: string): void => onDisk(path, () => writeFileSync(path, text));

function onDisk<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === undefined) throw error;
    throw new UsageError(
      code === 'ENOENT' ? `There is no file ${name}.` : `${name} cannot be used: ${String(code)}.`,
    );
  }
}
