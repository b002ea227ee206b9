import { performance } from 'node:perf_hooks';
import { ALARM_WRITES_PER_SECOND, EC2_BUCKETS, ELB_BUCKETS } from '../../functions/core/limits.ts';
import { Throttling } from '../account/throttling.ts';
import { scenario } from '../simulate/scenario.ts';
import { type Standing, standUp } from '../simulate/simulation.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Call, Gate } from '../wire/contract.ts';
import { against, type Figure, none, shown } from './figures.ts';
import type { BenchResult } from './measure-run.ts';

const CHECKS = 3;
/** CloudWatch takes so many changes of alarms in a second, of each kind. */
const TAKEN_PER_SECOND = 3;
/** With more instances a group is watched check by check (template.yaml, the most that AlarmInstancesPerGroup may be). */
const MOST_BY_INSTANCE = 500;
/** Composite alarms wait so long for the first evaluations of their children. */
const YOUNG_SECONDS = 120;
const STATUSES_A_PAGE = 100;
const ALARMS_A_PAGE = 100;

/** Makes all alarms of a group of so many instances under three checks, and measures that, and a second time. */
export async function measureAlarms(instances: number): Promise<BenchResult> {
  const began = performance.now();
  const calls: Call[] = [];
  const record: Gate = {
    before: call => {
      if (call.caller.name === 'ReconcileAlarmsFunction') calls.push(call);
    },
  };
  const throttlings: Throttling[] = [];
  const standing = await standUp({
    scenario: watchedFleet(instances),
    quotas: { targets: CHECKS * instances },
    parameters: {
      Alarms: 'Enabled',
      AlarmInstancesPerGroup: String(Math.min(instances, MOST_BY_INSTANCE)),
    },
    gates: ({ world }) => {
      const throttling = new Throttling(world, { ec2: EC2_BUCKETS, elasticLoadBalancing: ELB_BUCKETS });
      throttlings.push(throttling);
      return [record, throttling];
    },
  });
  const first = await reconcile(standing);
  const made = calls.splice(0);
  await reconcile(standing);
  const alarms = standing.account.alarms.all().filter(({ name }) => name.startsWith('quiesce/')).length;
  const looks = made.filter(isFirstOfLook).length;
  const reads = Math.ceil(instances / STATUSES_A_PAGE) * 2 + 1;
  return {
    instances,
    figures: [
      shown('alarms', alarms),
      {
        ...against('changes of alarms', made.filter(isChange).length, alarms),
        goal: { of: 'ratio', atMost: 1 },
      },
      {
        ...shown('changes in one second, at the most', mostInASecond(made.filter(isChange))),
        bound: TAKEN_PER_SECOND,
        goal: { of: 'measured', atMost: ALARM_WRITES_PER_SECOND },
      },
      {
        ...against('reads of EC2', made.filter(({ service }) => service === 'ec2').length, looks * reads),
        goal: { of: 'ratio', atMost: 1.3 },
      },
      {
        ...against(
          'reads of alarms',
          made.filter(({ action }) => action === 'DescribeAlarms').length,
          looks * Math.max(1, Math.ceil(alarms / ALARMS_A_PAGE)),
        ),
        goal: { of: 'ratio', atMost: 1 },
      },
      shown('looks', looks),
      time(first.seconds, alarms),
      shown('events in the history', first.events),
      none(
        'throttled calls',
        throttlings.reduce((sum, { throttled }) => sum + throttled.length, 0),
      ),
      none('changes where nothing has changed', calls.filter(isChange).length),
      shown('simulated in', (performance.now() - began) / 1000, 's'),
    ],
  };
}

const watchedFleet = (instances: number) =>
  scenario.parse({
    name: `alarms-${instances}`,
    fleet: {
      instances,
      autoScaling: { healthChecks: ['EC2'] },
      alsoListensOn: [8081, 8082, 8083],
      checks: [{ port: 8081 }, { port: 8082 }, { port: 8083 }],
    },
  });

/** @throws Error when it does not succeed */
async function reconcile({ account, stack }: Standing) {
  const { clock } = account.world;
  const started = start(stack);
  await clock.runFor(started.ended);
  if (started.status !== 'SUCCEEDED') throw new Error(`${started.error}: ${started.cause}`);
  return { seconds: (clock.now() - started.startedAt) / 1000, events: started.history.events().length };
}

function start(stack: Stack | undefined) {
  if (!stack) throw new Error('nothing is deployed');
  return stack.startExecution('ReconcileAlarms', { input: {} });
}

const isChange = ({ service, action }: Call): boolean =>
  service === 'cloudwatch' && /^(Put|Delete)/.test(action);

/** The checks are listed once a look. */
const isFirstOfLook = ({ action }: Call): boolean => action === 'DescribeApplicationStatusChecks';

function mostInASecond(changes: readonly Call[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < changes.length; last++) {
    while ((changes[last]?.at ?? 0) - (changes[first]?.at ?? 0) >= 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function time(seconds: number, alarms: number): Figure {
  const bound = alarms / ALARM_WRITES_PER_SECOND + YOUNG_SECONDS;
  return {
    ...shown('time', seconds, 's', 'bound: the pace, and the first evaluations'),
    bound,
    ratio: seconds / bound,
    goal: { of: 'ratio', atMost: 1.2 },
  };
}
