import { performance } from 'node:perf_hooks';
import { ACT_TIMEOUT_SECONDS, EC2_BUCKETS, ELB_BUCKETS } from '../../functions/core/limits.ts';
import type { Account } from '../account/account.ts';
import { Throttling } from '../account/throttling.ts';
import type { Batch } from '../simulate/deployment.ts';
import { type Simulated, simulate } from '../simulate/simulation.ts';
import type { DeployedTemplate } from '../stack/deployed-template.ts';
import { benchScenario } from './bench-scenario.ts';
import { callBound } from './call-bound.ts';
import { callFigures } from './call-figures.ts';
import { CallLog, type Invocation } from './call-log.ts';
import { type Figure, none, shown } from './figures.ts';
import { lengthFigures } from './length-figures.ts';
import { type Milestones, MilestoneWatch } from './milestones.ts';
import { largestPayload } from './payloads.ts';
import { LAMBDA_GB_SECOND, LAMBDA_REQUEST, STATE_TRANSITION } from './prices.ts';
import { functionOf, stepOf } from './steps.ts';

export interface BenchResult {
  /** Of the run that was measured. */
  readonly instances: number;
  readonly figures: readonly Figure[];
}

/** R-PAYLOAD: 256 KiB is AWS's limit, and just under it an execution can abort uncatchably. */
const PAYLOAD_BYTES = 100 * 1024;
/** What an invocation may use of its time-out without being near it. */
const INVOCATION_SHARE = 0.5;
/** D17, and the request's default. */
const READY_EVALUATIONS = 2;

/** Deploys to the fleet of `benchScenario`, and measures its first run. */
export async function measureRun(instances: number, others?: number): Promise<BenchResult> {
  const scenario = benchScenario(instances, others);
  const attached: Probes[] = [];
  const began = performance.now();
  const simulated = await simulate({
    scenario,
    // AWS raises it on request, as it does the targets of a target group, which the account does not limit.
    quotas: { targets: 2 * scenario.fleet.instances },
    gates: account => {
      const probes = attach(account);
      attached.push(probes);
      return [probes.log, probes.throttling];
    },
  });
  const realSeconds = (performance.now() - began) / 1000;
  const { stack, deployment } = simulated;
  const [probes] = attached;
  const [batch] = deployment.batches;
  const [run] = probes?.milestones.runs ?? [];
  if (!stack || !probes || !batch || !run)
    throw new Error(`The run did not go through: ${deployment.error} ${deployment.cause}`);
  return {
    instances,
    figures: [
      ...outcomeFigures(simulated),
      ...lengthFigures(run),
      ...throttleFigures(probes.throttling),
      ...executionFigures(
        batch,
        during(run, probes.log.invocations, one => one.from),
        stack.template,
      ),
      ...costFigures(simulated, instances, realSeconds),
      ...callsOfRun(simulated, stack.template, probes.log, run),
    ],
  };
}

interface Probes {
  readonly log: CallLog;
  readonly throttling: Throttling;
  readonly milestones: MilestoneWatch;
}

const attach = (account: Account): Probes => ({
  log: new CallLog(() => account.world.clock.now()),
  throttling: new Throttling(account.world, { ec2: EC2_BUCKETS, elasticLoadBalancing: ELB_BUCKETS }),
  milestones: new MilestoneWatch(account, READY_EVALUATIONS),
});

const during = <T>({ before, after }: Milestones, all: readonly T[], at: (one: T) => number): T[] =>
  all.filter(one => at(one) >= before.from && at(one) <= after.to);

const outcomeFigures = ({ deployment, violations, measures }: Simulated): Figure[] => [
  none('failed deployments', deployment.outcome === 'succeeded' ? 0 : 1, deployment.error),
  none('violated invariants', violations.length, violations[0]?.what),
  none('replaced instances', measures.replaced),
  none('failed requests', measures.requestsFailed),
];

function throttleFigures(throttling: Throttling): Figure[] {
  const [name, left] = [...throttling.leastLeft()].sort(([, a], [, b]) => a - b)[0] ?? ['', 1];
  return [
    none('throttled calls', throttling.throttled.length),
    shown('fullest use of a token bucket', 100 * (1 - left), '%', name),
  ];
}

