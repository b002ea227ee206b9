import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs the command line as people do, in a process of its own and without a terminal. */
export function quiesce(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['local/cli.ts', ...args],
      { cwd: ROOT },
      (error, stdout, stderr) => {
        if (error && child.exitCode === null) reject(error);
        else resolve({ code: child.exitCode ?? 0, stdout, stderr });
      },
    );
  });
}

export const scenarioFile = (name: string): string => `test/cli/scenarios/${name}.yaml`;
