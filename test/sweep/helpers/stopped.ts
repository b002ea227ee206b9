import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type Bracket,
  type BracketSettings,
  bracket,
  type Fleet,
  usual,
} from '../../machine/helpers/bracket.ts';

/** Nothing but the schedule reaches a function: no end of an execution or of a deployment is heard of. */
export const onlySchedule = (_event: object, rule: string): readonly number[] =>
  rule === 'SweepSchedule' ? [500] : [];

/** All in one zone, so that one floor holds for all. */
export const small: Fleet = { ...usual, instances: 4, zones: ['eu-west-1a'] };

export const swept = (settings: BracketSettings = {}, fleet: Fleet = small): Promise<Bracket> =>
  bracket(fleet, { deliveries: onlySchedule, ...settings });

/** Resolves with an execution's ARN so long after it, of this machine, has entered a state. */
export function enteredState(of: Bracket, machine: string, state: string, afterMs: number): Promise<string> {
  const { journal, clock } = of.standing.account.world;
  return new Promise(resolve => {
    const stop = journal.listen(entry => {
      if (entry.type !== 'state-entered' || entry.state !== state || !entry.machine.includes(machine)) return;
      stop();
      clock.after(afterMs, () => resolve(entry.executionArn));
    });
  });
}

/** As a person does, so long after an execution of this machine has entered a state; resolves then. */
export async function stopAt(of: Bracket, machine: string, state: string, afterMs: number): Promise<void> {
  const arn = await enteredState(of, machine, state, afterMs);
  of.stack.executions.stop(arn, 'Operator.Stopped', 'by a person');
}

/** What in the ledger has still to be undone. */
export async function held(of: Bracket): Promise<readonly string[]> {
  const items = await of.ledger();
  return items
    .filter(({ pk, status }) => status === 'live' || !/^(run|refusal|pace|seen|observer|hooks)#/.test(pk))
    .map(({ pk }) => pk);
}

/** Seconds until nothing is held any more and no execution runs; at most an hour and a half. */
export async function secondsUntilHealed(of: Bracket): Promise<number> {
  const began = of.clock.now();
  const runs = () => [...of.stack.executions.all()].some(({ status }) => status === 'RUNNING');
  // An act that was in flight goes on, and may only now write what is to be undone.
  await of.clock.pass(60_000);
  while (of.clock.now() - began < 5_400_000 && (runs() || (await held(of)).length > 0))
    await of.clock.pass(15_000);
  return (of.clock.now() - began) / 1000;
}

const operator = (of: Bracket) => ({
  client: new DynamoDBClient({
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'operator' },
    requestHandler: of.stack.wire.transport(),
  }),
  TableName: of.stack.template.tables.get('Ledger')?.name,
});

/** As a person does who should not. */
export async function deleteRun(of: Bracket, runId: string): Promise<void> {
  const { client, TableName } = operator(of);
  await of.clock.runFor(
    client.send(new DeleteItemCommand({ TableName, Key: { pk: { S: `run#${runId}` } } })),
  );
}

/** Claims an instance, which no other run claims, for a run that does not know of it. */
export async function claimFor(of: Bracket, runId: string, instanceId: string, claim: object): Promise<void> {
  const { client, TableName } = operator(of);
  await of.clock.runFor(
    client.send(
      new PutItemCommand({
        TableName,
        Item: {
          pk: { S: `instance#${instanceId}` },
          claimants: { SS: [runId] },
          [`claim#${runId}`]: { S: JSON.stringify(claim) },
        },
      }),
    ),
  );
}

/** Holds a group for a run that does not know of it. */
export async function holdFor(of: Bracket, runId: string, group: string): Promise<void> {
  const { client, TableName } = operator(of);
  const processes = ['HealthCheck', 'ReplaceUnhealthy'] as const;
  for (const process of processes)
    of.standing.account.autoScaling.group(group).suspended.set(process, 'User suspended');
  const Item = {
    pk: { S: `autoscaling#${group}` },
    runs: { SS: [runId] },
    suspended: { SS: [...processes] },
  };
  await of.clock.runFor(client.send(new PutItemCommand({ TableName, Item })));
}

/** Writes down that the loop breaker has demoted a check. */
export async function demotionOf(of: Bracket, checkId: string): Promise<void> {
  const { client, TableName } = operator(of);
  const none = { S: '[]' };
  const Item = {
    pk: { S: `demotion#${checkId}` },
    status: { S: 'demoted' },
    at: { N: '1' },
    groups: none,
    inVain: none,
    cause: { S: 'It cannot connect.' },
  };
  await of.clock.runFor(client.send(new PutItemCommand({ TableName, Item })));
}

/** Writes down that a deployment's group has taken over the checks of others, as its hook does. */
export async function succeedFor(
  of: Bracket,
  deploymentId: string,
  succession: { readonly to: string; readonly from: readonly string[]; readonly checkIds: readonly string[] },
): Promise<void> {
  const { client, TableName } = operator(of);
  const Item = {
    pk: { S: `succession#${deploymentId}` },
    isDone: { BOOL: true },
    takesOver: { S: succession.to },
    stoodFor: { S: JSON.stringify(succession.from) },
    checkIds: { S: JSON.stringify(succession.checkIds) },
  };
  await of.clock.runFor(client.send(new PutItemCommand({ TableName, Item })));
}

/** Takes the traffic of an instance over, as the claim of another run does, in the middle of an act (D2). */
export async function takeTrafficOver(of: Bracket, runId: string, instanceId: string): Promise<void> {
  const { client, TableName } = operator(of);
  await client.send(
    new UpdateItemCommand({
      TableName,
      Key: { pk: { S: `instance#${instanceId}` } },
      UpdateExpression: 'SET traffic = :run ADD claimants :runs',
      ExpressionAttributeValues: { ':run': { S: runId }, ':runs': { SS: [runId] } },
    }),
  );
}

/** Writes down which instances a deployment is made to, as its first hook does (D10). */
export async function recordObserverOf(
  of: Bracket,
  deploymentId: string,
  ids: readonly string[],
): Promise<void> {
  const { client, TableName } = operator(of);
  const Item = { pk: { S: `observer#${deploymentId}` }, instanceIds: { S: JSON.stringify([...ids].sort()) } };
  await of.clock.runFor(client.send(new PutItemCommand({ TableName, Item })));
}

/** Lets other runs have all turns of a pace for so long (D10). */
export async function busyFor(of: Bracket, pace: string, seconds: number): Promise<void> {
  const { client, TableName } = operator(of);
  const Item = { pk: { S: `pace#${pace}` }, nextAt: { N: String(of.clock.now() + seconds * 1000) } };
  await of.clock.runFor(client.send(new PutItemCommand({ TableName, Item })));
}
