import { setting } from '../settings.ts';

/**
 * How long an application may take to be ready, unless HookPolicy says otherwise. Ours: it counts before the traffic, in it and
 * after it, and all of after-deploy has to end within one lifecycle event (R-BUDGET).
 */
const READY_SECONDS = 600;

/** The policy of runs that hooks begin: the stack's parameter HookPolicy, and what it leaves out. */
export const hookPolicy = (): object => ({
  readySeconds: READY_SECONDS,
  ...JSON.parse(setting('HOOK_POLICY')),
});
