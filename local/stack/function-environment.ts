import { devNull } from 'node:os';
import type { DeployedFunction } from './deployed-template.ts';

/**
 * Puts the functions' variables in `process.env`, with what Lambda itself sets. All functions share this process, so
 * AWS_LAMBDA_FUNCTION_NAME is not set (the context tells it) and one stack at a time can be deployed here.
 *
 * @throws Error when two functions give one variable different values
 */
export function setEnvironment(functions: Iterable<DeployedFunction>, region: string): void {
  const owners = new Map<string, DeployedFunction>();
  for (const fn of functions) {
    for (const [name, value] of Object.entries(fn.environment)) {
      const owner = owners.get(name) ?? fn;
      if (owner.environment[name] !== value) {
        throw new Error(
          `${owner.logicalId} and ${fn.logicalId} give ${name} different values, but run in one process here`,
        );
      }
      owners.set(name, owner);
      process.env[name] = value;
    }
  }
  // A profile of the person at the keyboard would win over the keys below.
  delete process.env.AWS_PROFILE;
  Object.assign(process.env, {
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  });
}
