import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { costOf } from '../timeline/phases.ts';
import { counted, grouped } from './format.ts';

/** What executions cost, by their histories. */
export interface ExecutionCost {
  readonly stateTransitions: number;
  readonly stateTransitionsUsDollars: number;
  readonly lambdaInvocations: number;
  /** From each invocation's start to its answer, summed: what is billed is a little less. */
  readonly lambdaSeconds: number;
}

/** Step Functions' price of Standard workflows: 0.025 US dollars per 1,000 state transitions (us-east-1, after the free tier). */
const US_DOLLARS_A_TRANSITION = 0.025 / 1000;

export function executionCost(histories: readonly (readonly HistoryEvent[])[]): ExecutionCost {
  const { stateTransitions, lambdaInvocations } = costOf(histories);
  return {
    stateTransitions,
    stateTransitionsUsDollars: stateTransitions * US_DOLLARS_A_TRANSITION,
    lambdaInvocations,
    lambdaSeconds: histories.reduce((sum, events) => sum + lambdaMs(events), 0) / 1000,
  };
}

export const costLines = (cost: ExecutionCost): string[] => [
  `${grouped(cost.stateTransitions)} state transitions: ${cost.stateTransitionsUsDollars.toFixed(4)} US dollars`,
  `${counted(cost.lambdaInvocations, 'invocation')} of Lambda functions: ${cost.lambdaSeconds.toFixed(1)} s`,
];

function lambdaMs(events: readonly HistoryEvent[]): number {
  const startedAt = new Map(
    events.flatMap(event =>
      event.type === 'TaskStarted' ? [[event.id, event.timestamp?.getTime() ?? 0] as const] : [],
    ),
  );
  return events.reduce((sum, event) => {
    const { taskSucceededEventDetails: good, taskFailedEventDetails: bad, previousEventId } = event;
    const began = (good ?? bad)?.resourceType === 'lambda' ? startedAt.get(previousEventId) : undefined;
    return sum + (began === undefined ? 0 : (event.timestamp?.getTime() ?? 0) - began);
  }, 0);
}
