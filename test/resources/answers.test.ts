import { beforeEach, expect, test } from 'vitest';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import type { BracketSettings } from '../machine/helpers/bracket.ts';
import { stopAt } from '../sweep/helpers/stopped.ts';
import { customResources, type Stacks, stacks } from './helpers/stacks.ts';

/** The next invocation of this function dies before or after its call of that number. */
let death:
  | { readonly function: string; readonly call: number; readonly when: 'before' | 'after' }
  | undefined;
const dies: NonNullable<BracketSettings['dies']> = ({ function: name }, call) => {
  if (name !== death?.function || call !== death.call) return undefined;
  const { when } = death;
  death = undefined;
  return when;
};

const onGroup = (checkId: string) => ({
  CheckId: checkId,
  Tag: { Key: 'aws:autoscaling:groupName', Value: 'web' },
});

/** How S3 refuses the next answers. */
let refusals: ServiceError[] = [];
const refuses: Gate['before'] = ({ action }) => {
  const refusal = action === 'PutObject' ? refusals.shift() : undefined;
  if (refusal) throw refusal;
};

let team: Stacks;
beforeEach(async () => {
  death = undefined;
  refusals = [];
  team = await stacks({ dies, gates: () => [{ before: refuses }] });
});

test('R-IDEMP: whichever call a function dies at, a request is served once and told one answer', async () => {
  const calls = { CustomResourceFunction: 1, ServeResourceFunction: 8, AnswerResourceFunction: 4 };
  const points = Object.entries(calls).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, call) =>
      (['before', 'after'] as const).map(when => ({ function: name, call, when })),
    ).flat(),
  );
  const checkId = team.createCheck();
  for (const [index, point] of points.entries()) {
    const stack = team.stack(`stack${index}`);
    for (const act of ['create', 'delete'] as const) {
      death = point;
      const status =
        act === 'create' ? stack.create(customResources({ One: onGroup(checkId) })) : stack.delete();
      expect([point, await team.run(status)]).toEqual([point, `${act.toUpperCase()}_COMPLETE`]);
      // CloudFormation goes on at once, while the machine of a request that has died still comes to its end.
      await team.bracket.clock.pass(60_000);
      expect([point, team.associations.length]).toEqual([point, act === 'create' ? 1 : 0]);
      if (act === 'create') expect([point, death]).toEqual([point, undefined]);
    }
  }
  expect(team.requests).toHaveLength(2 * points.length);
  expect(team.requests.filter(({ answers }) => new Set(answers).size !== 1)).toEqual([]);
  // Twice only where the death came after S3 had taken the answer.
  const repeated = team.requests.filter(({ answers }) => answers.length > 1);
  expect(repeated.map(({ answers }) => answers.length)).toEqual([2, 2, 2, 2]);
  expect([team.cloudFormation.custom.faults, await team.held()]).toEqual([[], []]);
});

test.each(['WaitForMore', 'LetActsEnd'])(
  'D28: an execution that is stopped in %s has its request answered by another one, and leaves nothing',
  async state => {
    const checkId = team.createCheck();
    const stack = team.stack();
    const value = state === 'WaitForMore' ? 'web' : 'unknown';
    const properties = { CheckId: checkId, Tag: { Key: 'aws:autoscaling:groupName', Value: value } };
    const stopped = stopAt(team.bracket, 'ServeResource', state, 1);
    expect(await team.run(stack.create(customResources({ One: properties })))).toBe('ROLLBACK_COMPLETE');
    await stopped;
    expect(stack.events[0]?.reason).toContain(
      state === 'WaitForMore' ? 'Operator.Stopped: by a person' : 'AutoScalingGroupUnknown: There is no',
    );
    expect([team.associations, await team.held(), team.unanswered]).toEqual([[], [], []]);
  },
);

test('R-THROTTLE: what S3 refuses for a moment is sent again; what it refuses for good fails, and CloudFormation gives up', async () => {
  const properties = customResources({ One: { ...onGroup(team.createCheck()), ServiceTimeout: 600 } });
  refusals = [new ServiceError('InternalError', 'Please try again.', 500)];
  const stack = team.stack();
  expect(await team.run(stack.create(properties))).toBe('CREATE_COMPLETE');
  expect(team.unanswered).toEqual([]);
  refusals = Array.from({ length: 3 }, () => new ServiceError('AccessDenied', 'Request has expired', 403));
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toContain('did not receive a response');
  expect(team.bracket.ended('ServeResource')).toEqual([
    'SUCCEEDED',
    'FAILED AwsFailure',
    'FAILED AwsFailure',
  ]);
});

test('D5: an act that comes later than the answer is not done', async () => {
  const stack = team.stack();
  await team.run(stack.create(customResources({ One: onGroup(team.createCheck()) })));
  const { template, lambda } = team.bracket.stack;
  const [{ event } = { event: {} }] = team.requests;
  const late = { step: 'serve', execution: 'e', optInTagValue: 'enabled', startedAt: '2026-11-30T09:00:00Z' };
  const arn = template.functions.get('ServeResourceFunction')?.versionArn ?? '';
  const act = team.run(lambda.invoke(arn, { ...late, request: event }));
  await expect(act).rejects.toMatchObject({ error: 'RequestAnswered' });
});
