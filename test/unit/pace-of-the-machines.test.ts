// First, so that the looks read virtual time.
import '../../local/clock/lambda-globals.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { look } from '../../functions/core/bracket/look.ts';
import { type BudgetFacts, type Budgets, computeBudgets } from '../../functions/core/domain/budgets.ts';
import type { Goal } from '../../functions/core/domain/goals.ts';
import { nextWait, pollSeconds } from '../../functions/core/domain/pace.ts';
import type { InstanceRecord, RunRecord } from '../../functions/core/ledger/items.ts';
import { HISTORY_EVENTS } from '../../functions/core/limits.ts';
import { createWorld, type World } from '../../local/account/world.ts';
import { compileMachine } from '../../local/states/compile.ts';
import type { Execution } from '../../local/states/execution.ts';
import { Executions } from '../../local/states/executions.ts';
import { TaskFailure } from '../../local/states/failure.ts';
import type { Json } from '../../local/states/json.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { claimOf, newRun, planOf } from './helpers/records.ts';

const INSTANCE = 'i-0123456789abcdef0';

/** What the looks see: a fleet of which no goal is ever met. */
const seen = vi.hoisted(() => ({ run: undefined as RunRecord | undefined, status: 'initializing' }));

vi.mock('../../functions/core/ledger/runs.ts', () => ({ findRun: async () => seen.run }));
vi.mock('../../functions/core/ledger/instances.ts', () => ({
  findInstances: async () => new Map([[INSTANCE, claimed()]]),
}));
vi.mock('../../functions/core/ledger/auto-scaling-holds.ts', () => ({ findHold: async () => undefined }));
vi.mock('../../functions/core/aws/application-status.ts', () => ({
  applicationStatuses: async () => new Map([[INSTANCE, { status: seen.status, checks: [INITIALIZING] }]]),
}));
vi.mock('../../functions/core/aws/instances.ts', () => ({
  describeInstances: async () => new Map([[INSTANCE, { state: 'running' }]]),
}));
vi.mock('../../functions/core/aws/elastic-load-balancing.ts', () => ({
  targetHealth: async () => [{ target: { id: INSTANCE, port: 8080 }, state: 'draining', zonalShift: false }],
}));

const INITIALIZING = { checkId: 'asc-1', aggregation: 'included', status: 'initializing' };

const claimed = (): InstanceRecord => ({
  instanceId: INSTANCE,
  claims: new Map([['r', claimOf(INSTANCE)]]),
  traffic: 'r',
  memberships: claimOf(INSTANCE).member.memberships,
  releasing: 'r',
});

interface Payload {
  readonly enteredAt: string;
  readonly execution: string;
  readonly deadline: number;
  readonly goals: readonly Goal[];
  readonly until: number;
  readonly newerThan: number;
}

/** A loop of the machines: a goal that is looked for, both of the joint look, evidence after traffic, or an act that waits. */
type Loop = Goal | 'both' | 'evidence' | 'queue' | 'floor' | 'release' | 'undo';

/**
 * Runs a machine of the product in which the loops of `slow` end with their budget and the others at once, and every task
 * is throttled `throttles` times before it answers. Looks are the product's own; acts answer as the product's do.
 */
async function runMachine(
  name: 'before-deploy' | 'after-deploy',
  facts: BudgetFacts,
  slow: readonly Loop[],
  throttles: number,
): Promise<Execution> {
  const world = createWorld();
  const budgets = computeBudgets(facts);
  const attempts = new Map<string, number>();
  const executions = new Executions(world, {
    tasks: {
      async run({ args, execution, state }) {
        const { FunctionName, Payload } = args as { FunctionName: string; Payload: Payload & Json };
        const tried = (attempts.get(state) ?? 0) + 1;
        attempts.set(state, tried % (throttles + 1));
        if (tried <= throttles) throw new TaskFailure('Throttled', 'slow down');
        const answer = await answerOf(FunctionName, Payload, {
          world,
          budgets,
          facts,
          execution,
          state,
          slow,
        });
        return { Payload: answer };
      },
    },
  });
  const text = readFileSync(new URL(`../../statemachines/${name}.asl.yaml`, import.meta.url), 'utf8');
  const definition = parse(
    text.replaceAll(/\$\{(\w+)\}/g, (_, name) => (name === 'Partition' ? 'aws' : name)),
  );
  const machine = { arn: `arn:aws:states:eu-west-1:111122223333:stateMachine:${name}`, name };
  const started = executions.start(
    { ...machine, definition: compileMachine(definition) },
    { name: 'r', input: { runId: 'r' } },
  );
  const plan = planOf([INSTANCE], { budgets });
  seen.run = {
    ...newRun('r', { owner: started.arn, plan }),
    digest: '',
    status: 'live',
    phase: 'before',
    acted: true,
    newcomers: [],
  };
  await world.clock.runFor(started.ended);
  return started;
}

interface Situation {
  readonly world: World;
  readonly budgets: Budgets;
  readonly facts: BudgetFacts;
  readonly execution: Execution;
  readonly state: string;
  readonly slow: readonly Loop[];
}

const MET = { verdict: 'met', waitSeconds: 0, error: '', cause: '', evaluatedUntil: 0 };

