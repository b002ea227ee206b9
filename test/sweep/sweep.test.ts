// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { joinHold } from '../../functions/core/ledger/auto-scaling-holds.ts';
import { claimInstance, findInstances } from '../../functions/core/ledger/instances.ts';
import { recordHook } from '../../functions/core/ledger/open-hooks.ts';
import { advance, createRun, endRun, findRun } from '../../functions/core/ledger/runs.ts';
import { announceOut, readGuards, takeGuard } from '../../functions/core/ledger/target-group-guards.ts';
import { sweep } from '../../functions/core/sweep/sweep.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from '../unit/helpers/ledger.ts';
import { claimOf, GROUP, newRun, planOf, requestOf } from '../unit/helpers/records.ts';
import { CODE_DEPLOY, STEP_FUNCTIONS } from '../unit/helpers/services.ts';

const machine = (name: string) => `arn:aws:states:eu-west-1:111122223333:stateMachine:${name}`;
const execution = (name: string) => `arn:aws:states:eu-west-1:111122223333:execution:${name}`;
const INSTANCE = 'i-0123456789abcdef0';
const OWNER = execution('before:one');

const running = new Set<string>();
const ended = new Map<string, string>();
const deployments = new Map<string, string>();
const started: Readonly<Record<string, unknown>>[] = [];
let described: string[] = [];

const services: readonly Service[] = [
  {
    ...STEP_FUNCTIONS,
    operations: {
      ListExecutions({ stateMachineArn }: { readonly stateMachineArn: string }) {
        const prefix = stateMachineArn.replace(':stateMachine:', ':execution:');
        const executions = [...running].filter(arn => arn.startsWith(`${prefix}:`));
        const common = { stateMachineArn, name: 'any', status: 'RUNNING', startDate: new Date(0) };
        return { executions: executions.map(executionArn => ({ executionArn, ...common })) };
      },
      DescribeExecution({ executionArn }: { readonly executionArn: string }) {
        described.push(executionArn);
        const status = ended.get(executionArn);
        if (!status) throw new ServiceError('ExecutionDoesNotExist', 'none');
        const common = { stateMachineArn: machine('before'), startDate: new Date(0), input: '{}' };
        return { executionArn, status, stopDate: new Date((NOW - 60) * 1000), ...common };
      },
      StartExecution({ name, input }: { readonly name: string; readonly input: string }) {
        if (started.some(one => one.name === name)) throw new ServiceError('ExecutionAlreadyExists', 'twice');
        started.push({ name, ...JSON.parse(input) });
        return { executionArn: `undo:${name}`, startDate: new Date(0) };
      },
    },
  },
  {
    ...CODE_DEPLOY,
    operations: {
      GetDeployment({ deploymentId }: { readonly deploymentId: string }) {
        described.push(deploymentId);
        const status = deployments.get(deploymentId);
        if (status === 'down') throw new ServiceError('InternalFailure', 'down', 500);
        if (!status) throw new ServiceError('DeploymentDoesNotExistException', 'none');
        return { deploymentInfo: { status, completeTime: new Date((NOW - 60) * 1000) } };
      },
      PutLifecycleEventHookExecutionStatus() {
        throw new ServiceError('InternalFailure', 'down', 500);
      },
    },
  },
];

let ledger: LedgerWorld;
beforeEach(async () => {
  running.clear();
  ended.clear();
  deployments.clear();
  started.length = 0;
  described = [];
  process.env.BEFORE_DEPLOY_ARN = machine('before');
  process.env.AFTER_DEPLOY_ARN = machine('after');
  process.env.UNDO_RUN_ARN = machine('undo');
  ledger = await createLedger(services);
});

const create = (runId: string, more: object = {}) =>
  ledger.as(() => createRun(newRun(runId, { owner: OWNER, createdAt: NOW, deadline: NOW + 9000, ...more })));
const goAhead = (runId: string) =>
  ledger.as(() => advance(runId, { from: 'before', to: 'go-ahead', owner: OWNER, at: NOW }));
const swept = () => ledger.as(sweep);
const undone = () => started.map(({ runId, error, from }) => ({ runId, error, from }));

describe('D10: a sweep asks', () => {
  it('nothing of a run whose execution is listed as running', async () => {
    running.add(OWNER);
    for (const runId of ['a', 'b', 'c']) await create(runId);
    expect((await swept()).found).toEqual({});
    expect(described).toEqual([]);
  });

  it('once about an execution, and once about a deployment, whatever number of runs they have', async () => {
    ended.set(OWNER, 'SUCCEEDED');
    deployments.set('d-1', 'InProgress');
    for (const id of ['i-1', 'i-2', 'i-3']) {
      await create(`d-1.${id}`, { request: { ...requestOf(id), observer: 'd-1' } });
      await goAhead(`d-1.${id}`);
    }
    expect((await swept()).found).toEqual({});
    expect(described).toEqual(['d-1']);
  });
});

