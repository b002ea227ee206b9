// First, so that the SDK keeps the replaced timers and file reads.
import '../../../local/clock/lambda-globals.ts';
import { get } from '../../../functions/core/ledger/table.ts';
import { createWorld } from '../../../local/account/world.ts';
import { DynamoDb } from '../../../local/stack/dynamo-db.ts';
import type { Gate, Service } from '../../../local/wire/contract.ts';
import { runAs, type Transport } from '../../../local/wire/invocation.ts';
import { installProcessConnection } from '../../../local/wire/process-connection.ts';
import { createWire } from '../../../local/wire/wire.ts';

/** A fresh instant for a test: whole seconds since the epoch. */
export const NOW = 1_796_029_200;

export interface LedgerWorld {
  /** Does `work` as a function of the product would: its own clients, over the wire, to this ledger. */
  readonly as: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Does the works side by side. Whenever each has a call under way or is over, `choose` says which call is answered next.
   */
  readonly interleaved: <T>(works: readonly (() => Promise<T>)[], choose: Choose) => Promise<T[]>;
}

/** Answers the place, below `options`, of the call that goes next. */
export type Choose = (options: number) => number;

/** The product's ledger by the table of the local DynamoDB, with other services beside it. */
export async function createLedger(
  services: readonly Service[] = [],
  gates: readonly Gate[] = [],
): Promise<LedgerWorld> {
  const world = createWorld();
  const database = new DynamoDb(world.clock);
  await database.createTable({
    TableName: 'ledger',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  });
  Object.assign(process.env, {
    AWS_REGION: world.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LEDGER_TABLE: 'ledger',
  });
  installProcessConnection();
  const wire = createWire({ services: [database.service, ...services], gates, clock: world.clock });
  const caller = { kind: 'function', name: 'Tested' } as const;
  const over = <T>(transport: Transport, work: () => Promise<T>) =>
    runAs({ caller, world, random: world.random, transport }, work);
  // A client's first call loads modules, which the virtual clock does not know of.
  await over(wire.transport(caller), () => get('nothing'));
  return {
    as: work => world.clock.runFor(over(wire.transport(caller), work)),
    async interleaved(works, choose) {
      const turns = new Turns(works.length);
      const running = works.map((work, index) =>
        over(turns.before(index, wire.transport(caller)), work).finally(() => turns.end(index)),
      );
      const all = Promise.all(running);
      await Promise.race([all, turns.give(choose)]);
      return all;
    },
  };
}

/** Lets calls through one at a time. */
class Turns {
  readonly #open: Set<number>;
  readonly #waiting: { readonly of: number; readonly go: () => void }[] = [];
  #changed = () => {};

  constructor(count: number) {
    this.#open = new Set(Array.from({ length: count }, (_, index) => index));
  }

  before(of: number, transport: Transport): Transport {
    return {
      handle: async (request, options) => {
        await new Promise<void>(go => {
          this.#waiting.push({ of, go });
          this.#changed();
        });
        return transport.handle(request, options);
      },
    };
  }

  end(of: number): void {
    this.#open.delete(of);
    this.#changed();
  }

  async give(choose: Choose): Promise<void> {
    while (this.#open.size > 0) {
      const ready = new Set(this.#waiting.map(call => call.of));
      if ([...this.#open].some(of => !ready.has(of))) {
        await new Promise<void>(resolve => {
          this.#changed = resolve;
        });
        continue;
      }
      // In the works' order, so that a choice means the same every time.
      this.#waiting.sort((a, b) => a.of - b.of);
      const [next] = this.#waiting.splice(choose(this.#waiting.length), 1);
      next?.go();
      // The call that went is under way: its work is not waiting until it calls again or ends.
      await Promise.resolve();
    }
  }
}

/** Tries a scenario under every order in which its calls can be answered; answers with how many there are. */
export async function inEveryOrder(scenario: (choose: Choose) => Promise<void>): Promise<number> {
  let script: readonly number[] = [];
  for (let count = 1; ; count++) {
    const made: { readonly taken: number; readonly options: number }[] = [];
    await scenario(options => {
      const taken = script[made.length] ?? 0;
      made.push({ taken, options });
      return taken;
    });
    const last = made.findLastIndex(({ taken, options }) => taken + 1 < options);
    if (last < 0) return count;
    script = [...made.slice(0, last).map(({ taken }) => taken), (made[last]?.taken ?? 0) + 1];
  }
}
