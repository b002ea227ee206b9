// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import * as ec2 from '@aws-sdk/client-ec2';
import { beforeEach, expect, test } from 'vitest';
import { adoptForRun } from '../../functions/core/adopt/adopt-for-run.ts';
import { adoptionRequest } from '../../functions/core/adoption-request.ts';
import { executionArn } from '../../functions/core/aws/step-functions.ts';
import { createAdoption, markPromoted } from '../../functions/core/ledger/adoptions.ts';
import { createRun } from '../../functions/core/ledger/runs.ts';
import { executionName } from '../../functions/core/naming.ts';
import { readRequest } from '../../functions/core/request.ts';
import { endIfAbandoned } from '../../functions/core/sweep/abandoned-adoptions.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { newRun } from './helpers/records.ts';
import { STEP_FUNCTIONS } from './helpers/services.ts';

/** How promote-check's execution has ended; undefined when there is none of this name. */
let execution: { readonly status: string; readonly error?: string; readonly cause?: string } | undefined;
const started: string[] = [];

const stepFunctions: Service = {
  ...STEP_FUNCTIONS,
  operations: {
    DescribeExecution({ executionArn }: { readonly executionArn: string }) {
      if (!execution) throw new ServiceError('ExecutionDoesNotExist', 'none');
      const stopped = execution.status !== 'RUNNING' && { stopDate: new Date(NOW * 1000) };
      return { executionArn, stateMachineArn: 'promote', startDate: new Date(0), ...stopped, ...execution };
    },
    StartExecution({ name }: { readonly name: string }) {
      if (execution) throw new ServiceError('ExecutionAlreadyExists', 'twice');
      started.push(name);
      return { executionArn: `promote:${name}`, startDate: new Date(0) };
    },
  },
};

let aggregation: 'included' | 'excluded' = 'excluded';

const checks: Service = {
  name: 'ec2',
  client: ec2,
  protocol: { kind: 'ec2-query', version: '2016-11-15' },
  operations: {
    DescribeApplicationStatusChecks: () => ({
      ApplicationStatusChecks: [
        { ApplicationStatusCheckId: 'asc-1', Aggregation: aggregation, Port: 80, Protocol: 'http' },
      ],
    }),
  },
};

let ledger: LedgerWorld;
beforeEach(async () => {
  started.length = 0;
  execution = undefined;
  process.env.PROMOTE_CHECK_ARN = 'arn:aws:states:eu-west-1:111122223333:stateMachine:promote';
  ledger = await createLedger([stepFunctions, checks]);
  await ledger.as(() => createRun(newRun('r', { owner: 'e' })));
});

const adopt = (deadline = NOW + 600) =>
  ledger.as(() => adoptForRun('r', 'e', [{ checkId: 'asc-1', group: 'web' }], deadline));

test('what was not started is, and is waited for until the budget is spent', async () => {
  expect(await adopt()).toMatchObject({ verdict: 'waiting', reasons: ['asc-1 is not proven on web yet'] });
  expect(started).toHaveLength(1);
  execution = { status: 'RUNNING' };
  expect(await adopt(NOW - 1)).toMatchObject({ verdict: 'refused', error: 'BudgetSpent' });
  expect(started).toHaveLength(1);
});

test('one that is over was promoted, or says why not', async () => {
  execution = { status: 'SUCCEEDED' };
  expect(await adopt()).toMatchObject({ verdict: 'met', met: 1 });
  execution = { status: 'FAILED', error: 'CheckNotProven', cause: 'Not every instance' };
  expect(await adopt()).toMatchObject({
    verdict: 'refused',
    error: 'CheckNotProven',
    cause: 'Not every instance',
  });
  execution = { status: 'TIMED_OUT' };
  expect(await adopt()).toMatchObject({
    verdict: 'refused',
    error: 'TIMED_OUT',
    cause: expect.stringContaining('was ended'),
  });
});

test('D5: of a run that another execution has, nothing is adopted', async () => {
  const other = ledger.as(() => adoptForRun('r', 'another', [{ checkId: 'asc-1', group: 'web' }], NOW + 600));
  await expect(other).rejects.toMatchObject({ name: 'RunEnded' });
});

const create = (owner: string) => {
  const request = readRequest(adoptionRequest, {
    autoScalingGroupName: 'web',
    check: { protocol: 'http', port: 80 },
  });
  const plan = { token: 't', sample: [], wasOnGroup: false, observeSeconds: 900, optInTagValue: 'enabled' };
  const adoption = { group: 'web', owner, request, plan, createdAt: NOW, checkId: 'asc-1' };
  return ledger.as(() => createAdoption(adoption));
};

test('R-STATE: a promotion is written down before it is made, and done when EC2 shows the check as included', async () => {
  const owner = executionArn(process.env.PROMOTE_CHECK_ARN ?? '', executionName('adopt', 'r', 'asc-1'));
  await create(owner);
  const evidence = { instances: 1, evaluations: 2, evaluatedAt: NOW * 1000 };
  await ledger.as(() => markPromoted('web', owner, evidence, NOW));
  expect(await adopt()).toMatchObject({ verdict: 'waiting' });
  aggregation = 'included';
  expect(await adopt()).toMatchObject({ verdict: 'met', met: 1 });
});

test('R-SWEEP: an adoption whose execution Step Functions has forgotten is undone', async () => {
  await create('gone');
  expect(await ledger.as(() => endIfAbandoned({ group: 'web' }))).toBe(true);
  expect(await ledger.as(() => endIfAbandoned({ group: 'none' }))).toBe(false);
});
