import { goals } from '../../functions/core/domain/goals.ts';
import type { DeployedTemplate } from '../stack/deployed-template.ts';
import { isObject } from '../states/json.ts';
import type { Step } from './call-bound.ts';
import type { Invocation } from './call-log.ts';

/** The logical id of the function that was invoked. */
export function functionOf({ functionArn }: Invocation, { functions }: DeployedTemplate): string {
  for (const { logicalId, arn, versionArn, aliasArn } of functions.values())
    if ([arn, versionArn, aliasArn].includes(functionArn)) return logicalId;
  throw new Error(`the template has no function ${functionArn}`);
}

/** Which act or look of a run an invocation was. @throws Error on one that belongs to no run that succeeds */
export function stepOf(invocation: Invocation, template: DeployedTemplate): Step {
  const payload = isObject(invocation.payload) ? invocation.payload : {};
  const name = functionOf(invocation, template);
  switch (name) {
    case 'PlanFunction':
      return { kind: payload.phase === 'before' ? 'plan' : 'resume' };
    case 'SuppressFunction':
      return { kind: 'suppress' };
    case 'DeregisterFunction':
      return { kind: 'deregister' };
    case 'RegisterFunction':
      return { kind: 'register' };
    case 'ReleaseFunction':
      return { kind: 'release' };
    case 'ConcludeFunction':
      return { kind: payload.outcome === 'go-ahead' ? 'go-ahead' : 'succeed' };
    case 'ObserveFunction': {
      const { goals: asked } = payload;
      return { kind: 'look', goals: goals.filter(goal => Array.isArray(asked) && asked.includes(goal)) };
    }
  }
  throw new Error(`${name} is no step of a run that succeeds`);
}
