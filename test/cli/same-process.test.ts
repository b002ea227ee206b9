import { expect, test } from 'vitest';
import type { Entry } from '../../local/account/journal.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';

const scenario = parseScenario(
  `
name: twice
fleet:
  instances: 4
  targetGroups: [{ name: web, port: 8080, traffic: { requestsPerSecond: 10 } }]
  checks: [{ port: 8080 }]
deployment: { batches: half, downSeconds: 60 }
`,
  'twice.yaml',
);

/** Refuses so many calls that an SDK client runs out of its budget of retries. */
function throttling(): Gate {
  let calls = 0;
  return {
    before({ service }) {
      if (service === 'ec2' && calls++ % 3 !== 0)
        throw new ServiceError('RequestLimitExceeded', 'Request limit exceeded.', 503);
    },
  };
}

async function journalOf(seed: number): Promise<readonly Entry[]> {
  const { account } = await simulate({ scenario, seed, gates: () => [throttling()] });
  return account.world.journal.entries;
}

test('a simulation is the same whatever this process has simulated before', async () => {
  const first = await journalOf(1);
  await journalOf(2);
  expect(await journalOf(1)).toEqual(first);
});
