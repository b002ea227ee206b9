import * as client from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { AwsFailure, Throttled } from '../../functions/core/errors.ts';
import { change, get, getAll, number, parsed, remove, text } from '../../functions/core/ledger/table.ts';
import { createWorld } from '../../local/account/world.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { createWire } from '../../local/wire/wire.ts';
import { createLedger, type LedgerWorld } from './helpers/ledger.ts';

const faults: { next?: Error } = {};
const asked: { readonly action: string; readonly input: Readonly<Record<string, unknown>> }[] = [];
const gate: Gate = {
  before({ action }, input) {
    asked.push({ action, input });
    if (faults.next) throw faults.next;
  },
};

let ledger: LedgerWorld;

beforeAll(async () => {
  ledger = await createLedger([], [gate]);
});

const put = (pk: string) =>
  change(pk, { UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': number(1.9) } });

test('D16: every read is strongly consistent', () =>
  ledger.as(async () => {
    await put('a');
    asked.length = 0;
    expect(await get('a')).toEqual({ pk: text('a'), n: { N: '1' } });
    await getAll(['a']);
    expect(asked).toMatchObject([
      { action: 'GetItem', input: { ConsistentRead: true } },
      { action: 'BatchGetItem', input: { RequestItems: { ledger: { ConsistentRead: true } } } },
    ]);
  }));

test('R-CHUNK: many items are read by the hundred, absent ones are left out, and none is no call', () =>
  ledger.as(async () => {
    const pks = Array.from({ length: 101 }, (_, i) => `many-${i}`);
    await put('many-0');
    await put('many-100');
    asked.length = 0;
    expect([...(await getAll(pks)).keys()].toSorted()).toEqual(['many-0', 'many-100']);
    expect(asked).toHaveLength(2);
    expect(await getAll([])).toEqual(new Map());
    expect(asked).toHaveLength(2);
  }));

test('a key that is named twice is read once: DynamoDB refuses the whole batch otherwise', () =>
  ledger.as(async () => {
    await put('twice');
    expect([...(await getAll(['twice', 'twice'])).keys()]).toEqual(['twice']);
  }));

test('a condition that does not hold is an answer, of a change as of a removal', () =>
  ledger.as(async () => {
    await put('c');
    const never = { ConditionExpression: 'attribute_not_exists(pk)' };
    expect(await change('c', { ...never, UpdateExpression: 'REMOVE n' })).toBeUndefined();
    expect(await remove('c', never)).toBe(false);
    expect(await remove('c', { ConditionExpression: 'attribute_exists(pk)' })).toBe(true);
    expect(await get('c')).toBeUndefined();
  }));

test.each([
  ['ResourceNotFoundException', AwsFailure],
  ['ProvisionedThroughputExceededException', Throttled],
])('R-SWALLOW: %s is no such answer and is thrown', async (code, expected) => {
  faults.next = new ServiceError(code, 'no');
  try {
    await expect(ledger.as(() => put('f'))).rejects.toBeInstanceOf(expected);
    await expect(ledger.as(() => remove('f', {}))).rejects.toBeInstanceOf(expected);
  } finally {
    delete faults.next;
  }
});

test('what a batch leaves unprocessed is asked for again', async () => {
  const world = createWorld();
  const batches: number[] = [];
  const dynamodb = {
    name: 'dynamodb',
    client,
    protocol: { kind: 'json', target: 'DynamoDB_20120810', jsonVersion: '1.0' },
    operations: {
      BatchGetItem({ RequestItems }: client.BatchGetItemCommandInput) {
        const keys = RequestItems?.ledger?.Keys ?? [];
        batches.push(keys.length);
        const [first, ...rest] = keys;
        return {
          Responses: { ledger: first ? [first] : [] },
          UnprocessedKeys: rest.length > 0 ? { ledger: { Keys: rest } } : {},
        };
      },
    },
  } as const;
  const wire = createWire({ services: [dynamodb], gates: [], clock: world.clock });
  const caller = { kind: 'function', name: 'Tested' } as const;
  const invocation = { caller, world, random: world.random, transport: wire.transport(caller) };
  const found = await world.clock.runFor(runAs(invocation, () => getAll(['a', 'b', 'c'])));
  expect([...found.keys()]).toEqual(['a', 'b', 'c']);
  expect(batches).toEqual([3, 2, 1]);
});

test('JSON text that is absent is undefined', () => {
  expect(parsed(undefined)).toBeUndefined();
  expect(parsed(number(1))).toBeUndefined();
  expect(parsed(text('{"a":1}'))).toEqual({ a: 1 });
});
