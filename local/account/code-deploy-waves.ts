import type { DeploymentTarget } from './code-deploy-deployment.ts';

export interface WavesSettings {
  readonly targets: readonly DeploymentTarget[];
  /** How many have to stay healthy. */
  readonly floor: number;
  /** Did the last deployment to it fail? */
  readonly isUnhealthy: (target: DeploymentTarget) => boolean;
  readonly isLive: () => boolean;
  /** Resolves when the target has ended. */
  readonly run: (target: DeploymentTarget) => Promise<void>;
}

/**
 * Runs the targets, at each moment as many as the healthy floor allows: unhealthy ones first, since they do not count.
 *
 * @returns the targets that were never begun, because too many others had failed or the deployment was ended
 */
export async function runWaves(settings: WavesSettings): Promise<readonly DeploymentTarget[]> {
  const { targets, floor, isUnhealthy, isLive, run } = settings;
  const unhealthy = targets.filter(isUnhealthy);
  const waiting = [...unhealthy, ...targets.filter(target => !unhealthy.includes(target))];
  const healthy = new Set(targets.filter(target => !unhealthy.includes(target)));
  const running = new Set<Promise<void>>();

  const mayBegin = (target: DeploymentTarget) => !healthy.has(target) || healthy.size > floor;
  const begin = (target: DeploymentTarget) => {
    healthy.delete(target);
    const passage = run(target).then(() => {
      running.delete(passage);
      if (target.status === 'Succeeded') healthy.add(target);
    });
    running.add(passage);
  };

  for (;;) {
    for (let next = waiting[0]; next && isLive() && mayBegin(next); next = waiting[0]) {
      waiting.shift();
      begin(next);
    }
    if (running.size === 0) return waiting;
    await Promise.race(running);
  }
}
