import { fileURLToPath } from 'node:url';
import type { Scenario } from '../simulate/scenario.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { hours } from './format.ts';
import type { Happened } from './happenings.ts';
import type { Pace } from './pace.ts';
import { scenarioAt } from './scenario-file.ts';
import { describeServed, servedOf } from './serve-text.ts';
import { untilStopped } from './until-stopped.ts';

/** Wherever the command is given. */
const DEFAULT_SCENARIO = fileURLToPath(new URL('../../scenarios/rolling.yaml', import.meta.url));
const DEFAULT_PORT = 4570;

const options = {
  port: {
    type: 'string',
    value: 'N',
    about: `The port, on the loopback interface; ${DEFAULT_PORT} unless given, and 0 for a free one.`,
  },
  speed: {
    type: 'string',
    value: 'real|N|max',
    choices: ['real', '10', '60', 'max'],
    about:
      'How time passes: as it does (the default), N times as fast, or as fast as possible while an execution runs and as it does while none runs.',
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document a line: first what is served, then what happens.',
  },
} as const;

export const serveCommand: Command = {
  name: 'serve',
  about:
    "Serves a simulated account on a loopback port, with a scenario's fleet in it and Quiesce deployed beside it, so that the AWS CLI and every SDK can drive it. It prints what to export. Ctrl-C ends it.",
  operands: '[SCENARIO]',
  operandsAbout:
    'SCENARIO is a YAML file whose fleet is built; its deployment is left to you. scenarios/rolling.yaml unless given.',
  options,
  examples: ['quiesce serve --speed 60', 'quiesce serve scenarios/pair.yaml --port 0 --speed max'],
  endsWith: { ok: 'It was ended by Ctrl-C or SIGTERM.', failed: 'The port cannot be used.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { scenario, port, pace, json } = readRequest(args);
  const [{ serveAccount }, { Happenings }] = await Promise.all([
    import('./served-account.ts'),
    import('./happenings.ts'),
  ]);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const startsAt = Date.now();
  let beganAt = startsAt;
  const tell = (happened: Happened) => print(json ? JSON.stringify(happened) : lineOf(happened, beganAt));
  const happenings = new Happenings(tell);
  const served = await serveAccount({
    scenario,
    port,
    pace,
    startsAt,
    hear: entry => happenings.hear(entry),
    called: call => happenings.hearCall(call),
  }).catch(portError(port));
  if (!served) return exitCode.failed;
  const { clock } = served.standing.account.world;
  beganAt = clock.now();
  clock.observe(() => happenings.flush());
  const told = servedOf(served, scenario, pace);
  print(json ? JSON.stringify(told) : describeServed(told));
  await Promise.race([served.running, untilStopped()]);
  await served.close();
  return exitCode.ok;
}

/** @throws UsageError */
function readRequest(args: readonly string[]): {
  readonly scenario: Scenario;
  readonly port: number;
  readonly pace: Pace;
  readonly json: boolean;
} {
  const { values, positionals } = readOptions('serve', options, args, true);
  const [path = DEFAULT_SCENARIO, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Name one scenario, or none: see quiesce serve --help.');
  const port = Number(values.port ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`The port is a whole number from 0 to 65535, not ${values.port}.`);
  return { scenario: scenarioAt(path), port, pace: readPace(values.speed ?? 'real'), json: values.json };
}

function readPace(given: string): Pace {
  if (given === 'real') return 1;
  if (given === 'max') return 'max';
  const pace = Number(given);
  if (!Number.isFinite(pace) || pace <= 0)
    throw new UsageError(`The speed is real, max or a number above 0, not ${given}.`);
  return pace;
}

/** @returns a handler that says why the port cannot be used, and throws every other error */
function portError(port: number): (error: unknown) => undefined {
  return error => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    const why = code === 'EADDRINUSE' ? 'is in use' : 'is not permitted';
    process.stderr.write(`Port ${port} ${why}: name another with --port, or 0 for a free one.\n`);
    return undefined;
  };
}

const lineOf = ({ at, who, what, detail }: Happened, beganAt: number): string =>
  // As wide as `Auto Scaling group` and `elasticloadbalancing`.
  `+${hours(at - beganAt)}  ${who.padEnd(18)}  ${what.padEnd(20)}  ${detail}`.trimEnd();
