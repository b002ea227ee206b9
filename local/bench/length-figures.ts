import { paceLimits } from '../../functions/core/domain/pace.ts';
import type { Figure } from './figures.ts';
import { type Milestones, secondsOf } from './milestones.ts';

/** A phase may be longer than what it waits for by this, and by one poll. */
const LENGTH_RATIO = 1.05;

/**
 * How long both phases lasted against what AWS made them wait for: before-deploy for suppression to spread while targets
 * drain; after-deploy for readiness, then for the registration while evidence comes in, then for the release.
 */
export function lengthFigures(run: Milestones): Figure[] {
  const back = Math.max(
    secondsOf(run.registration),
    secondsOf({ from: run.registration.from, to: run.evidence.to }),
  );
  return [
    beyondOnePoll(
      'before-deploy',
      secondsOf(run.before),
      Math.max(secondsOf(run.propagation), secondsOf(run.drain)),
    ),
    waitedFor('  propagation', secondsOf(run.propagation)),
    waitedFor('  drain', secondsOf(run.drain)),
    beyondOnePoll(
      'after-deploy',
      secondsOf(run.after),
      secondsOf(run.readiness) + back + secondsOf(run.release),
    ),
    waitedFor('  readiness', secondsOf(run.readiness)),
    waitedFor('  registration', secondsOf(run.registration)),
    waitedFor('  registration and evidence', back),
    waitedFor('  release', secondsOf(run.release)),
  ];
}

const beyondOnePoll = (name: string, measured: number, bound: number): Figure => ({
  name,
  measured,
  unit: 's',
  bound,
  ratio: (measured - paceLimits.shortestSeconds) / bound,
  goal: { of: 'ratio', atMost: LENGTH_RATIO },
  note: 'ratio beyond one poll',
});

const waitedFor = (name: string, measured: number): Figure => ({ name, measured, unit: 's' });
