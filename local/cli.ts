#!/usr/bin/env node
// First: SDK modules keep the timers that they find when they are loaded.
import './clock/lambda-globals.ts';
import { readFileSync } from 'node:fs';
import { keepAccountTime } from './cli/account-clock.ts';
import { exitCode, helpOf, parse, UsageError } from './cli/command.ts';
import { commands } from './cli/commands.ts';
import { didYouMean } from './cli/did-you-mean.ts';
import { sayFailure } from './cli/failure.ts';

const HELP = `Brings a deployment to EC2 instances through safely while Application Status Checks and Auto Scaling watch.

Usage: quiesce COMMAND [options]

Commands:
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

Options:
  -h, --help     Show this help, or a command's own.
      --version  Show the version.
`;

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith('-')) return withoutCommand(args);
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!listed)
    throw new UsageError(
      `There is no command ${name}: use one of ${Object.keys(commands).join(', ')}.${didYouMean(name, Object.keys(commands))}`,
    );
  const command = await listed.load();
  if (!rest.includes('--help') && !rest.includes('-h')) return command.run(rest);
  process.stdout.write(helpOf(command));
  return exitCode.ok;
}

function withoutCommand(args: readonly string[]): number {
  const { values } = parse('quiesce', {
    args: [...args],
    options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
  });
  if (!values.help && !values.version)
    throw new UsageError(`Name a command: one of ${Object.keys(commands).join(', ')}.`);
  process.stdout.write(values.help ? HELP : `${version()}\n`);
  return exitCode.ok;
}

const version = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Errors that nobody awaits end here as well. */
process.on('uncaughtException', error => process.exit(sayFailure(error)));
// The reader of a pipe has seen enough (`| head`).
process.stdout.on('error', error => {
  if ('code' in error && error.code === 'EPIPE') process.exit(exitCode.ok);
  throw error;
});

keepAccountTime();
process.exitCode = await main(process.argv.slice(2));
