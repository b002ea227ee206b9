// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { adoptionRequest } from '../../functions/core/adoption-request.ts';
import { createAdoption, endAdoption } from '../../functions/core/ledger/adoptions.ts';
import { createRetirement } from '../../functions/core/ledger/retirements.ts';
import { readRequest } from '../../functions/core/request.ts';
import { retirementRequest } from '../../functions/core/retirement-request.ts';
import { endCutOffAdoption, endIfAbandoned } from '../../functions/core/sweep/abandoned-adoptions.ts';
import { goOnIfAbandoned } from '../../functions/core/sweep/abandoned-retirements.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from '../unit/helpers/ledger.ts';
import { STEP_FUNCTIONS } from '../unit/helpers/services.ts';

const HOUR = 3_600_000;
const OWNER = 'arn:aws:states:eu-west-1:111122223333:execution:promote:one';
const CHECK = 'asc-0123456789abcdef0';

/** How the owner has ended. */
let ended = '';
const names = new Set<string>();

const services: readonly Service[] = [
  {
    ...STEP_FUNCTIONS,
    operations: {
      DescribeExecution({ executionArn }: { readonly executionArn: string }) {
        const common = { stateMachineArn: 'promote', startDate: new Date(0), stopDate: new Date(NOW * 1000) };
        const input = JSON.stringify({ autoScalingGroupName: 'web' });
        return { executionArn, status: ended, input, ...common };
      },
      StartExecution({ name }: { readonly name: string }) {
        if (names.has(name)) throw new ServiceError('ExecutionAlreadyExists', 'twice');
        names.add(name);
        return { executionArn: name, startDate: new Date(0) };
      },
    },
  },
];

let ledger: LedgerWorld;
beforeEach(async () => {
  names.clear();
  process.env.PROMOTE_CHECK_ARN = 'arn:promote';
  process.env.RETIRE_CHECK_ARN = 'arn:retire';
  ledger = await createLedger(services);
  const plan = { token: 't', sample: [], wasOnGroup: true, observeSeconds: 60, optInTagValue: 'enabled' };
  const adoption = { autoScalingGroupName: 'web', check: { id: CHECK } };
  await ledger.as(() =>
    createAdoption({
      group: 'web',
      owner: OWNER,
      request: readRequest(adoptionRequest, adoption),
      plan,
      createdAt: NOW,
    }),
  );
});

const later = (milliseconds: number) =>
  ledger.as(() => new Promise(resolve => setTimeout(resolve, milliseconds)));

async function retire(): Promise<void> {
  const plan = { deletesCheck: true, interfaceIds: [], groupIds: [], optInTagValue: 'enabled' };
  const request = readRequest(retirementRequest, { checkId: CHECK });
  await ledger.as(() =>
    createRetirement({ owner: OWNER, request, plan, createdAt: NOW, deadline: NOW + 9000 }),
  );
}

describe('R-SWEEP, R-LOOP: what nothing looks after has an execution an hour, until one has taken it over', () => {
  it.each([
    ['an adoption', async () => undefined, () => endIfAbandoned({ group: 'web' })],
    ['a retirement', retire, () => goOnIfAbandoned({ subject: CHECK })],
  ])('%s', async (_, create, goOn) => {
    ended = 'ABORTED';
    await create();
    expect([await ledger.as(goOn), await ledger.as(goOn)]).toEqual([true, false]);
    await later(HOUR);
    expect([await ledger.as(goOn), await ledger.as(goOn)]).toEqual([true, false]);
  });
});

describe('R-LOOP: an adoption that could not be undone', () => {
  it.each([
    // It has said so, and would only fail again: the next undo is the sweep's.
    ['FAILED', undefined],
    ['TIMED_OUT', 'web'],
    ['ABORTED', 'web'],
  ])('in an execution that ended as %s is undone once more by its event: %s', async (status, group) => {
    ended = status;
    const failure = { outcome: 'failed', at: NOW, error: 'CheckNotProven', cause: '' } as const;
    await ledger.as(() => endAdoption('web', OWNER, failure));
    expect(await ledger.as(() => endCutOffAdoption(OWNER))).toBe(group);
  });

  it('is left to its own execution when another one, such as a second request, has failed', async () => {
    ended = 'FAILED';
    expect(await ledger.as(() => endCutOffAdoption(`${OWNER}-refused`))).toBeUndefined();
    expect(names.size).toBe(0);
  });
});
