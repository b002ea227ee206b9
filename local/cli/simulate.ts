import { isatty } from 'node:tty';
import type { Scenario } from '../simulate/scenario.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { checkWritable, writeOut } from './files.ts';
import { document } from './format.ts';
import { nowhere, Progress, type Screen } from './progress.ts';
import { scenarioAt } from './scenario-file.ts';
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
  operandsAbout: 'SCENARIO is a YAML file.',
  options,
  examples: [
    'quiesce simulate scenarios/rolling.yaml',
    'quiesce simulate scenarios/rolling.yaml --timeline rolling.html',
  ],
  endsWith: {
    ok: 'The deployment ended as the scenario expects (by default: it succeeded, no instance was replaced, no request failed), and every invariant held. With --without: the deployment without Quiesce succeeded.',
    failed: 'It did not.',
  },
  run,
};

interface Request {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly without: boolean;
  readonly json: boolean;
  readonly timeline: string | undefined;
}

async function run(args: readonly string[]): Promise<number> {
  const { scenario, seed, without, json, timeline } = readRequest(args);
  const began = performance.now();
  const asked = without ? 'without' : 'withQuiesce';
  const told = await tell(scenario, seed, without, screenFor(json));
  const compared = await tell(scenario, seed, !without, nowhere);
  const report = reportOn({
    scenario,
    seed,
    asked,
    withQuiesce: without ? compared : told,
    without: without ? told : compared,
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

/** @throws UsageError */
function readRequest(args: readonly string[]): Request {
  const { values, positionals } = readOptions('simulate', options, args, true);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0)
    throw new UsageError('Name one scenario, for example quiesce simulate scenarios/rolling.yaml.');
  const scenario = scenarioAt(path);
  if (values.timeline !== undefined) checkWritable(values.timeline);
  const seed = values.seed === undefined ? scenario.seed : readSeed(values.seed);
  return { scenario, seed, without: values.without, json: values.json, timeline: values.timeline };
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

async function tell(scenario: Scenario, seed: number, without: boolean, screen: Screen): Promise<Told> {
  // Half a second to load, with the SDK's clients: not before the request has been read.
  const { simulate } = await import('../simulate/simulation.ts');
  const progress = new Progress(screen, `${scenario.name} ${without ? 'without' : 'with'} Quiesce`);
  try {
    const { hear, begun } = progress;
    const simulated = await simulate({ scenario, seed, without, hear, begun });
    return { simulated, timeline: progress.timeline };
  } finally {
    progress.close();
  }
}
