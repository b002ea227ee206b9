// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { closeHooks } from '../../functions/core/hooks/close-hooks.ts';
import { type OpenHook, openHooks, recordHook } from '../../functions/core/ledger/open-hooks.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from '../unit/helpers/ledger.ts';
import { CODE_DEPLOY, STEP_FUNCTIONS } from '../unit/helpers/services.ts';

const HOUR = 3600;
const arn = (name: string) => `arn:aws:states:eu-west-1:111122223333:execution:before:${name}`;

/** How each execution stands, by its name; none of the others exists. */
const executions = new Map<string, { readonly status: string; readonly error?: string }>();
const answers: string[] = [];
/** What CodeDeploy says to an answer for this hook. */
const refusals = new Map<string, string>();

const services: readonly Service[] = [
  {
    ...STEP_FUNCTIONS,
    operations: {
      DescribeExecution({ executionArn }: { readonly executionArn: string }) {
        const execution = executions.get(executionArn.split(':').at(-1) ?? '');
        if (!execution) throw new ServiceError('ExecutionDoesNotExist', 'none');
        return { executionArn, stateMachineArn: 'before', startDate: new Date(0), ...execution };
      },
    },
  },
  {
    ...CODE_DEPLOY,
    operations: {
      PutLifecycleEventHookExecutionStatus(input: {
        readonly lifecycleEventHookExecutionId: string;
        readonly status: string;
      }) {
        const { lifecycleEventHookExecutionId: id, status } = input;
        const refusal = refusals.get(id);
        if (refusal) throw new ServiceError(refusal, refusal, refusal === 'InternalFailure' ? 500 : 400);
        answers.push(`${id} ${status}`);
        return { lifecycleEventHookExecutionId: id };
      },
    },
  },
];

let ledger: LedgerWorld;
beforeEach(async () => {
  executions.clear();
  refusals.clear();
  answers.length = 0;
  ledger = await createLedger(services);
});

const hook = (name: string, more: Partial<OpenHook> = {}): OpenHook => ({
  executionArn: arn(name),
  deploymentId: 'd-1',
  hookExecutionId: name,
  deadline: NOW + HOUR,
  ...more,
});

const left = () => ledger.as(async () => (await openHooks()).map(({ hookExecutionId }) => hookExecutionId));

describe('the hooks that are open', () => {
  it.each([
    ['SUCCEEDED', undefined, 'Succeeded'],
    ['FAILED', 'NothingToDo', 'Succeeded'],
    ['FAILED', 'BelowFloor', 'Failed'],
    ['TIMED_OUT', undefined, 'Failed'],
    ['ABORTED', undefined, 'Failed'],
  ])(
    'R-HOOKSTATUS, D1: an execution that ended as %s (%s) is answered with %s, once',
    async (status, error, answer) => {
      executions.set('a', { status, ...(error !== undefined && { error }) });
      await ledger.as(() => recordHook(hook('a')));
      await ledger.as(() => closeHooks());
      await ledger.as(() => closeHooks());
      expect(answers).toEqual([`a ${answer}`]);
      expect(await left()).toEqual([]);
    },
  );

  it('an execution that runs, or is not there yet, is waited for as long as CodeDeploy waits', async () => {
    executions.set('running', { status: 'RUNNING' });
    await ledger.as(() => recordHook(hook('running')));
    await ledger.as(() => recordHook(hook('unknown')));
    expect(await ledger.as(() => closeHooks())).toEqual({ succeeded: 0, failed: 0, open: 2 });
    await ledger.as(() => recordHook(hook('running', { deadline: NOW - 1 })));
    await ledger.as(() => recordHook(hook('unknown', { deadline: NOW - 1 })));
    expect(await ledger.as(() => closeHooks())).toEqual({ succeeded: 0, failed: 2, open: 0 });
    expect(answers).toEqual(['running Failed', 'unknown Failed']);
  });

  it('R-NEWER: an event only says when to look; what is answered is what the execution says then', async () => {
    executions.set('a', { status: 'RUNNING' });
    await ledger.as(() => recordHook(hook('a')));
    // The event of its end has come before the end shows: DescribeExecution is eventually consistent.
    await ledger.as(() => closeHooks(arn('a')));
    expect(answers).toEqual([]);
    executions.set('a', { status: 'SUCCEEDED' });
    await ledger.as(() => closeHooks(arn('a')));
    expect(answers).toEqual(['a Succeeded']);
  });

  it('the event of one execution closes its hook only', async () => {
    executions.set('a', { status: 'SUCCEEDED' });
    executions.set('b', { status: 'SUCCEEDED' });
    for (const name of ['a', 'b']) await ledger.as(() => recordHook(hook(name)));
    await ledger.as(() => closeHooks(arn('b')));
    expect(answers).toEqual(['b Succeeded']);
    expect(await left()).toEqual(['a']);
  });

  it('R-PARTIAL: one that cannot be answered does not keep the others from it, and is tried again', async () => {
    for (const name of ['a', 'b', 'c']) {
      executions.set(name, { status: 'SUCCEEDED' });
      await ledger.as(() => recordHook(hook(name)));
    }
    refusals.set('b', 'InternalFailure');
    await expect(ledger.as(() => closeHooks())).rejects.toThrow(
      'PutLifecycleEventHookExecutionStatus failed',
    );
    expect(answers).toEqual(['a Succeeded', 'c Succeeded']);
    refusals.clear();
    await ledger.as(() => closeHooks());
    expect(answers).toEqual(['a Succeeded', 'c Succeeded', 'b Succeeded']);
  });

  it.each([
    'LifecycleEventAlreadyCompletedException',
    'DeploymentDoesNotExistException',
    'InvalidLifecycleEventHookExecutionIdException',
    'UnsupportedActionForDeploymentTypeException',
  ])(
    'R-HOOKSTATUS: an answer that nothing waits for (%s) is given, and the hook forgotten',
    async refusal => {
      executions.set('a', { status: 'SUCCEEDED' });
      refusals.set('a', refusal);
      await ledger.as(() => recordHook(hook('a')));
      expect(await ledger.as(() => closeHooks())).toEqual({ succeeded: 1, failed: 0, open: 0 });
      expect(await left()).toEqual([]);
    },
  );
});
