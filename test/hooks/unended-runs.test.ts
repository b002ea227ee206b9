// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { endCutOffRun, endRunsOfDeployment } from '../../functions/core/hooks/unended-runs.ts';
import { claimInstance } from '../../functions/core/ledger/instances.ts';
import { recordObserver } from '../../functions/core/ledger/observers.ts';
import { recordRefusal } from '../../functions/core/ledger/refusals.ts';
import {
  advance,
  createRun,
  endRun,
  findRun,
  markActed,
  markTold,
  takeOver,
} from '../../functions/core/ledger/runs.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from '../unit/helpers/ledger.ts';
import { claimOf, newRun, planOf, requestOf } from '../unit/helpers/records.ts';
import { STEP_FUNCTIONS } from '../unit/helpers/services.ts';

const OWNER = 'arn:aws:states:eu-west-1:111122223333:execution:before:one';
const AFTER = 'arn:aws:states:eu-west-1:111122223333:execution:after:two';
const INSTANCE = 'i-0123456789abcdef0';

interface Started {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

let execution: {
  readonly status: string;
  readonly input: string;
  readonly error?: string;
  readonly cause?: string;
};
const started: Started[] = [];

const stepFunctions: Service = {
  ...STEP_FUNCTIONS,
  operations: {
    DescribeExecution({ executionArn }: { readonly executionArn: string }) {
      if (![OWNER, AFTER].includes(executionArn)) throw new ServiceError('ExecutionDoesNotExist', 'none');
      return {
        executionArn,
        stateMachineArn: 'before',
        startDate: new Date(0),
        stopDate: new Date((NOW + 60) * 1000),
        ...execution,
      };
    },
    StartExecution({ name, input }: { readonly name: string; readonly input: string }) {
      if (started.some(one => one.name === name)) throw new ServiceError('ExecutionAlreadyExists', 'twice');
      started.push({ name, input: JSON.parse(input) });
      return { executionArn: `undo:${name}`, startDate: new Date(0) };
    },
  },
};

let ledger: LedgerWorld;
beforeEach(async () => {
  started.length = 0;
  process.env.AFTER_DEPLOY_ARN = 'arn:aws:states:eu-west-1:111122223333:stateMachine:after';
  process.env.UNDO_RUN_ARN = 'arn:aws:states:eu-west-1:111122223333:stateMachine:undo';
  ledger = await createLedger([stepFunctions]);
  execution = { status: 'TIMED_OUT', input: '{"runId":"r"}' };
});

const create = (runId: string, more: object = {}) =>
  ledger.as(() => createRun(newRun(runId, { owner: OWNER, ...more })));
const cutOff = (arn = OWNER) => ledger.as(() => endCutOffRun(arn));

describe('the run of an execution that has ended without ending it', () => {
  it('is taken over, once, and told how its execution ended', async () => {
    await create('r');
    expect(await cutOff()).toBe('r');
    expect(await cutOff()).toBe('r');
    expect(started.map(({ input }) => input)).toEqual([
      {
        runId: 'r',
        error: 'TIMED_OUT',
        cause: `${OWNER} ended as TIMED_OUT before the run did.`,
        from: OWNER,
      },
    ]);
  });

  it('keeps the reason that the execution gives', async () => {
    await create('r');
    execution = { ...execution, status: 'FAILED', error: 'States.Runtime', cause: 'the history is full' };
    await cutOff();
    expect(started[0]?.input).toMatchObject({ error: 'States.Runtime', cause: 'the history is full' });
  });

  it('is looked for also when its plan may still be on its way', async () => {
    expect(await cutOff()).toBe('r');
    expect(started[0]?.input).toMatchObject({ from: OWNER });
  });

  it.each([
    ['has ended well', { status: 'SUCCEEDED' }],
    ['is running', { status: 'RUNNING' }],
    ['may be redriven', { status: 'PENDING_REDRIVE' }],
    ['had no run', { input: '{}' }],
    ['had no object for its input', { input: 'null' }],
    ['had a run that no run can be', { input: '{"runId":"not a run"}' }],
  ])('is left alone when the execution %s', async (_, how) => {
    await create('r');
    execution = { ...execution, ...how };
    expect(await cutOff()).toBeUndefined();
    expect(started).toEqual([]);
  });

  it('is left alone when there is no such execution, or another one has the run by now', async () => {
    await create('r', { owner: 'another' });
    expect(await cutOff()).toBeUndefined();
    expect(await cutOff('arn:none')).toBeUndefined();
  });

  it('is left alone when it was refused', async () => {
    await ledger.as(() => recordRefusal('r', { error: 'BelowFloor', cause: 'too few' }, NOW));
    expect(await cutOff()).toBeUndefined();
  });

  it('is undone, too, when its after-deploy ended before it could take it over, unless it was refused', async () => {
    await create('r');
    expect(await cutOff(AFTER)).toBeUndefined();
    await ledger.as(() => advance('r', { from: 'before', to: 'go-ahead', owner: OWNER, at: NOW }));
    // Refused, it may be called again.
    execution = { ...execution, status: 'FAILED', error: 'InvalidRequest' };
    expect(await cutOff(AFTER)).toBeUndefined();
    execution = { ...execution, status: 'FAILED', error: 'AccessDenied' };
    expect(await cutOff(AFTER)).toBe('r');
    execution = { ...execution, status: 'ABORTED' };
    expect(await cutOff(AFTER)).toBe('r');
    expect(started.map(({ input }) => input.from)).toEqual([OWNER]);
  });

  it('is left to the end of its deployment when that acts already', async () => {
    await create('r', { request: { ...requestOf('r'), observer: 'd-1' } });
    await ledger.as(() => advance('r', { from: 'before', to: 'go-ahead', owner: OWNER, at: NOW }));
    expect(await cutOff()).toBeUndefined();
  });

  it('R-FAIL: keeps its first error when its undo was cut off, and is left alone when nothing is claimed any more', async () => {
    await create('r', { plan: planOf([INSTANCE]) });
    const failed = {
      owner: OWNER,
      outcome: 'failed',
      at: NOW,
      error: 'BudgetSpent',
      cause: 'it took long',
    } as const;
    await ledger.as(() => endRun('r', failed));
    expect(await cutOff()).toBeUndefined();
    await ledger.as(() => claimInstance('r', INSTANCE, claimOf(INSTANCE), true, NOW));
    // What fails by itself has said what it could not undo.
    execution = { ...execution, status: 'FAILED' };
    expect(await cutOff()).toBeUndefined();
    execution = { ...execution, status: 'ABORTED' };
    expect(await cutOff()).toBe('r');
    expect(started[0]?.input).toMatchObject({ error: 'BudgetSpent', cause: 'it took long' });
  });

  it('R-ALARM-ON-US: is undone once more when it was cut off between its undo and the word to people', async () => {
    await create('r');
    await ledger.as(() => markActed('r', OWNER));
    await ledger.as(() => endRun('r', { owner: OWNER, outcome: 'failed', at: NOW }));
    expect(await cutOff()).toBe('r');
    await ledger.as(() => markTold('r', 'failed'));
    expect(await cutOff()).toBeUndefined();
  });
});

describe('the runs of a deployment that has ended', () => {
  const end = (more: object = {}) =>
    ledger.as(() => endRunsOfDeployment({ deploymentId: 'd-1', state: 'STOP', ...more }));

  beforeEach(async () => {
    await ledger.as(() => recordObserver('d-1', ['i-2', 'i-1'], NOW));
    for (const id of ['i-1', 'i-2']) await create(`d-1.${id}`);
  });

  it('are ended, those of all its instances', async () => {
    expect(await end()).toEqual(['d-1.i-1', 'd-1.i-2']);
    expect(started[0]?.input).toEqual({
      runId: 'd-1.i-1',
      error: 'DeploymentEnded',
      cause: 'CodeDeploy deployment d-1 ended with STOP before after-deploy had closed the bracket.',
      from: OWNER,
    });
  });

  it('are ended one by one as its instances end, also well: then nothing calls after any more', async () => {
    expect(await end({ instanceId: 'i-2', state: 'SUCCESS' })).toEqual(['d-1.i-2']);
    expect(started[0]?.input.cause).toContain('Instance i-2 of CodeDeploy deployment d-1 ended with SUCCESS');
  });

  it('are ended once, and those that have ended are left alone', async () => {
    await ledger.as(() => endRun('d-1.i-1', { owner: OWNER, outcome: 'succeeded', at: NOW }));
    expect(await end()).toEqual(['d-1.i-2']);
    await end();
    expect(started).toHaveLength(1);
  });

  it('R-IDEMP: are not taken from the undo that another event of the same end has begun', async () => {
    const undo = 'arn:aws:states:eu-west-1:111122223333:execution:undo:first';
    await ledger.as(() => takeOver('d-1.i-1', OWNER, undo));
    expect(await end()).toEqual(['d-1.i-2']);
    expect(started.map(({ input }) => input.runId)).toEqual(['d-1.i-2']);
  });

  it('D25: a deployment to ECS or Lambda has one, of its own name', async () => {
    await create('d-2');
    expect(await end({ deploymentId: 'd-2' })).toEqual(['d-2']);
    expect(await end({ deploymentId: 'd-3' })).toEqual([]);
  });
});

describe('taking a run over', () => {
  const take = (from: string) => ledger.as(() => takeOver('r', from, 'undo'));
  const owner = async () => (await ledger.as(() => findRun('r')))?.owner;

  it('is for the one who saw its owner last, and may be repeated', async () => {
    await create('r');
    expect(await take('somebody else')).toBe(false);
    expect(await owner()).toBe(OWNER);
    expect(await take(OWNER)).toBe(true);
    expect(await take(OWNER)).toBe(true);
    expect(await owner()).toBe('undo');
  });

  it('is not possible when it has succeeded, or never was', async () => {
    expect(await take(OWNER)).toBe(false);
    await create('r');
    await ledger.as(() => endRun('r', { owner: OWNER, outcome: 'succeeded', at: NOW }));
    expect(await take(OWNER)).toBe(false);
  });
});
