import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** One passage of the product, and what stands in its place. */
export interface Change {
  /** Relative to the repository. */
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** A copy of the product, to be deployed by its template. */
export interface Mutant {
  readonly templatePath: string;
  remove(): void;
}

/** Copies the product with a fault planted in it. @throws Error when the passage is not there exactly once */
export function mutant(changes: readonly Change[]): Mutant {
  const directory = mkdtempSync(join(tmpdir(), 'mutant-'));
  const remove = () => rmSync(directory, { recursive: true });
  for (const name of ['template.yaml', 'statemachines', 'functions'])
    cpSync(join(repository, name), join(directory, name), { recursive: true });
  // The functions find their packages there.
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  for (const { file, text, instead } of changes) {
    const path = join(directory, file);
    const parts = readFileSync(path, 'utf8').split(text);
    if (parts.length !== 2) {
      remove();
      throw new Error(
        `${file} has ${parts.length - 1} passages "${text}": the fault has to be planted anew.`,
      );
    }
    writeFileSync(path, parts.join(instead));
  }
  return { templatePath: join(directory, 'template.yaml'), remove };
}
