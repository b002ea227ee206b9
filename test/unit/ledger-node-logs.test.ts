import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { keepNodeLog, type NodeLog, nodeLog, nodeLogs } from '../../functions/core/ledger/node-logs.ts';
import { get, remove } from '../../functions/core/ledger/table.ts';
import { createLedger, inEveryOrder, NOW } from './helpers/ledger.ts';

const BALANCER = 'app.web.50dc6c495c0c9188';
const log = (tag: string): NodeLog => ({
  endsAt: NOW * 1000,
  files: [{ tag, countedBy: 'invocation' }],
  failing: [],
  slowest: [],
});

/** As the function does for a file: reads, then writes on. */
async function keep(node: string, file: string): Promise<boolean> {
  return keepNodeLog(BALANCER, node, log(file), await nodeLog(BALANCER, node));
}

test('each node is found by its load balancer, and one that is gone is not', async () => {
  const { as } = await createLedger();
  expect(await as(() => nodeLogs(BALANCER))).toEqual(new Map());
  for (const node of ['10.0.0.7', '10.0.1.7', '10.0.2.7']) await as(() => keep(node, node));
  await as(() => keep('10.0.0.7', 'later'));
  await as(() => remove(`healthlog#${BALANCER}#10.0.2.7`, {}));
  expect(await as(() => nodeLogs(BALANCER))).toEqual(
    new Map([
      ['10.0.0.7', log('later')],
      ['10.0.1.7', log('10.0.1.7')],
    ]),
  );
  expect(await as(() => nodeLogs('app.api.1'))).toEqual(new Map());
});

test('R-IDEMP: of two files of a node at once one is kept, and the other is told so, in every order', async () => {
  const orders = await inEveryOrder(async choose => {
    const { as, interleaved } = await createLedger();
    const kept = await interleaved([() => keep('10.0.0.7', 'one'), () => keep('10.0.0.7', 'other')], choose);
    const { log: found, revision } = await as(() => nodeLog(BALANCER, '10.0.0.7'));
    expect(revision).toBe(kept.filter(Boolean).length);
    expect(kept).toContain(true);
    expect(['one', 'other']).toContain(found?.files[0]?.tag);
  });
  expect(orders).toBeGreaterThan(5);
});

test('a node of which nothing is heard for a day is listed no more, and the list itself ends', async () => {
  const { as } = await createLedger();
  const listed = async () => Object.keys((await as(() => get(`healthlog#${BALANCER}`))) ?? {}).sort();
  for (const node of ['10.0.0.7', '10.0.0.8', '10.0.1.7']) await as(() => keep(node, node));
  await as(() => sleep(43_200_000));
  await as(() => keep('10.0.1.7', 'later'));
  await as(() => sleep(43_201_000));
  expect(await listed()).toEqual(['expiresAt', 'node#10.0.0.7', 'node#10.0.0.8', 'node#10.0.1.7', 'pk']);
  await as(() => keep('10.0.2.7', 'new'));
  expect(await listed()).toEqual(['expiresAt', 'node#10.0.1.7', 'node#10.0.2.7', 'pk']);
});
