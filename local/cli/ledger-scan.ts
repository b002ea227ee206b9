import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { send } from '../../functions/core/aws/call.ts';
import { dynamoDb } from '../../functions/core/aws/clients.ts';
import { type AdoptionRecord, findAdoption } from '../../functions/core/ledger/adoptions.ts';
import { findHold, type Hold } from '../../functions/core/ledger/auto-scaling-holds.ts';
import { type Demotion, findDemotion } from '../../functions/core/ledger/demotions.ts';
import { findInstances } from '../../functions/core/ledger/instances.ts';
import { type InstanceRecord, pk, type RunRecord } from '../../functions/core/ledger/items.ts';
import { type OpenHook, openHooks } from '../../functions/core/ledger/open-hooks.ts';
import { findRefusal, type RefusalRecord } from '../../functions/core/ledger/refusals.ts';
import { findRetirement, type RetirementRecord } from '../../functions/core/ledger/retirements.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import { outByZone, readGuards } from '../../functions/core/ledger/target-group-guards.ts';
import { setting } from '../../functions/core/settings.ts';

/** What the ledger holds for somebody now. */
export interface LedgerView {
  readonly runs: readonly RunRecord[];
  readonly instances: readonly InstanceRecord[];
  readonly holds: readonly (Hold & { readonly group: string })[];
  readonly targetGroups: readonly OutOfTraffic[];
  readonly hooks: readonly OpenHook[];
  /** The latest of each Auto Scaling group, also when it has ended. */
  readonly adoptions: readonly AdoptionRecord[];
  /** The latest of each check that the loop breaker has demoted, or would have, also when its cause is gone. */
  readonly demotions: readonly Demotion[];
  /** The latest of each check or security groups, for as long as it is remembered. */
  readonly retirements: readonly RetirementRecord[];
}

/** A target group whose targets live runs have taken out. */
export interface OutOfTraffic {
  readonly targetGroupArn: string;
  readonly runs: readonly string[];
  readonly targets: number;
}

/**
 * Reads every live run, claim and hold, and the latest adoptions, demotions and retirements. The Scan finds their keys only; what they hold is read as the functions read it.
 * No decision rests on it: a person looks.
 */
export async function readLedger(): Promise<LedgerView> {
  const keys = await scan();
  const idsOf = (prefix: string) =>
    keys.filter(key => key.pk.startsWith(prefix)).map(key => key.pk.slice(prefix.length));
  const live = keys.filter(({ pk, status }) => pk.startsWith(PREFIX.run) && status !== 'ended');
  const [runs, instances, holds, guards, hooks, adoptions, demotions, retirements] = await Promise.all([
    Promise.all(live.map(key => findRun(key.pk.slice(PREFIX.run.length)))),
    findInstances(idsOf(PREFIX.instance)),
    Promise.all(idsOf(PREFIX.autoScaling).map(async group => ({ group, hold: await findHold(group) }))),
    readGuards(idsOf(PREFIX.targetGroup)),
    openHooks(),
    Promise.all(idsOf(PREFIX.adoption).map(findAdoption)),
    Promise.all(idsOf(PREFIX.demotion).map(findDemotion)),
    Promise.all(idsOf(PREFIX.retirement).map(findRetirement)),
  ]);
  return {
    runs: runs.filter(run => run !== undefined).toSorted((a, b) => a.createdAt - b.createdAt),
    instances: [...instances.values()].toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1)),
    holds: holds.flatMap(({ group, hold }) => (hold ? [{ group, ...hold }] : [])),
    targetGroups: [...guards].map(([targetGroupArn, guard]) => ({
      targetGroupArn,
      runs: [...guard.outByRun.keys()],
      targets: [...outByZone(guard).values()].reduce((sum, count) => sum + count, 0),
    })),
    hooks,
    adoptions: adoptions.filter(one => one !== undefined).toSorted((a, b) => a.createdAt - b.createdAt),
    demotions: demotions.filter(one => one !== undefined).toSorted((a, b) => a.at - b.at),
    retirements: retirements.filter(one => one !== undefined).toSorted((a, b) => a.createdAt - b.createdAt),
  };
}

/** One run, ended or live, or why it was refused before it had a record; undefined when the ledger knows neither. */
export async function readRun(runId: string): Promise<RunRecord | RefusalRecord | undefined> {
  return (await findRun(runId)) ?? (await findRefusal(runId));
}

const PREFIX = {
  run: pk.run(''),
  instance: pk.instance(''),
  autoScaling: pk.autoScaling(''),
  targetGroup: pk.targetGroup(''),
  adoption: pk.adoption(''),
  demotion: pk.demotion(''),
  retirement: pk.retirement(''),
};

interface Key {
  readonly pk: string;
  readonly status: string | undefined;
}

async function scan(): Promise<Key[]> {
  const keys: Key[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page = await send('dynamodb:Scan', () =>
      dynamoDb().send(
        new ScanCommand({
          TableName: setting('LEDGER_TABLE'),
          ConsistentRead: true,
          ProjectionExpression: 'pk, #status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExclusiveStartKey: from,
        }),
      ),
    );
    for (const item of page.Items ?? []) keys.push({ pk: item.pk?.S ?? '', status: item.status?.S });
    from = page.LastEvaluatedKey;
  } while (from);
  return keys;
}
