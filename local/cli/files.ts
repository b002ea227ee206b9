import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from './command.ts';

/** What was read, and as what it is named to a person. */
export interface ReadFile {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

/** The JSON value in a file, or on standard input when the path is `-`. @throws UsageError */
export function readJsonFile(path: string): ReadFile {
  const { name, text } = readText(path);
  try {
    return { name, text, value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(notJson(name, error.message));
  }
}

/** The value in a file of YAML or JSON, or on standard input when the path is `-`. @throws UsageError */
export function readYamlFile(path: string): ReadFile {
  const { name, text } = readText(path);
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines });
  const [broken] = parsed.errors;
  if (!broken) return { name, text, value: parsed.toJS() };
  const { line } = lines.linePos(broken.pos[0]);
  throw new UsageError(`${name}:${line}: this is not YAML: ${broken.message.split('\n')[0] ?? ''}`);
}

function readText(path: string): Pick<ReadFile, 'name' | 'text'> {
  const name = path === '-' ? 'Standard input' : path;
  const read = () => readFileSync(path === '-' ? 0 : path, 'utf8');
  return { name, text: onDisk(name, read, `There is no file ${name}.`) };
}

/** Node's words, with the line, where they have it, at its usual place. */
function notJson(name: string, said: string): string {
  const [, what = said, line] = /^(.*) in JSON at position \d+ \(line (\d+) column \d+\)$/.exec(said) ?? [];
  return `${name}${line === undefined ? '' : `:${line}`}: this is not JSON: ${what.replace(/\s+/g, ' ')}.`;
}

/** Before what is to be written takes minutes to make. @throws UsageError when the file cannot be written */
export function checkWritable(path: string): void {
  const isNew = statSync(path, { throwIfNoEntry: false }) === undefined;
  onDisk(path, () => closeSync(openSync(path, 'a')));
  if (isNew) rmSync(path);
}

/** @throws UsageError when the file cannot be written */
export const writeOut = (path: string, text: string): void => onDisk(path, () => writeFileSync(path, text));

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'there is no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
  EROFS: 'it is on a disk that cannot be written',
};

function onDisk<T>(
  name: string,
  work: () => T,
  missing = `${name} cannot be written: there is no such folder.`,
): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    throw new UsageError(code === 'ENOENT' ? missing : `${name} cannot be used: ${WHY[code] ?? code}.`);
  }
}
