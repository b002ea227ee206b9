import { type ChildProcess, execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Settings {
  /** Instead of what this process has of AWS. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Is shown the process when it has begun. */
  readonly begun?: (child: ChildProcess) => void;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs the command line as people do, in a process of its own and without a terminal. */
export const quiesce = (...args: readonly string[]): Promise<Ran> => quiesceWith({}, ...args);

export function quiesceWith({ env = {}, stdin, begun }: Settings, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['local/cli.ts', ...args],
      { cwd: ROOT, env: { ...withoutAws(), ...env } },
      (error, stdout, stderr) => {
        if (error && child.exitCode === null) reject(error);
        else resolve({ code: child.exitCode ?? 0, stdout, stderr });
      },
    );
    if (stdin !== undefined) child.stdin?.end(stdin);
    begun?.(child);
  });
}

/** This process's environment without anybody's credentials, Region or instance metadata. */
function withoutAws(): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !/^(AWS|QUIESCE)_/.test(name));
  return { ...Object.fromEntries(others), AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' };
}

export const scenarioFile = (name: string): string => `test/cli/scenarios/${name}.yaml`;
