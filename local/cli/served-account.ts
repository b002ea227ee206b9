import type { Entry } from '../account/journal.ts';
import type { Scenario } from '../simulate/scenario.ts';
import { type Standing, standUp, startTraffic } from '../simulate/simulation.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Call, Gate } from '../wire/contract.ts';
import { keepPace, type Pace } from './pace.ts';

export interface ServeSettings {
  readonly scenario: Scenario;
  /** 0 for a free one. */
  readonly port: number;
  readonly pace: Pace;
  /** When the account begins, in milliseconds since the epoch. */
  readonly startsAt?: number;
  readonly hear?: (entry: Entry) => void;
  /** Of the template, instead of their defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Hears every call that comes over the port, before it is answered. */
  readonly called?: (call: Call) => void;
}

export interface ServedAccount {
  readonly url: string;
  readonly standing: Standing;
  readonly stack: Stack;
  /** Settles when the account is closed. @throws what happens in it unexpectedly */
  readonly running: Promise<void>;
  close(): Promise<void>;
}

/** A scenario's fleet with Quiesce deployed beside it, answering on a loopback port while its time passes. */
export async function serveAccount(settings: ServeSettings): Promise<ServedAccount> {
  const { scenario, port, pace, startsAt, hear, parameters, called } = settings;
  const outside: Gate = {
    before(call) {
      if (call.caller.kind === 'operator') called?.(call);
    },
  };
  const standing = await standUp({
    scenario,
    gates: () => [outside],
    ...(startsAt !== undefined && { startsAt }),
    ...(hear && { hear }),
    ...(parameters && { parameters }),
  });
  const { account, stack, fleet } = standing;
  if (!stack) throw new Error('Quiesce was not deployed');
  const { clock, journal } = account.world;
  const busy = new Set<string>();
  journal.listen(entry => {
    if (entry.type !== 'execution') return;
    if (entry.status === 'RUNNING') busy.add(entry.executionArn);
    else busy.delete(entry.executionArn);
  });

  const listening = await stack.wire.listen(port);
  startTraffic(account, fleet, scenario);
  const stop = new AbortController();
  const running = keepPace({ clock, pace, isBusy: () => busy.size > 0, signal: stop.signal });
  return {
    url: listening.url,
    standing,
    stack,
    running,
    async close() {
      stop.abort();
      await running;
      account.traffic.stop();
      await listening.close();
    },
  };
}
