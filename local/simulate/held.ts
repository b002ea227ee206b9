import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Stack } from '../stack/deploy.ts';

/** Instances that failed runs hold for somebody to look at, and those runs with what an undo of them is started with. */
export interface Held {
  readonly instanceIds: readonly string[];
  readonly runs: readonly {
    readonly runId: string;
    readonly from: string;
    readonly error: string;
    readonly cause: string;
  }[];
}

/** Reads the ledger as a person would, without the product's own code. */
export async function heldIn({ template, wire }: Stack): Promise<Held> {
  const client = new DynamoDBClient({
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'operator' },
    requestHandler: wire.transport(),
  });
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: template.tables.get('Ledger')?.name ?? '' }),
  );
  const holders = new Set<string>();
  const instanceIds = Items.filter(item => {
    const runIds = Object.entries(item).flatMap(([name, { S = '' }]) =>
      name.startsWith('claim#') && JSON.parse(S).fate?.how === 'held' ? [name.slice('claim#'.length)] : [],
    );
    for (const runId of runIds) holders.add(runId);
    return runIds.length > 0;
  }).map(item => textOf(item, 'pk').replace('instance#', ''));
  const runs = Items.filter(item => holders.has(textOf(item, 'runId'))).map(item => ({
    runId: textOf(item, 'runId'),
    from: textOf(item, 'owner'),
    error: textOf(item, 'error'),
    cause: textOf(item, 'cause'),
  }));
  return { instanceIds, runs };
}

/** A person has looked, and gives back what is held, as `quiesce undo RUN` does. */
export async function giveBack(stack: Stack, { runs }: Held): Promise<void> {
  const undoing = runs.map(run => stack.startExecution('UndoRun', { input: { ...run, giveBack: true } }));
  await Promise.all(undoing.map(execution => execution.ended));
}

const textOf = (item: Readonly<Record<string, AttributeValue>>, name: string): string => item[name]?.S ?? '';
