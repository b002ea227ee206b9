import type { FailingTarget } from '../domain/health-check-changes.ts';
import { nowSeconds } from '../time.ts';
import { change, get, getAll, type Item, json, number, parsed } from './table.ts';

/** What the last health check logs of one load balancer node say. Times are milliseconds since the epoch. */
export interface NodeLog {
  /** The end of the last period. */
  readonly endsAt: number;
  /** The files that have been counted, as long as one may come again. */
  readonly files: readonly CountedFile[];
  readonly failing: readonly FailingTarget[];
  /** The slowest target that passed, of each target group. */
  readonly slowest: readonly SlowestPass[];
}

export interface CountedFile {
  /** Its period and its random part. */
  readonly tag: string;
  /** The invocation, by the id that a retry of it carries again. */
  readonly countedBy: string;
}

export interface SlowestPass {
  readonly group: string;
  readonly target: string;
  readonly seconds: number;
}

/** A node of which nothing is heard for a day is gone: load balancers replace theirs as they scale. */
const KEPT_SECONDS = 86_400;

const nodePk = (loadBalancer: string, node: string): string => `healthlog#${loadBalancer}#${node}`;
const nodesPk = (loadBalancer: string): string => `healthlog#${loadBalancer}`;

/** A node's record, with the number by which a change of it is refused when another came first. */
export interface KeptNodeLog {
  readonly log: NodeLog | undefined;
  readonly revision: number;
}

export async function nodeLog(loadBalancer: string, node: string): Promise<KeptNodeLog> {
  const item = await get(nodePk(loadBalancer, node));
  return { log: parsed<NodeLog>(item?.log), revision: Number(item?.revision?.N ?? 0) };
}

/** Writes a node's record; false when somebody else has meanwhile. */
export async function keepNodeLog(
  loadBalancer: string,
  node: string,
  log: NodeLog,
  { revision }: KeptNodeLog,
): Promise<boolean> {
  // First, so that no record is there that nobody finds.
  await listNode(loadBalancer, node);
  const written = await change(nodePk(loadBalancer, node), {
    UpdateExpression: 'SET #log = :log, revision = :next, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(revision) OR revision = :revision',
    ExpressionAttributeNames: { '#log': 'log' },
    ExpressionAttributeValues: {
      ':log': json(log),
      ':revision': number(revision),
      ':next': number(revision + 1),
      ':expires': number(log.endsAt / 1000 + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  return written !== undefined;
}

/** What is known of each node of a load balancer, by its address. */
export async function nodeLogs(loadBalancer: string): Promise<ReadonlyMap<string, NodeLog>> {
  const nodes = nodesIn(await get(nodesPk(loadBalancer))).map(({ node }) => node);
  const items = await getAll(nodes.map(node => nodePk(loadBalancer, node)));
  return new Map(
    nodes.flatMap(node => {
      const log = parsed<NodeLog>(items.get(nodePk(loadBalancer, node))?.log);
      return log ? [[node, log] as const] : [];
    }),
  );
}

/** Lists a node of which something is heard now, and drops those that are gone. */
async function listNode(loadBalancer: string, node: string): Promise<void> {
  const now = nowSeconds();
  const listed = await change(nodesPk(loadBalancer), {
    UpdateExpression: 'SET #node = :now, expiresAt = :expires',
    ExpressionAttributeNames: { '#node': `${NODE}${node}` },
    ExpressionAttributeValues: { ':now': number(now), ':expires': number(now + KEPT_SECONDS) },
  });
  const gone = nodesIn(listed).filter(({ heardAt }) => heardAt < now - KEPT_SECONDS);
  if (gone.length === 0) return;
  const names = gone.map((_, place) => `#gone${place}`);
  await change(nodesPk(loadBalancer), {
    UpdateExpression: `REMOVE ${names.join(', ')}`,
    // One that is heard of meanwhile stays, and so do the others until the next time.
    ConditionExpression: names.map(name => `${name} < :limit`).join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(
      gone.map(({ node }, place) => [`#gone${place}`, `${NODE}${node}`]),
    ),
    ExpressionAttributeValues: { ':limit': number(now - KEPT_SECONDS) },
    ReturnValues: 'NONE',
  });
}

/** Before the names of the list's attributes that are addresses of nodes. */
const NODE = 'node#';

interface ListedNode {
  readonly node: string;
  /** Seconds since the epoch. */
  readonly heardAt: number;
}

const nodesIn = (list: Item | undefined): readonly ListedNode[] =>
  Object.entries(list ?? {}).flatMap(([name, value]) =>
    name.startsWith(NODE) ? [{ node: name.slice(NODE.length), heardAt: Number(value.N) }] : [],
  );
