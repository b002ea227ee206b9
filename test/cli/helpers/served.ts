import { afterAll, beforeAll } from 'vitest';
import type { Pace } from '../../../local/cli/pace.ts';
import { type Served, servedOf } from '../../../local/cli/serve-text.ts';
import { type ServedAccount, serveAccount } from '../../../local/cli/served-account.ts';
import { parseScenario } from '../../../local/simulate/scenario.ts';
import type { Call } from '../../../local/wire/contract.ts';
import { quiesceWith, type Ran } from './quiesce.ts';

export const SHOP = parseScenario(
  `
name: shop
fleet:
  instances: 4
  targetGroups:
    - { name: web, port: 8080, attributes: { deregistration_delay.timeout_seconds: "30" } }
  checks: [{ port: 8080 }]
`,
  'shop.yaml',
);

/** An account that is served to the command line for the tests of one file. */
export interface Shop {
  readonly account: ServedAccount;
  readonly told: Served;
  readonly instanceIds: readonly [string, string, string, string];
  readonly table: string;
  /** Every call that came over the port. */
  readonly calls: Call[];
  /** Runs the command line against the account. */
  quiesce(...args: readonly string[]): Promise<Ran>;
}

export function serveShop(
  pace: Pace = 'max',
  parameters: Readonly<Record<string, string>> = {},
  scenario = SHOP,
): () => Shop {
  let shop: Shop | undefined;
  beforeAll(async () => {
    const calls: Call[] = [];
    const called = (call: Call) => calls.push(call);
    const account = await serveAccount({ scenario, port: 0, pace, parameters, called });
    const told = servedOf(account, scenario, pace);
    const { QUIESCE_LEDGER_TABLE: table = '', QUIESCE_BEFORE_DEPLOY: _, ...env } = told.environment;
    const [a = '', b = '', c = '', d = ''] = told.instances.map(({ instanceId }) => instanceId);
    shop = {
      account,
      told,
      instanceIds: [a, b, c, d],
      table,
      calls,
      quiesce: (...args) => quiesceWith({ env }, ...args),
    };
  }, 30_000);
  afterAll(() => shop?.account.close());
  return () => {
    if (!shop) throw new Error('the account is not served yet');
    return shop;
  };
}
