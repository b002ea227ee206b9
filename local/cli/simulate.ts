import { tmpdir } from 'node:os';
import { isatty } from 'node:tty';
import type { EventRefused } from '../simulate/events.ts';
import { FAULT_PROFILES, type FaultProfile } from '../simulate/fault-spec.ts';
import type { Scenario } from '../simulate/scenario.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { checkWritable, writeOut } from './files.ts';
import { document } from './format.ts';
import { nowhere, Progress, type Screen } from './progress.ts';
import { sayMissedEvents, sayRefusedEvent, scenarioAt } from './scenario-file.ts';
import { reportOn, type Told } from './simulation-report.ts';
import { describeSimulation } from './simulation-text.ts';

const options = {
  seed: {
    type: 'string',
    value: 'N',
    about: "Draw everything random from this number instead of the scenario's own. Same seed, same run.",
  },
  without: {
    type: 'boolean',
    default: false,
    about: 'Show the deployment without Quiesce, and compare it with the one that Quiesce protects.',
  },
  timeline: {
    type: 'string',
    value: 'FILE',
    file: true,
    about: 'Write the deployment that is shown as an HTML page: a lane an instance, and the phases.',
  },
  seeds: {
    type: 'string',
    value: 'N',
    about:
      'Instead of a scenario: N drawn ones, each from its seed. Whatever must always hold is checked at every instant, and what breaks it is made as short as possible.',
  },
  from: { type: 'string', value: 'N', about: 'With --seeds, the first seed; 1 unless given.' },
  faults: {
    type: 'string',
    value: 'PROFILE',
    choices: ['each', ...Object.keys(FAULT_PROFILES)],
    about: `With --seeds, what goes wrong besides: ${Object.keys(FAULT_PROFILES).join(', ')}; each in turn unless given.`,
  },
  processes: {
    type: 'string',
    value: 'N',
    about: 'With --seeds, so many processes; as many as there are processors unless given.',
  },
  out: {
    type: 'string',
    value: 'DIR',
    file: true,
    about:
      'With --seeds, where the scenarios that break something are written; a temporary folder unless given.',
  },
  soak: {
    type: 'string',
    value: 'HOURS',
    about:
      'One account for so many virtual hours: a hostile deployment an hour, and nothing may be left or leak.',
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (SimulationReport in local/cli/simulation-report.ts) and nothing else.',
  },
} as const;

export const simulateCommand: Command = {
  name: 'simulate',
  about:
    'Runs the deployment that a scenario describes in a simulated account, in virtual time, with Quiesce and without.',
  operands: 'SCENARIO',
  operandsAbout: 'SCENARIO is a YAML file. With --seeds or --soak there is none.',
  options,
  examples: [
    'quiesce simulate scenarios/rolling.yaml',
    'quiesce simulate scenarios/rolling.yaml --timeline rolling.html',
    'quiesce simulate --seeds 300',
    'quiesce simulate --seeds 1 --from 17 --faults hostile',
    'quiesce simulate --soak 24',
  ],
  endsWith: {
    ok: 'The deployment ended as the scenario expects (by default: it succeeded, no instance was replaced, no request failed), and every invariant held. With --without: the deployment without Quiesce succeeded. With --seeds and --soak: nothing that must always hold was broken, and nothing leaked.',
    failed: "It did not, or it was over before one of the scenario's events without `mayMiss: true`.",
  },
  run,
};

interface Request {
  readonly path: string;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly without: boolean;
  readonly json: boolean;
  readonly timeline: string | undefined;
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('simulate', options, args, true);
  if (values.seeds !== undefined) return runSeeds(values, positionals);
  if (values.soak !== undefined) return runSoak(values, positionals);
  for (const name of ['from', 'faults', 'processes', 'out'] as const)
    if (values[name] !== undefined)
      throw new UsageError(`--${name} goes with --seeds: see quiesce simulate --help.`);
  const { path, scenario, seed, without, json, timeline } = readRequest(values, positionals);
  const began = performance.now();
  const asked = without ? 'without' : 'withQuiesce';
  const told = await tell({ path, scenario, seed, without }, screenFor(json));
  const compared = await tell({ path, scenario, seed, without: !without }, nowhere);
  const withQuiesce = without ? compared : told;
  const report = reportOn({
    scenario,
    seed,
    asked,
    withQuiesce,
    without: without ? told : compared,
    missedEvents: sayMissedEvents(path, scenario, withQuiesce.simulated.missed),
    realSeconds: (performance.now() - began) / 1000,
  });
  if (timeline !== undefined) {
    const { renderTimeline, timelineOfSimulation } = await import('../timeline.ts');
    writeOut(timeline, renderTimeline(timelineOfSimulation(told.simulated, { scenario, seed })));
  }
  if (json) process.stdout.write(document(report));
  else {
    process.stdout.write(describeSimulation(report, Math.min(process.stdout.columns ?? 80, 100)));
    // Not on standard output, which is the same for the same seed.
    process.stderr.write(`\nSimulated twice, for the comparison, in ${report.real.seconds.toFixed(1)} s.\n`);
  }
  return report.passed ? exitCode.ok : exitCode.failed;
}

