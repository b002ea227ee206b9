import { EventEmitter } from 'node:events';
import * as client from '@aws-sdk/client-dynamodb';
import dynalite, { type Request } from 'dynalite';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import { type Service, ServiceError, type TextAnswer } from '../wire/contract.ts';

/** The operations on items. Transactions and streams dynalite does not have; tables are the template's to manage. */
const OPERATIONS: ReadonlySet<string> = new Set([
  'BatchGetItem',
  'BatchWriteItem',
  'DeleteItem',
  'GetItem',
  'PutItem',
  'Query',
  'Scan',
  'UpdateItem',
]);

const ANSWERED = { 'content-type': 'application/x-amz-json-1.0' };

const HEADERS = {
  ...ANSWERED,
  // dynalite asks for a signature and does not check it.
  'x-amz-date': '20261130T090000Z',
  authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=local',
};

type Item = Readonly<Record<string, unknown>>;

interface Input {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

/**
 * DynamoDB by dynalite, in process and without a socket. Requests are served one at a time in the order they arrive,
 * and time stands still meanwhile. Items past their TTL stay: DynamoDB itself deletes them only "within a few days".
 */
export class DynamoDb {
  readonly service: Service;
  readonly #clock: VirtualClock;
  readonly #server = dynalite({ createTableMs: 0 });
  readonly #keys = new Map<string, readonly string[]>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.service = {
      name: 'dynamodb',
      client,
      protocol: { kind: 'json', target: 'DynamoDB_20120810', jsonVersion: '1.0' },
      operations: {},
      raw: (request, call) => this.#inTurn(() => this.#serve(call.action, request.body)),
    };
  }

  /** Creates the table and waits until it is active. @throws Error with DynamoDB's words when it is refused */
  async createTable(table: client.CreateTableCommandInput & { readonly TableName: string }): Promise<void> {
    const { TableName, KeySchema = [] } = table;
    this.#keys.set(
      TableName,
      KeySchema.flatMap(key => key.AttributeName ?? []),
    );
    await this.#inTurn(async () => {
      const created = await this.#ask('CreateTable', table);
      if (created.status !== 200) throw new Error(`table ${TableName} is refused: ${created.body}`);
      while (!(await this.#ask('DescribeTable', { TableName })).body.includes('"TableStatus":"ACTIVE"'));
    });
  }

  async #serve(action: string, body: string): Promise<TextAnswer> {
    if (!OPERATIONS.has(action)) {
      throw new ServiceError('UnknownOperationException', `The local DynamoDB does not implement ${action}.`);
    }
    // The one member of the model that dynalite leaves out and that matters: its reads are consistent, also a Scan's.
    const { ReturnValuesOnConditionCheckFailure: onFailure, ...input }: Input = JSON.parse(body);
    const answer = await this.#ask(action, input);
    const failed = answer.status === 400 && answer.body.includes('#ConditionalCheckFailedException"');
    return failed && onFailure === 'ALL_OLD' ? this.#withItem(answer, input) : answer;
  }

  /** A failed condition's answer with the item that failed it. No other request is served in between. */
  async #withItem(answer: TextAnswer, { TableName = '', Key, Item }: Input): Promise<TextAnswer> {
    const key =
      Key ?? Object.fromEntries((this.#keys.get(TableName) ?? []).map(name => [name, Item?.[name]]));
    const found = await this.#ask('GetItem', { TableName, Key: key, ConsistentRead: true });
    return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), ...JSON.parse(found.body) }) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#clock.hold(this.#last.then(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #ask(action: string, input: object): Promise<TextAnswer> {
    const request: Request = Object.assign(new EventEmitter(), {
      method: 'POST',
      url: '/',
      headers: { ...HEADERS, 'x-amz-target': `DynamoDB_20120810.${action}` },
    });
    return new Promise(resolve => {
      const response = {
        statusCode: 200,
        setHeader: () => undefined,
        end: (body: string) => resolve({ status: response.statusCode, headers: ANSWERED, body }),
      };
      this.#server.emit('request', request, response);
      request.emit('data', Buffer.from(JSON.stringify(input)));
      request.emit('end');
    });
  }
}