describe('the end of a deployment, of which no event came', () => {
  const hooked = { request: { ...requestOf('d-1.i-1'), observer: 'd-1' } };

  it.each(['Succeeded', 'Failed', 'Stopped'])('as %s ends its runs', async status => {
    deployments.set('d-1', status);
    await create('d-1.i-1', hooked);
    await goAhead('d-1.i-1');
    expect(await swept()).toMatchObject({ found: { 'deployment-ended': 1 }, healing: ['d-1.i-1'] });
    expect(await swept()).toMatchObject({ found: { 'deployment-ended': 1 }, healing: [] });
    expect(undone()).toEqual([{ runId: 'd-1.i-1', error: 'DeploymentEnded', from: OWNER }]);
  });

  it('cannot be told of one that CodeDeploy does not know: the run has its own time', async () => {
    running.add(OWNER);
    await create('d-9');
    expect(await swept()).toMatchObject({ found: {}, failures: [] });
  });

  it('R-PARTIAL: that cannot be read keeps no other run from being undone', async () => {
    deployments.set('d-1', 'down');
    await create('d-1.i-1', hooked);
    await goAhead('d-1.i-1');
    await create('cut-off', { owner: execution('before:two') });
    ended.set(execution('before:two'), 'ABORTED');
    const { healing, failures } = await swept();
    expect(healing).toEqual(['cut-off']);
    expect(failures.map(String)).toEqual([expect.stringContaining('codedeploy:GetDeployment')]);
  });
});

describe('what ended runs have left', () => {
  it('by success is ended, the targets that count as out too', async () => {
    await create('r', { plan: planOf([INSTANCE]) });
    await ledger.as(() => claimInstance('r', INSTANCE, claimOf(INSTANCE), true, NOW));
    await ledger.as(() => takeGuard(GROUP, 'r', NOW, NOW + 60));
    await ledger.as(() => announceOut(GROUP, 'r', { 'eu-west-1a': 1 }));
    await ledger.as(() => endRun('r', { owner: OWNER, outcome: 'succeeded', at: NOW }));
    expect(await swept()).toMatchObject({ found: { 'left-by-success': 1 }, healing: ['r'] });
    expect((await ledger.as(() => findInstances([INSTANCE]))).size).toBe(0);
    const guard = (await ledger.as(() => readGuards([GROUP]))).get(GROUP);
    expect([...(guard?.outByRun ?? [])]).toEqual([]);
    expect((await swept()).found).toEqual({});
  });

  it.each([
    ['claims', () => claimInstance('r', INSTANCE, claimOf(INSTANCE), true, NOW)],
    ['a hold', () => joinHold('web', 'r', { alone: false, suspending: ['HealthCheck'] })],
    [
      'targets',
      async () => {
        await takeGuard(GROUP, 'r', NOW, NOW + 60);
        return announceOut(GROUP, 'r', { 'eu-west-1a': 1 });
      },
    ],
  ] as const)(
    'without a record (%s) is written down again, and undone by the next sweep',
    async (_, hold) => {
      await ledger.as<unknown>(hold);
      expect(await swept()).toMatchObject({ found: { 'record-lost': 1 }, healing: ['r'] });
      const run = await ledger.as(() => findRun('r'));
      expect(run).toMatchObject({ status: 'ended', outcome: 'failed', error: 'RunLost', owner: 'nobody' });
      expect(await swept()).toMatchObject({ found: { 'undo-unfinished': 1 }, healing: ['r'] });
      expect(undone()).toEqual([{ runId: 'r', error: 'RunLost', from: 'nobody' }]);
    },
  );

  it('by a failure is not undone while its undo runs', async () => {
    await create('r', { plan: planOf([INSTANCE]) });
    await ledger.as(() => claimInstance('r', INSTANCE, claimOf(INSTANCE), true, NOW));
    await ledger.as(() => endRun('r', { owner: OWNER, outcome: 'failed', at: NOW }));
    running.add(OWNER);
    expect((await swept()).found).toEqual({});
    running.clear();
    expect((await swept()).healing).toEqual(['r']);
  });
});

it('a hook that cannot be answered keeps no run from being undone', async () => {
  const arn = execution('before:three');
  ended.set(arn, 'SUCCEEDED');
  await ledger.as(() =>
    recordHook({ executionArn: arn, deploymentId: 'd-1', hookExecutionId: 'h', deadline: NOW + 60 }),
  );
  ended.set(OWNER, 'TIMED_OUT');
  await create('r');
  const { hooks, healing, failures } = await swept();
  expect({ hooks, healing }).toEqual({ hooks: undefined, healing: ['r'] });
  expect(failures.map(String)).toEqual([expect.stringContaining('Not answered')]);
});

it('R-SWALLOW, R-PARTIAL: held instances that cannot be looked at are said, and keep no run from being undone', async () => {
  const claim = { ...claimOf(INSTANCE), fate: { how: 'held', reason: 'it fails', since: NOW } } as const;
  await create('holds', { plan: planOf([INSTANCE]) });
  await ledger.as(() => claimInstance('holds', INSTANCE, claim, true, NOW));
  await ledger.as(() => endRun('holds', { owner: OWNER, outcome: 'failed', at: NOW }));
  ended.set(OWNER, 'FAILED');
  await create('cut-off', { owner: execution('before:two') });
  ended.set(execution('before:two'), 'ABORTED');
  // There is no EC2 here.
  const { healing, failures } = await swept();
  expect(healing).toContain('cut-off');
  expect(failures.map(String)).toEqual([expect.stringContaining('ec2:DescribeInstances')]);
});
