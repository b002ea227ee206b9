import { expect, test } from 'vitest';
import { z } from 'zod';
import * as errors from '../../functions/core/errors.ts';
import type { JsonObject } from '../../local/stack/json.ts';
import { predefinedErrors } from '../../local/states/failure.ts';
import {
  answeringMachines,
  attendingMachines,
  brokenDefinition,
  everyMachine,
  fencedMachines,
} from './helpers/product.ts';
import { invocationsOf, lastInvocationOf, statesOf, tasksOf } from './helpers/states.ts';

/** What our functions throw when the same call can succeed later. */
const OURS = Object.values(errors)
  .map((Class): errors.QuiesceError => Reflect.construct(Class, ['one', 'two', 'three']))
  .filter(({ retryable }) => retryable)
  .map(({ name }) => name);

/** What Step Functions reports when Lambda fails, and not our code (D28). */
const LAMBDA = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.TooManyRequestsException',
  'Lambda.Unknown',
  'Sandbox.Timedout',
  'Runtime.ExitError',
];

const KNOWN = new Set([...OURS, ...LAMBDA, ...predefinedErrors]);

const Retriers = z.array(
  z.object({
    ErrorEquals: z.array(z.string()),
    JitterStrategy: z.string().default('NONE'),
    MaxDelaySeconds: z.number().optional(),
  }),
);
const Catchers = z.array(z.object({ ErrorEquals: z.array(z.string()) }));

function unretried(definition: JsonObject): readonly string[] {
  return invocationsOf(definition).flatMap(([name, { Retry = [] }]) => {
    const retried = Retriers.parse(Retry).flatMap(({ ErrorEquals }) => ErrorEquals);
    return [...OURS, ...LAMBDA]
      .filter(error => !retried.includes(error))
      .map(error => `${name} does not retry ${error}`);
  });
}

function unspread(definition: JsonObject): readonly string[] {
  return tasksOf(definition).flatMap(([name, { Retry = [] }]) =>
    Retriers.parse(Retry)
      .filter(retrier => retrier.JitterStrategy !== 'FULL' || retrier.MaxDelaySeconds === undefined)
      .map(({ ErrorEquals }) => `${name} retries ${ErrorEquals[0]} without full jitter or MaxDelaySeconds`),
  );
}

function unknownErrors(definition: JsonObject): readonly string[] {
  return [...statesOf(definition)].flatMap(([name, { Retry = [], Catch = [] }]) =>
    [...Retriers.parse(Retry), ...Catchers.parse(Catch)]
      .flatMap(({ ErrorEquals }) => ErrorEquals)
      .filter(error => !KNOWN.has(error))
      .map(error => `${name} expects ${error}, which nothing throws`),
  );
}

const attentive = [...fencedMachines, ...attendingMachines, ...answeringMachines];

test.each(attentive)('D28: every task of %s retries what can pass', (_, definition) => {
  expect(unretried(definition)).toEqual([]);
  const broken = brokenDefinition(definition, '"Sandbox.Timedout",', '');
  expect(unretried(broken)).toEqual([`${lastInvocationOf(definition)} does not retry Sandbox.Timedout`]);
});

/** Tasks that call AWS itself retry whatever AWS answers. */
const untried = (definition: JsonObject): readonly string[] =>
  tasksOf(definition)
    .filter(([, { Resource }]) => !String(Resource).endsWith(':lambda:invoke'))
    .filter(([, { Retry = [] }]) => {
      const retried = Retriers.parse(Retry).flatMap(({ ErrorEquals }) => ErrorEquals);
      return !['States.TaskFailed', 'States.Timeout'].every(error => retried.includes(error));
    })
    .map(([name]) => name);

test.each(everyMachine)('D28: every call of %s to AWS itself is tried again', (_, definition) => {
  expect(unretried(definition)).toEqual([]);
  if (invocationsOf(definition).length === tasksOf(definition).length) return;
  expect(untried(definition)).toEqual([]);
  expect(
    untried(brokenDefinition(definition, '"States.TaskFailed","States.Timeout"', '"States.Timeout"')),
  ).toHaveLength(1);
});

test.each(attentive)('D28, R-THROTTLE: %s spreads its retries, and none waits for ever', (_, definition) => {
  expect(unspread(definition)).toEqual([]);
  const fault = `${lastInvocationOf(definition)} retries Throttled without full jitter or MaxDelaySeconds`;
  for (const [passage, replacement] of [
    ['"MaxDelaySeconds":60,', ''],
    ['"MaxDelaySeconds":60,"JitterStrategy":"FULL"', '"MaxDelaySeconds":60'],
  ] as const)
    expect(unspread(brokenDefinition(definition, passage, replacement))).toEqual([fault]);
});

test.each(attentive)('%s retries and catches only errors that exist and can pass', (_, definition) => {
  expect(unknownErrors(definition)).toEqual([]);
  for (const error of ['Throtled', 'BelowFloor'])
    expect(unknownErrors(brokenDefinition(definition, '"Throttled"', `"${error}"`))).toEqual([
      `${lastInvocationOf(definition)} expects ${error}, which nothing throws`,
    ]);
});
