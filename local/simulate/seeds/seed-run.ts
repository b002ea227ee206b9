import { FAULT_PROFILES, type FaultProfile } from '../fault-spec.ts';
import { type Attempt, attempt } from './attempt.ts';
import { generate } from './generate.ts';

/** One seed, and the faults that it is simulated with. */
export interface SeedTask {
  readonly seed: number;
  readonly profile: FaultProfile;
}

export interface SeedResult extends SeedTask, Attempt {}

export const PROFILES = Object.keys(FAULT_PROFILES) as readonly FaultProfile[];

/** Seeds from `from` on, all with one profile, or with each profile in turn. */
export function tasksFor(from: number, count: number, profile: FaultProfile | 'each'): readonly SeedTask[] {
  return Array.from({ length: count }, (_, index) => {
    const seed = from + index;
    return { seed, profile: profile === 'each' ? (PROFILES[seed % PROFILES.length] ?? 'none') : profile };
  });
}

export async function runSeed({ seed, profile }: SeedTask): Promise<SeedResult> {
  return { seed, profile, ...(await attempt(generate(seed, profile))) };
}
