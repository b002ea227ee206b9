import type { Execution } from '../../../local/states/execution.ts';
import type { Bracket } from './bracket.ts';

const MINUTE = 60_000;

/** Somebody lifts the suppression while it spreads, so that before-deploy gives up when the budget of its lead is spent. */
export async function failBefore(of: Bracket): Promise<Execution> {
  const before = of.startBefore();
  await of.clock.pass(MINUTE);
  of.liftByHand(of.ids(0));
  await of.end(before);
  return before;
}