type Values = ReturnType<typeof readOptions<typeof options>>['values'];

/** @throws UsageError */
async function runSeeds(values: Values, positionals: readonly string[]): Promise<number> {
  if (values.soak !== undefined) throw new UsageError('Give --seeds or --soak, not both.');
  if (positionals.length > 0 || values.seed !== undefined || values.without || values.timeline !== undefined)
    throw new UsageError(
      '--seeds draws its scenarios: it takes neither one nor --seed, --without or --timeline.',
    );
  const { simulateSeeds } = await import('./simulate-seeds.ts');
  return simulateSeeds({
    from: readWhole('from', values.from, GREATEST_SEED) ?? 1,
    count: readWhole('seeds', values.seeds, GREATEST_SEED) ?? 1,
    profile: readProfile(values.faults ?? 'each'),
    processes: readWhole('processes', values.processes, 256),
    directory: values.out ?? tmpdir(),
    json: values.json,
  });
}

/** @throws UsageError */
async function runSoak(values: Values, positionals: readonly string[]): Promise<number> {
  for (const name of ['from', 'faults', 'processes', 'out'] as const)
    if (values[name] !== undefined) throw new UsageError(`--${name} goes with --seeds, not with --soak.`);
  if (positionals.length > 0 || values.without || values.timeline !== undefined)
    throw new UsageError('--soak has a fleet of its own: it takes no scenario, --without or --timeline.');
  const { simulateSoak } = await import('./simulate-soak.ts');
  const hours = readWhole('soak', values.soak, 10_000) ?? 1;
  const seed = values.seed === undefined ? 1 : readSeed(values.seed);
  return simulateSoak({ hours, seed, json: values.json });
}

function readWhole(option: string, given: string | undefined, greatest: number): number | undefined {
  if (given === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(given) || Number(given) > greatest)
    throw new UsageError(`--${option} takes a whole number from 1 to ${greatest}, not ${given}.`);
  return Number(given);
}

function readProfile(given: string): FaultProfile | 'each' {
  if (given === 'each' || isProfile(given)) return given;
  throw new UsageError(`--faults takes each, ${Object.keys(FAULT_PROFILES).join(', ')}, not ${given}.`);
}

const isProfile = (name: string): name is FaultProfile => Object.hasOwn(FAULT_PROFILES, name);

/** @throws UsageError */
function readRequest(values: Values, positionals: readonly string[]): Request {
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0)
    throw new UsageError(
      'Name one scenario, for example quiesce simulate scenarios/rolling.yaml, or give --seeds or --soak.',
    );
  const scenario = scenarioAt(path);
  if (values.timeline !== undefined) checkWritable(values.timeline);
  const seed = values.seed === undefined ? scenario.seed : readSeed(values.seed);
  return { path, scenario, seed, without: values.without, json: values.json, timeline: values.timeline };
}

/** The generator has 32 bits of state: greater seeds would be others in disguise. */
const GREATEST_SEED = 2 ** 32 - 1;

function readSeed(given: string): number {
  const seed = Number(given);
  if (!/^\d+$/.test(given) || seed > GREATEST_SEED)
    throw new UsageError(`The seed is a whole number from 0 to ${GREATEST_SEED}, not ${given}.`);
  return seed;
}

function screenFor(json: boolean): Screen {
  const terminal = isatty(2) && process.env.TERM !== 'dumb' ? process.stderr : undefined;
  if (!json) return { terminal, print: line => process.stdout.write(`${line}\n`) };
  return { terminal, print: terminal && (line => terminal.write(`${line}\n`)) };
}

/** @throws UsageError when an event of the scenario cannot happen when it is to */
async function tell(
  { path, scenario, seed, without }: Pick<Request, 'path' | 'scenario' | 'seed' | 'without'>,
  screen: Screen,
): Promise<Told> {
  // Half a second to load, with the SDK's clients: not before the request has been read.
  const { simulate } = await import('../simulate/simulation.ts');
  const progress = new Progress(screen, `${scenario.name} ${without ? 'without' : 'with'} Quiesce`);
  try {
    const { hear, begun } = progress;
    const simulated = await simulate({ scenario, seed, without, hear, begun });
    return { simulated, timeline: progress.timeline };
  } catch (error) {
    if (isEventRefused(error)) throw new UsageError(sayRefusedEvent(path, error));
    throw error;
  } finally {
    progress.close();
  }
}

/** By its name, since the simulation is loaded only when it is needed. */
const isEventRefused = (error: unknown): error is EventRefused =>
  error instanceof Error && error.name === 'EventRefused';
