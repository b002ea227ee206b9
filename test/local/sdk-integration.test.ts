// First, so that the SDK keeps the replaced timers and file reads.
import '../../local/clock/lambda-globals.ts';
import type * as sfn from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../local/clock/virtual-clock.ts';
import { DynamoDb } from '../../local/stack/dynamo-db.ts';
import { SdkIntegration } from '../../local/stack/sdk-integration.ts';
import type { Json } from '../../local/states/json.ts';
import { type Service, ServiceError } from '../../local/wire/contract.ts';
import { createWire } from '../../local/wire/wire.ts';
import { STEP_FUNCTIONS } from '../unit/helpers/services.ts';

async function account() {
  const clock = new VirtualClock();
  const database = new DynamoDb(clock);
  await database.createTable({
    TableName: 'ledger',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  });
  const states: Service = {
    ...STEP_FUNCTIONS,
    operations: {
      StartExecution: ({ name }: sfn.StartExecutionInput) => {
        if (name === 'throttled') throw new ServiceError('ThrottlingException', 'Rate exceeded');
        return { executionArn: `arn:${name}`, startDate: new Date(0) };
      },
    },
  };
  const services = [database.service, states];
  const sdk = new SdkIntegration(name => services.find(service => service.name === name), 'eu-west-1');
  const transport = createWire({ services, gates: [], clock }).transport();
  return (service: string, action: string, args: Json) => sdk.call(service, action, args, transport);
}

test('R-SERIAL: a failed condition has the name that a machine can catch', async () => {
  const call = await account();
  const claim = {
    TableName: 'ledger',
    Item: { pk: { S: 'i-1' } },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  expect(await call('dynamodb', 'putItem', claim)).toEqual({});
  await expect(call('dynamodb', 'putItem', claim)).rejects.toMatchObject({
    error: 'DynamoDb.ConditionalCheckFailedException',
    cause: 'The conditional request failed (Service: DynamoDb)',
  });
});

test('members begin with a capital, also where the API begins them with a small letter', async () => {
  const call = await account();
  const input = { StateMachineArn: 'arn:machine', Name: 'run' };
  expect(await call('sfn', 'startExecution', input)).toEqual({
    ExecutionArn: 'arn:run',
    StartDate: '1970-01-01T00:00:00.000Z',
  });
});

test('an error that the API does not model has the name of its service', async () => {
  const call = await account();
  const input = { StateMachineArn: 'arn:machine', Name: 'throttled' };
  await expect(call('sfn', 'startExecution', input)).rejects.toMatchObject({ error: 'Sfn.SfnException' });
});

test.each([
  ['sfn', 'startExecution', { stateMachineArn: 'arn:machine' }, 'the field stateMachineArn is not supported'],
  ['sfn', 'beginExecution', {}, 'aws-sdk:sfn:beginExecution does not exist'],
  ['ec2', 'describeInstances', {}, 'calls a service that the account does not have'],
])('aws-sdk:%s:%s with %j is refused', async (service, action, args, message) => {
  const call = await account();
  await expect(call(service, action, args)).rejects.toThrow(message);
});
