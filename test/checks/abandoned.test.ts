import { describe, expect, test } from 'vitest';
import { type Call, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { onlySchedule } from '../sweep/helpers/stopped.ts';
import { type Adopting, adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;

/** As a person does, so long after the adoption has reached a state. */
async function stopped(group: Adopting, state: string, request = {}): Promise<void> {
  const adoption = group.start(request);
  await group.bracket.reaches(adoption, state);
  await group.bracket.clock.pass(1_000);
  group.bracket.stack.executions.stop(adoption.arn, 'Operator.Stopped', 'by a person');
}

const statuses = async (group: Adopting) =>
  (await group.bracket.ledger())
    .filter(({ pk }) => /^(adoption|check)#/.test(pk))
    .map(({ status }) => status);

/** No event arrives: only the sweep finds it. */
const unheard = { deliveries: onlySchedule };

test('an adoption that was stopped is undone at once when its end is heard of', async () => {
  const group = await adopting();
  await stopped(group, 'ObserveHarm');
  await group.bracket.clock.pass(2 * MINUTE);
  expect(group.bracket.ended('PromoteCheck')).toEqual([
    'ABORTED Operator.Stopped',
    'FAILED Operator.Stopped',
  ]);
  expect([group.aggregations, await statuses(group)]).toEqual([[], ['ended']]);
});

test('the end of an execution that had no group, or is not known any more, says nothing', async () => {
  let asked = 0;
  const before = ({ action, caller }: Call) => {
    if (action === 'DescribeExecution' && caller.name === 'SettleFunction') asked++;
  };
  const { bracket } = await adopting({ gates: () => [{ before }] });
  await bracket.end(bracket.start('PromoteCheck', {}));
  bracket.stack.events.put({
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail: {
      status: 'ABORTED',
      stateMachineArn: bracket.stack.template.machines.get('PromoteCheck')?.arn ?? '',
      executionArn: `${bracket.latest('PromoteCheck')}-unknown`,
    },
  });
  await bracket.clock.pass(2 * MINUTE);
  expect(bracket.ended('PromoteCheck')).toEqual(['FAILED InvalidRequest']);
  expect(asked).toBe(2);
  const failed = bracket.stack.lambda.logs.filter(({ line }) => line.includes('step.failed'));
  expect(failed).toEqual([]);
});

describe('R-SWEEP: an adoption that was stopped', () => {
  test('without a word says that it was', async () => {
    const group = await adopting(unheard);
    const adoption = group.start();
    await group.bracket.reaches(adoption, 'ObserveSample');
    group.bracket.stack.executions.stop(adoption.arn);
    await group.bracket.clock.pass(12 * MINUTE);
    expect(group.bracket.ended('PromoteCheck')).toEqual(['ABORTED', 'FAILED ABORTED']);
    expect(group.bracket.stack.executions.find(group.bracket.latest('PromoteCheck'))?.cause).toBe(
      `${adoption.arn} ended before the adoption did.`,
    );
  });

  test.each(['Sample', 'ObserveSample', 'Widen', 'Promote', 'ObserveHarm'])(
    'at %s is undone',
    async state => {
      const group = await adopting(unheard);
      await stopped(group, state);
      await group.bracket.clock.pass(12 * MINUTE);
      expect(group.bracket.ended('PromoteCheck')).toEqual([
        'ABORTED Operator.Stopped',
        'FAILED Operator.Stopped',
      ]);
      expect(group.aggregations).toEqual([]);
      expect(await statuses(group)).toEqual(['ended']);
      expect(await group.bracket.violations()).toEqual([]);
    },
  );

  test('leaves a check that was there as it was', async () => {
    const group = await adopting(unheard);
    const id = group.createCheck();
    await stopped(group, 'ObserveHarm', { check: { id } });
    await group.bracket.clock.pass(12 * MINUTE);
    expect([group.checkId, group.aggregations, group.associations]).toEqual([id, ['excluded'], []]);
    expect(await statuses(group)).toEqual(['ended']);
  });

  test('in its undo is undone all the same, and keeps its first error', async () => {
    const group = await adopting(unheard);
    group.answer(() => 503);
    await stopped(group, 'Undo');
    await group.bracket.clock.pass(12 * MINUTE);
    expect(group.bracket.ended('PromoteCheck')).toEqual([
      'ABORTED Operator.Stopped',
      'FAILED CheckNotProven',
    ]);
    expect([group.aggregations, await statuses(group)]).toEqual([[], ['ended']]);
  });
});

test('a live adoption, however long it takes, is left alone by the sweep', async () => {
  const group = await adopting();
  expect(outcome(await group.adopt({ watchSeconds: 1800 }))).toBe('SUCCEEDED');
  expect(group.bracket.ended('PromoteCheck')).toEqual(['SUCCEEDED']);
});

test('R-FAIL: an undo that is denied says so, and the sweep goes on until it works', async () => {
  let denied = true;
  const group = await adopting({
    gates: () => [
      {
        before: ({ action }) => {
          if (denied && action === 'DeleteApplicationStatusCheck')
            throw new ServiceError('UnauthorizedOperation', 'You are not authorized.');
        },
      },
    ],
  });
  group.answer(() => 503);
  const adoption = await group.adopt();
  expect(outcome(adoption)).toBe('FAILED CheckNotProven');
  expect(adoption.cause).toContain('The undo failed too, with AccessDenied');
  expect(group.aggregations).toEqual(['excluded']);
  expect(outcome(await group.adopt())).toBe('FAILED AdoptionInProgress');
  denied = false;
  await group.bracket.clock.pass(12 * MINUTE);
  expect([group.aggregations, await statuses(group)]).toEqual([[], ['ended']]);
});

test('R-LOOP: what ends an adoption and may not is tried again by the sweep, not by the end of each try', async () => {
  const before = ({ caller, action }: Call, { FunctionName }: { readonly FunctionName?: unknown }) => {
    if (caller.kind === 'machine' && action === 'Invoke' && /EndAdoptionFunction/.test(String(FunctionName)))
      throw new ServiceError(
        'AccessDeniedException',
        'not authorized to perform: lambda:InvokeFunction',
        403,
      );
  };
  const group = await adopting({ gates: () => [{ before }] });
  group.answer(() => 503);
  await group.adopt();
  const tried = group.bracket.ended('PromoteCheck').length;
  await group.bracket.clock.pass(30 * MINUTE);
  const again = group.bracket.ended('PromoteCheck').length - tried;
  // Once when the end of the adoption is heard of, then every five minutes.
  expect(again).toBeGreaterThan(1);
  expect(again).toBeLessThanOrEqual(7);
});
