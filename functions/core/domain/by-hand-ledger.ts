import { aws } from './aws-cli.ts';
import type { HandledInstance, HandledRun, HandStep } from './by-hand.ts';

/** The ledger's own writes, as a person makes them: each on the condition that nothing has changed meanwhile. */
export class LedgerByHand {
  readonly #table: string;
  readonly #runId: string;

  constructor(table: string, runId: string) {
    this.#table = table;
    this.#runId = runId;
  }

  endRun(now: number): readonly string[] {
    return this.#item('update-item', `run#${this.#runId}`, {
      update:
        'SET #status = :ended, outcome = :failed, endedAt = if_not_exists(endedAt, :now), #error = if_not_exists(#error, :error)',
      condition: 'attribute_exists(pk) AND (#status = :live OR outcome = :failed)',
      names: { '#status': 'status', '#error': 'error' },
      values: {
        ':ended': { S: 'ended' },
        ':live': { S: 'live' },
        ':failed': { S: 'failed' },
        ':error': { S: 'UndoneByHand' },
        ':now': { N: String(now) },
      },
    });
  }

  forget({ holds, outByGroup }: HandledRun, instances: readonly HandledInstance[]): HandStep['commands'] {
    return [
      ...instances.map(instance => this.#forgetClaim(instance)),
      ...[...outByGroup].flatMap(([arn, runs]) => this.#forgetOut(arn, [...runs])),
      ...holds
        .filter(({ runs }) => runs.includes(this.#runId))
        .map(({ group, runs }) => this.#leave(`autoscaling#${group}`, 'runs', runs)),
    ];
  }

  #forgetClaim({ instanceId, claims, traffic }: HandledInstance): readonly string[] {
    const pk = `instance#${instanceId}`;
    const claimants = [...claims.keys()];
    if (claimants.every(claimant => claimant === this.#runId)) return this.#leave(pk, 'claimants', claimants);
    const moved = traffic === this.#runId ? ', traffic, memberships' : '';
    return this.#item('update-item', pk, {
      update: `REMOVE #claim${moved}, releasing, releasingUntil DELETE claimants :me`,
      condition: 'contains(claimants, :run)',
      names: { '#claim': `claim#${this.#runId}` },
      values: { ':me': { SS: [this.#runId] }, ':run': { S: this.#runId } },
    });
  }

  #forgetOut(arn: string, runs: readonly string[]): readonly (readonly string[])[] {
    if (!runs.includes(this.#runId)) return [];
    if (runs.length === 1) return [this.#leave(`targetgroup#${arn}`, 'outRuns', runs)];
    return [
      this.#item('update-item', `targetgroup#${arn}`, {
        update: 'REMOVE #out DELETE outRuns :me',
        condition: 'attribute_exists(#out)',
        names: { '#out': `out#${this.#runId}` },
        values: { ':me': { SS: [this.#runId] } },
      }),
    ];
  }

  /** Leaves a set of runs; the last one takes the item with it. */
  #leave(pk: string, set: string, runs: readonly string[]): readonly string[] {
    const values = { ':me': { SS: [this.#runId] } };
    if (runs.length > 1)
      return this.#item('update-item', pk, {
        update: `DELETE #runs :me`,
        condition: 'attribute_exists(#runs)',
        names: { '#runs': set },
        values,
      });
    return this.#item('delete-item', pk, {
      condition: 'attribute_not_exists(#runs) OR #runs = :me',
      names: { '#runs': set },
      values,
    });
  }

  #item(
    operation: 'update-item' | 'delete-item',
    pk: string,
    write: {
      readonly update?: string;
      readonly condition: string;
      readonly names: Readonly<Record<string, string>>;
      readonly values: object;
    },
  ): readonly string[] {
    return aws('dynamodb', operation, {
      'table-name': this.#table,
      key: JSON.stringify({ pk: { S: pk } }),
      ...(write.update && { 'update-expression': write.update }),
      'condition-expression': write.condition,
      'expression-attribute-names': JSON.stringify(write.names),
      'expression-attribute-values': JSON.stringify(write.values),
    });
  }
}
