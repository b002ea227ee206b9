import { Random } from '../clock/random.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import { Journal } from './journal.ts';
import { measuredPhysics, type Physics } from './physics.ts';

/** What every simulated service shares. */
export interface World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly physics: Physics;
  readonly journal: Journal;
  readonly partition: string;
  readonly region: string;
  readonly accountId: string;
}

export interface WorldSettings {
  readonly seed?: number;
  readonly physics?: Partial<Physics>;
  readonly startsAt?: number;
}

export function createWorld({ seed = 1, physics = {}, startsAt }: WorldSettings = {}): World {
  const clock = new VirtualClock(startsAt);
  return {
    clock,
    random: new Random(seed),
    physics: { ...measuredPhysics, ...physics },
    journal: new Journal(() => clock.now()),
    partition: 'aws',
    region: 'eu-west-1',
    // AWS's documentation account.
    accountId: '111122223333',
  };
}
