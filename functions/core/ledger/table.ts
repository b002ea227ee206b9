import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  type DeleteItemCommandInput,
  GetItemCommand,
  ScanCommand,
  type ScanCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { inChunks, pages } from '../aws/batch.ts';
import { send } from '../aws/call.ts';
import { dynamoDb } from '../aws/clients.ts';
import { AwsFailure } from '../errors.ts';
import { BATCH_GET_ITEMS } from '../limits.ts';
import { setting } from '../settings.ts';

export type Item = Record<string, AttributeValue>;

const key = (pk: string) => ({ TableName: setting('LEDGER_TABLE'), Key: { pk: { S: pk } } });

/** Reads one item, strongly consistently. */
export async function get(pk: string): Promise<Item | undefined> {
  const answer = await send('dynamodb:GetItem', () =>
    dynamoDb().send(new GetItemCommand({ ...key(pk), ConsistentRead: true })),
  );
  return answer.Item;
}

/** Reads many items, strongly consistently; absent ones are left out. DynamoDB refuses a batch that names one twice. */
export async function getAll(pks: readonly string[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const TableName = setting('LEDGER_TABLE');
  await inChunks([...new Set(pks)], BATCH_GET_ITEMS, 4, async chunk => {
    let keys: Record<string, AttributeValue>[] = chunk.map(pk => ({ pk: { S: pk } }));
    while (keys.length > 0) {
      const asked = keys;
      const answer = await send('dynamodb:BatchGetItem', () =>
        dynamoDb().send(
          new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: asked, ConsistentRead: true } } }),
        ),
      );
      for (const item of answer.Responses?.[TableName] ?? []) found.set(item.pk?.S ?? '', item);
      keys = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];
    }
  });
  return found;
}

/** Reads every item that `filter` lets through, strongly consistently and page by page; the others are paid for as well. */
export async function scan(filter: Omit<ScanCommandInput, 'TableName'>): Promise<Item[]> {
  return pages(async from => {
    const command = new ScanCommand({
      ...filter,
      TableName: setting('LEDGER_TABLE'),
      ConsistentRead: true,
      ExclusiveStartKey: from === undefined ? undefined : { pk: { S: from } },
    });
    const answer = await send('dynamodb:Scan', () => dynamoDb().send(command));
    return { items: answer.Items, next: answer.LastEvaluatedKey?.pk?.S };
  });
}

type Change = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

/** Changes one item if its condition holds. Answers the whole new item, or undefined when the condition did not hold. */
export async function change(pk: string, update: Change): Promise<Item | undefined> {
  return unlessConditionFails(async () => {
    const answer = await send('dynamodb:UpdateItem', () =>
      dynamoDb().send(new UpdateItemCommand({ ReturnValues: 'ALL_NEW', ...update, ...key(pk) })),
    );
    return answer.Attributes ?? {};
  });
}

/** Deletes one item if its condition holds; false when it did not. */
export async function remove(
  pk: string,
  condition: Omit<DeleteItemCommandInput, 'TableName' | 'Key'>,
): Promise<boolean> {
  const done = await unlessConditionFails(async () => {
    await send('dynamodb:DeleteItem', () =>
      dynamoDb().send(new DeleteItemCommand({ ...condition, ...key(pk) })),
    );
    return true;
  });
  return done ?? false;
}

async function unlessConditionFails<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof AwsFailure && error.code === 'ConditionalCheckFailedException') return undefined;
    throw error;
  }
}

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number): AttributeValue => ({ N: String(Math.floor(value)) });
export const json = (value: unknown): AttributeValue => ({ S: JSON.stringify(value) });

/** The text of an attribute; empty when the item has none. */
export const textAt = (item: Item, name: string): string => item[name]?.S ?? '';

/** Reads JSON text that this version of the ledger wrote. */
export const parsed = <T>(value: AttributeValue | undefined): T | undefined =>
  value?.S === undefined ? undefined : (JSON.parse(value.S) as T);
