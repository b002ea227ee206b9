import type {
  AttributeValue,
  BatchGetItemCommandInput,
  BatchWriteItemCommandInput,
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  QueryCommandInput,
  ScanCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { About, ActionTable, Concern } from './resources.ts';
import { concern } from './resources.ts';

type Item = Record<string, AttributeValue>;

/** TableName may be a name or an ARN. */
const nameOf = (table: string | undefined): string => table?.split('/').at(-1) ?? '';

const partitionKeyOf = (table: string | undefined, about: About): string | undefined =>
  [...about.template.tables.values()].find(({ name }) => name === nameOf(table))?.partitionKey;

const tableConcern = (
  table: string | undefined,
  about: About,
  items: readonly (Item | undefined)[],
): Concern => {
  const partitionKey = partitionKeyOf(table, about);
  const keys = items.flatMap(item => scalar(partitionKey === undefined ? undefined : item?.[partitionKey]));
  return concern(about.arn('dynamodb', `table/${nameOf(table)}`), {
    'dynamodb:LeadingKeys': [...new Set(keys)],
  });
};

const byKey = (
  input: GetItemCommandInput | UpdateItemCommandInput | DeleteItemCommandInput,
  about: About,
): readonly Concern[] => [tableConcern(input.TableName, about, [input.Key])];

/** Source: the service authorization reference of DynamoDB, as aws-behaviour.md 1.5 cites it for others. */
export const DYNAMODB: ActionTable = {
  GetItem: byKey,
  UpdateItem: byKey,
  DeleteItem: byKey,
  PutItem: (input: PutItemCommandInput, about) => [tableConcern(input.TableName, about, [input.Item])],
  Query(input: QueryCommandInput, about) {
    const table = tableConcern(input.TableName, about, []);
    return input.IndexName
      ? [{ ...table, resource: `${table.resource}/index/${input.IndexName}` }]
      : [
          {
            ...table,
            context: {
              'dynamodb:LeadingKeys': queriedPartition(input, partitionKeyOf(input.TableName, about)),
            },
          },
        ];
  },
  Scan(input: ScanCommandInput, about) {
    const table = tableConcern(input.TableName, about, []);
    return [input.IndexName ? { ...table, resource: `${table.resource}/index/${input.IndexName}` } : table];
  },
  BatchGetItem: (input: BatchGetItemCommandInput, about) =>
    Object.entries(input.RequestItems ?? {}).map(([table, { Keys = [] }]) =>
      tableConcern(table, about, Keys),
    ),
  BatchWriteItem: (input: BatchWriteItemCommandInput, about) =>
    Object.entries(input.RequestItems ?? {}).map(([table, writes]) =>
      tableConcern(
        table,
        about,
        writes.map(write => write.PutRequest?.Item ?? write.DeleteRequest?.Key),
      ),
    ),
};

/** The partition that a query's key condition names: `pk = :run`, or `#pk = :run` with an attribute name. */
function queriedPartition(
  {
    KeyConditionExpression = '',
    ExpressionAttributeNames = {},
    ExpressionAttributeValues = {},
  }: QueryCommandInput,
  partitionKey: string | undefined,
): readonly string[] {
  const equalities = [...KeyConditionExpression.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)];
  return equalities
    .filter(([, name = '']) => (ExpressionAttributeNames[name] ?? name) === partitionKey)
    .flatMap(([, , placeholder = '']) => scalar(ExpressionAttributeValues[placeholder]));
}

const scalar = (value: AttributeValue | undefined): readonly string[] => {
  const text = value?.S ?? value?.N;
  return text === undefined ? [] : [text];
};