async function answerOf(fn: string, payload: Payload, situation: Situation): Promise<object> {
  const { world, budgets, facts, execution, slow } = situation;
  const now = Math.floor(world.clock.now() / 1000);
  const startedAt = execution.startedAt / 1000;
  const act = (loop: Loop, budget: number, deadline: number) => {
    const waitSeconds = slow.includes(loop) ? nextWait(now, deadline, pollSeconds(budget)) : 0;
    if (waitSeconds > 0) return { ...MET, verdict: 'waiting', waitSeconds };
    return slow.includes(loop) ? { ...MET, verdict: 'refused', error: 'BudgetSpent' } : MET;
  };
  switch (fn) {
    case 'PlanFunction':
      if (execution.machine.name === 'after-deploy') return resumed(budgets, facts, now);
      return {
        ...begun(budgets, facts, now),
        ...queued(act('queue', budgets.before, startedAt + facts.floorWaitSeconds)),
      };
    case 'SuppressFunction':
      return { leadSeconds: now - startedAt < 1000 ? facts.leadSeconds : 0 };
    case 'DeregisterFunction':
      return act('floor', budgets.traffic, payload.deadline);
    case 'ReleaseFunction':
      return act('release', budgets.after, payload.deadline);
    case 'FenceFunction':
      seen.run = seen.run && { ...seen.run, status: 'ended' };
      return { runId: 'r', next: 'undo', deadline: now + budgets.undo, error: 'BudgetSpent', cause: '' };
    case 'UndoFunction':
      return act('undo', budgets.undo, payload.deadline);
    case 'ObserveFunction':
      return observed(payload, situation);
    default:
      return {};
  }
}

async function observed(payload: Payload, { world, state, slow }: Situation): Promise<object> {
  const one: Loop | undefined = state === 'ObserveEvidence' ? 'evidence' : payload.goals[0];
  const loop = payload.goals.length > 1 ? 'both' : one;
  if (!loop || !slow.includes(loop)) return MET;
  // A release is the one goal that a suppressed fleet has not met.
  seen.status = loop === 'released' ? 'suppressed' : 'initializing';
  const caller = { kind: 'function', name: 'ObserveFunction' } as const;
  const transport = { handle: () => Promise.reject(new Error('nothing is called')) };
  return runAs({ caller, world, transport, random: world.random }, () =>
    look({ ...payload, runId: 'r', owner: payload.execution, enteredAt: Date.parse(payload.enteredAt) }),
  );
}

const queued = ({ verdict, waitSeconds }: { verdict: string; waitSeconds: number }) => ({
  verdict: verdict === 'waiting' ? 'queued' : 'planned',
  waitSeconds,
});

const begun = (budgets: Budgets, facts: BudgetFacts, now: number) => ({
  runId: 'r',
  suppressing: 1,
  draining: 1,
  holding: 0,
  emergency: false,
  covered: facts.covered,
  leadDeadline: now + budgets.lead,
  floorDeadline: now + budgets.traffic,
  goAheadDeadline: now + budgets.before,
  drainSeconds: facts.drainDelaySeconds ?? 0,
  suppressUntil: now + budgets.whole,
});

function resumed(budgets: Budgets, facts: BudgetFacts, now: number) {
  const readyDeadline = now + budgets.ready;
  const inServiceDeadline = readyDeadline + budgets.inService;
  return {
    runId: 'r',
    extend: true,
    suppressUntil: now + budgets.whole,
    suppressing: 1,
    draining: 1,
    holding: 0,
    covered: facts.covered,
    readyBeforeTraffic: true,
    readyEvaluations: facts.readyEvaluations,
    deployedAt: now * 1000,
    readyDeadline,
    inServiceDeadline,
    evidenceDeadline: inServiceDeadline + budgets.readyAgain,
    releaseDeadline: inServiceDeadline + budgets.readyAgain + budgets.release,
    releaseSeconds: 120,
  };
}

const usual: BudgetFacts = {
  leadSeconds: 180,
  suppressing: true,
  holding: false,
  provesAfterFailure: false,
  drainDelaySeconds: 0,
  floorWaitSeconds: 900,
  covered: false,
  deploymentSeconds: 3600,
  readySeconds: 900,
  readyBeforeTraffic: true,
  readyEvaluations: 2,
  checked: true,
  checkIntervalSeconds: 60,
  inServiceSeconds: 155,
};

/** Budgets near the most that the machine's time-out lets through, each with another loop as the long one. */
const fleets: readonly (readonly [string, BudgetFacts])[] = [
  ['with the longest delay', { ...usual, drainDelaySeconds: 3600, floorWaitSeconds: 1500 }],
  ['with a long lead', { ...usual, leadSeconds: 7200, floorWaitSeconds: 300 }],
  ['with a long wait for floors', { ...usual, floorWaitSeconds: 5500 }],
  ['that is slow to be ready', { ...usual, readySeconds: 2700 }],
];

const ways: readonly (readonly ['before-deploy' | 'after-deploy', readonly Loop[]])[] = [
  ['before-deploy', ['queue', 'suppressed', 'drained']],
  ['before-deploy', ['queue', 'suppressed', 'floor']],
  ['before-deploy', ['queue', 'both']],
  ['after-deploy', ['ready']],
  ['after-deploy', ['in-service']],
  ['after-deploy', ['evidence']],
  ['after-deploy', ['release']],
  ['after-deploy', ['released']],
];

describe.each(fleets)('R-HISTORY: a fleet %s', (_, facts) => {
  test.each(ways)('%s ends by itself though %j and its undo last as long as they can', async (name, slow) => {
    for (const throttles of [0, 2]) {
      const execution = await runMachine(name, facts, [...slow, 'undo', 'undone'], throttles);
      expect(execution).toMatchObject({ status: 'FAILED', error: 'BudgetSpent' });
      expect(execution.history.length).toBeLessThanOrEqual(0.8 * HISTORY_EVENTS);
    }
  });
});
