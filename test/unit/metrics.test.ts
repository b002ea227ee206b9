// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { expect, test } from 'vitest';
import { type Measure, record } from '../../functions/core/metrics.ts';
import { captureOutput } from '../../local/stack/captured-output.ts';
import { createLedger } from './helpers/ledger.ts';

test('however many values there are, each line has its dimensions, and none is lost', async () => {
  const { as } = await createLedger();
  const place = { target_group: 'web', az: 'eu-west-1a' };
  const latencies = Array.from(
    { length: 250 },
    (_, value): Measure => ({ metric: 'health_check_latency_seconds', value, ...place }),
  );
  const lines: Readonly<Record<string, unknown>>[] = [];
  const take = (text: string) => void lines.push(JSON.parse(text));
  await captureOutput(take, () =>
    as(async () => record([{ metric: 'health_check_total', value: 9, ...place }, ...latencies])),
  );
  expect(lines.map(({ target_group, az }) => ({ target_group, az }))).toEqual([place, place, place]);
  expect(lines.flatMap(line => line.health_check_latency_seconds)).toEqual(latencies.map(one => one.value));
  expect(lines.map(line => line.health_check_total)).toEqual([9, undefined, undefined]);
});