function executionFigures(
  { executions }: Batch,
  invocations: readonly Invocation[],
  template: DeployedTemplate,
): Figure[] {
  const payload = largestPayload(executions);
  const seconds = ({ from, to = from }: Invocation) => (to - from) / 1000;
  const [longest] = invocations.toSorted((a, b) => seconds(b) - seconds(a));
  const longestSeconds = longest ? seconds(longest) : 0;
  return [
    {
      ...shown('largest state payload', payload.bytes, 'bytes', payload.of),
      bound: PAYLOAD_BYTES,
      ratio: payload.bytes / PAYLOAD_BYTES,
      goal: { of: 'ratio', atMost: 1 },
    },
    {
      ...shown('longest invocation', longestSeconds, 's', longest && functionOf(longest, template)),
      bound: ACT_TIMEOUT_SECONDS,
      ratio: longestSeconds / ACT_TIMEOUT_SECONDS,
      goal: { of: 'ratio', atMost: INVOCATION_SHARE },
    },
    none('failed invocations', invocations.filter(({ to }) => to === undefined).length),
    ...priced(executions, invocations, template),
  ];
}

/** What AWS charges a run for by the piece; the ledger and the log come to less. */
function priced(
  executions: Batch['executions'],
  invocations: readonly Invocation[],
  template: DeployedTemplate,
): Figure[] {
  const transitions = executions.reduce((sum, one) => sum + one.transitions, 0);
  let milliseconds = 0;
  let gigabyteSeconds = 0;
  for (const invocation of invocations) {
    const { from, to = from } = invocation;
    const memory = template.functions.get(functionOf(invocation, template))?.memoryMegabytes ?? 0;
    milliseconds += to - from;
    gigabyteSeconds += ((to - from) / 1000) * (memory / 1024);
  }
  const lambda = gigabyteSeconds * LAMBDA_GB_SECOND + invocations.length * LAMBDA_REQUEST;
  return [
    shown('state transitions', transitions),
    shown('  price of them', transitions * STATE_TRANSITION, 'USD'),
    shown('Lambda invocations', invocations.length),
    shown('Lambda milliseconds', milliseconds, 'ms', 'waiting for AWS, without own computing'),
    shown('  price of both', lambda, 'USD'),
  ];
}

function costFigures(
  { account, fleet, measures }: Simulated,
  instances: number,
  realSeconds: number,
): Figure[] {
  const { journal, clock } = account.world;
  const virtualSeconds = (clock.now() - (journal.entries[0]?.at ?? clock.now())) / 1000;
  const blind = measures.blindInstanceMinutes;
  return [
    shown('blind instance-minutes', (blind * instances) / fleet.instances.length, 'min'),
    shown('  an instance', blind / fleet.instances.length, 'min', 'of the whole fleet'),
    shown('real seconds', realSeconds, 's', 'of the whole deployment'),
    shown('virtual seconds a real second', virtualSeconds / realSeconds),
    shown('peak resident memory', process.resourceUsage().maxRSS / 1024, 'MB'),
  ];
}

function callsOfRun(
  { fleet, account }: Simulated,
  template: DeployedTemplate,
  log: CallLog,
  run: Milestones,
): Figure[] {
  const invocations = during(run, log.invocations, one => one.from);
  const steps = invocations.map(one => stepOf(one, template));
  // Not what events set off when an execution ends: that is a call or two, whatever the size of the fleet.
  const callers = new Set(invocations.map(one => functionOf(one, template)));
  const calls = during(run, log.calls, call => call.at).filter(({ caller }) => callers.has(caller.name));
  const bound = callBound(steps, {
    instances: run.members.length,
    targetGroups: fleet.targetGroups.length,
    loadBalancers: account.loadBalancing.loadBalancers().length,
    autoScalingGroups: [...account.autoScaling.groups()].length,
    byDeployment: calls.some(({ service }) => service === 'codedeploy'),
  });
  return callFigures(calls, bound);
}
