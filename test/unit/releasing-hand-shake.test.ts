import * as client from '@aws-sdk/client-ec2';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { enableSuppression } from '../../functions/core/aws/suppression.ts';
import { dropClaims, endClaims } from '../../functions/core/bracket/end-claims.ts';
import { releaseSuppression } from '../../functions/core/bracket/release.ts';
import { claimInstance, findInstances } from '../../functions/core/ledger/instances.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import type { Service } from '../../local/wire/contract.ts';
import { type Choose, createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { claimOf, newRun, planOf } from './helpers/records.ts';

/** What EC2 was told about each instance, in order. */
const told = new Map<string, string[]>();
const tell = (what: string, ids: readonly string[] = []) => {
  for (const id of ids) told.set(id, [...(told.get(id) ?? []), what]);
  return { SuccessfulResults: ids.map(InstanceId => ({ InstanceId })) };
};
const ec2: Service = {
  name: 'ec2',
  client,
  protocol: { kind: 'ec2-query', version: '2016-11-15' },
  operations: {
    EnableApplicationStatusCheckSuppression: (
      input: client.EnableApplicationStatusCheckSuppressionCommandInput,
    ) => tell('enabled', input.InstanceIds),
    DescribeInstances: ({ Filters = [] }: client.DescribeInstancesCommandInput) => ({
      Reservations: Filters.flatMap(({ Values = [] }) => Values).map(InstanceId => ({
        Instances: [
          { InstanceId, State: { Name: 'running' }, Placement: { AvailabilityZone: 'eu-west-1a' } },
        ],
      })),
    }),
    DisableApplicationStatusCheckSuppression: (
      input: client.DisableApplicationStatusCheckSuppressionCommandInput,
    ) => tell('disabled', input.InstanceIds),
  },
};

let ledger: LedgerWorld;
let count = 0;
const freshId = () => `i-${String(count++).padStart(17, '0')}`;

beforeAll(async () => {
  ledger = await createLedger([ec2]);
});

const runOf = (runId: string, id: string): RunRecord => ({
  ...newRun(runId, { plan: planOf([id]) }),
  digest: '',
  status: 'live',
  phase: 'after',
  acted: true,
  newcomers: [],
});

const goOn = async () => undefined;

/** Comes to an instance as before-deploy does. */
const come = async (run: string, id: string) => {
  const { claimed } = await claimInstance(run, id, claimOf(id), false, NOW);
  if (claimed) await enableSuppression([id], 600, run);
  return claimed;
};

/** Releases an instance as after-deploy does, as often as it is told that it has to try again. */
const release = (run: string, id: string) => async () => {
  for (let tries = 1; ; tries++) {
    const refused = await releaseSuppression(runOf(run, id), await findInstances([id]), goOn);
    if (refused.length === 0) return tries;
  }
};

/** Releases it and, once the release is observed, ends its claim. */
const leave = (run: string, id: string) => async () => {
  await release(run, id)();
  await endClaims(run, await findInstances([id]));
};

async function suppressedBy(runs: readonly string[]): Promise<string> {
  const id = freshId();
  await ledger.as(async () => {
    for (const run of runs) expect(await come(run, id)).toBe(true);
  });
  told.delete(id);
  return id;
}

const isRecorded = (id: string) => ledger.as(async () => (await findInstances([id])).has(id));

test('R-SERIAL: of two runs that release at once exactly one disables the suppression, in whatever order', async () => {
  const orders = await inEveryOrder(async choose => {
    const id = await suppressedBy(['a', 'b']);
    const tries = await ledger.interleaved(
      ['a', 'b'].map(run => release(run, id)),
      choose,
    );
    expect(told.get(id)).toEqual(['disabled']);
    expect(Math.max(...tries)).toBeLessThanOrEqual(2);
  });
  expect(orders).toBeGreaterThan(5);
});

const randomly = (stream: fc.Stream<number>): Choose => {
  return options => (stream.next().value ?? 0) % options;
};

test('invariant 4: however many runs leave an instance at once, its suppression and its record are gone after them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 4 }), fc.infiniteStream(fc.nat()), async (size, stream) => {
      const runs = ['a', 'b', 'c', 'd'].slice(0, size);
      const id = await suppressedBy(runs);
      await ledger.interleaved(
        runs.map(run => leave(run, id)),
        randomly(stream),
      );
      expect(told.get(id)).toEqual(['disabled']);
      expect(await isRecorded(id)).toBe(false);
    }),
    { numRuns: 40 },
  );
});

test('R-TTL, D7: a run that comes while the last one leaves is never stripped of its suppression, in whatever order', async () => {
  let comers = 0;
  await inEveryOrder(async choose => {
    const id = await suppressedBy(['a']);
    const [, came] = await ledger.interleaved<unknown>([leave('a', id), () => come('b', id)], choose);
    if (came) {
      comers++;
      expect(told.get(id)?.at(-1)).toBe('enabled');
      expect(
        await ledger.as(async () => [...((await findInstances([id])).get(id)?.claims.keys() ?? [])]),
      ).toEqual(['b']);
    } else {
      expect(told.get(id)).toEqual(['disabled']);
      expect(await isRecorded(id)).toBe(false);
    }
  });
  expect(comers).toBeGreaterThan(0);
});

test('invariant 4: a run that only waited keeps what was left to it in a moment of claiming, in whatever order', async () => {
  let kept = 0;
  await inEveryOrder(async choose => {
    const id = await suppressedBy(['a']);
    const wait = async () => {
      const { claimed } = await claimInstance('b', id, claimOf(id), false, NOW);
      return claimed && (await dropClaims('b', await findInstances([id])));
    };
    const [, stays] = await ledger.interleaved<unknown>([leave('a', id), wait], choose);
    if (stays) {
      kept++;
      expect(told.get(id)).toBeUndefined();
      await ledger.as(leave('b', id));
    }
    expect(told.get(id)).toEqual(['disabled']);
    expect(await isRecorded(id)).toBe(false);
  });
  expect(kept).toBeGreaterThan(0);
});
