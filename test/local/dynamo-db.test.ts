import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../local/clock/virtual-clock.ts';
import { DynamoDb } from '../../local/stack/dynamo-db.ts';
import { createWire } from '../../local/wire/wire.ts';

async function ledger() {
  const clock = new VirtualClock();
  const database = new DynamoDb(clock);
  await database.createTable({
    TableName: 'ledger',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
  });
  const wire = createWire({ services: [database.service], gates: [], clock });
  const client = new DynamoDBClient({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: wire.transport({ kind: 'operator', name: 'test' }),
  });
  return { client, clock };
}

const claim = (owner: string) =>
  new PutItemCommand({
    TableName: 'ledger',
    Item: { pk: { S: 'i-1' }, sk: { S: 'claim' }, owner: { S: owner } },
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });

test('R-SERIAL: of two writers at once one wins, and the other is told who', async () => {
  const { client } = await ledger();
  const [first, second] = await Promise.allSettled([client.send(claim('a')), client.send(claim('b'))]);
  expect(first.status).toBe('fulfilled');
  const refusal = second.status === 'rejected' ? second.reason : undefined;
  expect(refusal).toBeInstanceOf(ConditionalCheckFailedException);
  expect(refusal.Item).toEqual({ pk: { S: 'i-1' }, sk: { S: 'claim' }, owner: { S: 'a' } });
});

test('updates by expression are seen by the next read, and a query pages through a partition', async () => {
  const { client } = await ledger();
  for (const sk of ['a', 'b', 'c']) {
    await client.send(
      new UpdateItemCommand({
        TableName: 'ledger',
        Key: { pk: { S: 'run' }, sk: { S: sk } },
        UpdateExpression: 'ADD n :one SET seen = if_not_exists(seen, :now)',
        ExpressionAttributeValues: { ':one': { N: '1' }, ':now': { N: '7' } },
      }),
    );
  }
  const read = await client.send(
    new GetItemCommand({
      TableName: 'ledger',
      Key: { pk: { S: 'run' }, sk: { S: 'b' } },
      ConsistentRead: true,
    }),
  );
  expect(read.Item).toMatchObject({ n: { N: '1' }, seen: { N: '7' } });

  const query = { TableName: 'ledger', KeyConditionExpression: 'pk = :p', Limit: 2 };
  const values = { ExpressionAttributeValues: { ':p': { S: 'run' } } };
  const page = await client.send(new QueryCommand({ ...query, ...values }));
  const rest = await client.send(
    new QueryCommand({ ...query, ...values, ExclusiveStartKey: page.LastEvaluatedKey }),
  );
  expect([page.Items, rest.Items].map(items => items?.map(({ sk }) => sk?.S))).toEqual([['a', 'b'], ['c']]);
});

test('what dynalite cannot do is refused', async () => {
  const { client } = await ledger();
  await expect(client.send(new TransactWriteItemsCommand({ TransactItems: [] }))).rejects.toThrow(
    'The local DynamoDB does not implement TransactWriteItems.',
  );
});

test('a table that DynamoDB would refuse is refused', async () => {
  const database = new DynamoDb(new VirtualClock());
  await expect(
    database.createTable({
      TableName: 'ledger',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'sk', AttributeType: 'S' }],
    }),
  ).rejects.toThrow('table ledger is refused: ');
});

test('time stands still while the database works', async () => {
  const { client, clock } = await ledger();
  const started = clock.now();
  clock.after(1000, () => {});
  await clock.runFor(client.send(claim('a')));
  expect(clock.now()).toBe(started);
});
