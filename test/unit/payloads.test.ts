import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { goals } from '../../functions/core/domain/goals.ts';
import { InvalidRequest } from '../../functions/core/errors.ts';
import {
  actPayload,
  concludePayload,
  fencePayload,
  observePayload,
  planPayload,
  suppressPayload,
} from '../../functions/core/payloads.ts';
import { readRequest } from '../../functions/core/request.ts';

const ENTERED = '2026-11-30T09:00:05.123Z';
const ownership = {
  runId: 'r',
  execution: 'arn:aws:states:eu-west-1:111122223333:execution:before-deploy:r',
};
const { execution } = ownership;
const NOW = 1_796_029_200;

const payloads: readonly (readonly [string, z.core.$ZodType, Record<string, unknown>])[] = [
  ['act', actPayload, { ...ownership, deadline: NOW }],
  ['suppress', suppressPayload, { ...ownership, until: NOW, round: 0 }],
  [
    'observe',
    observePayload,
    { ...ownership, goals: [...goals], deadline: NOW, until: NOW, newerThan: 0, enteredAt: ENTERED },
  ],
  [
    'plan before',
    planPayload,
    {
      phase: 'before',
      execution,
      startedAt: '2026-11-30T09:00:00.123Z',
      enteredAt: ENTERED,
      optInTagValue: 'enabled',
      defaultPolicy: '{}',
      request: {},
    },
  ],
  ['plan after', planPayload, { phase: 'after', execution, request: { runId: 'r' } }],
  ['conclude', concludePayload, { ...ownership, outcome: 'go-ahead' }],
  ['fence', fencePayload, { ...ownership, error: 'States.Timeout', cause: '' }],
];

describe.each(payloads)('the payload of %s', (_, schema, payload) => {
  test('is taken as the machines give it', () => {
    expect(readRequest(schema, payload)).toEqual(payload);
  });

  test.each(Object.keys(payload))('is refused without its %s, which the refusal names', field => {
    const { [field]: missing, ...rest } = payload;
    expect(missing).toBeDefined();
    expect(() => readRequest(schema, rest)).toThrow(InvalidRequest);
    expect(() => readRequest(schema, rest)).toThrow(new RegExp(`(^|; )${field}: `));
  });
});

test('a loop observes something, and only what there is to observe', () => {
  const observe = { ...ownership, deadline: NOW, until: NOW, newerThan: 0, enteredAt: ENTERED };
  expect(() => readRequest(observePayload, { ...observe, goals: [] })).toThrow('goals: ');
  expect(() => readRequest(observePayload, { ...observe, goals: ['settled'] })).toThrow('goals.0: ');
});

test('D5: the fence takes a run without a name, for the input may have been too broken to carry one', () => {
  const nameless = { ...ownership, runId: '', error: 'InvalidRequest', cause: '' };
  expect(readRequest(fencePayload, nameless)).toEqual(nameless);
  expect(() => readRequest(actPayload, { ...ownership, runId: '', deadline: NOW })).toThrow('runId: ');
});
