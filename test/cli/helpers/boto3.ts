import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Beside the packages, so that it is made once and goes away with them. */
const ENVIRONMENT = fileURLToPath(new URL('../../../node_modules/.cache/boto3/', import.meta.url));
const PYTHON = `${ENVIRONMENT}bin/python`;

/** Application status checks are in botocore from 1.43.11 or a little later on: asked for by the operation itself. */
const KNOWS_CHECKS = "import boto3; boto3.client('ec2', region_name='eu-west-1').describe_application_status";

/** A Python with a boto3 that knows application status checks, or why there is none. */
export function pythonWithBoto3(): { readonly python: string } | { readonly why: string } {
  for (const python of ['python3', PYTHON]) if (knowsChecks(python)) return { python };
  try {
    if (!existsSync(PYTHON)) execFileSync('python3', ['-m', 'venv', ENVIRONMENT], { stdio: 'ignore' });
    const install = ['-m', 'pip', 'install', '--quiet', '--timeout', '5', '--retries', '0', 'boto3'];
    execFileSync(PYTHON, install, { stdio: 'ignore', timeout: 60_000 });
  } catch {
    return { why: 'there is no boto3, and it cannot be installed into a virtual environment' };
  }
  return knowsChecks(PYTHON)
    ? { python: PYTHON }
    : { why: 'the boto3 that can be installed does not know application status checks' };
}

function knowsChecks(python: string): boolean {
  try {
    execFileSync(python, ['-c', KNOWS_CHECKS], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
