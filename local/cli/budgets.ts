import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import type { Budgets } from '../../functions/core/domain/budgets.ts';
import type { PhaseName } from './phases.ts';

/** The budget of the plan that each phase may spend. The others last as long as one act, or as another run does. */
export const budgetOf: Partial<
  Record<PhaseName, keyof Budgets | 'promotion' | 'observeSeconds' | 'watchSeconds' | 'limitSeconds'>
> = {
  suppressing: 'lead',
  draining: 'traffic',
  deploying: 'deployment',
  ready: 'ready',
  'in service': 'inService',
  evidence: 'readyAgain',
  released: 'release',
  promotion: 'promotion',
  undoing: 'undo',
  sample: 'observeSeconds',
  'whole group': 'observeSeconds',
  watched: 'watchSeconds',
  'left behind': 'limitSeconds',
};

export type PlannedBudgets = Readonly<Partial<Record<string, number>>>;

/** Of a run, an adoption or a retirement. */
const planned = z.union([
  z.object({ budgets: z.record(z.string(), z.number()) }).transform(({ budgets }) => budgets),
  z.object({ observeSeconds: z.number(), watchSeconds: z.number() }),
  z.object({ limitSeconds: z.number() }),
]);

const resumed = z.object({
  readyDeadline: z.number(),
  inServiceDeadline: z.number(),
  evidenceDeadline: z.number(),
  releaseDeadline: z.number(),
  promotes: z.enum(['nothing', 'before-release', 'after-release']).optional(),
  promotionDeadline: z.number().optional(),
});

/** In seconds: what Plan answered, or what the deadlines come to that Resume set; undefined when neither has answered. */
export function plannedBudgets(history: readonly HistoryEvent[]): PlannedBudgets | undefined {
  const answerOf = (state: string) =>
    history.findLast(
      ({ stateExitedEventDetails: exit }) => exit?.name === state && exit.output !== undefined,
    );
  const plan = answerOf('Plan');
  if (plan) return planned.parse(outputOf(plan));
  const resume = answerOf('Resume');
  if (!resume) return undefined;
  const { readyDeadline, inServiceDeadline, evidenceDeadline, releaseDeadline, ...more } = resumed.parse(
    outputOf(resume),
  );
  const { promotes = 'nothing', promotionDeadline = inServiceDeadline } = more;
  const promotedAfter = promotes === 'after-release' ? releaseDeadline : inServiceDeadline;
  return {
    ready: Math.round(readyDeadline - (resume.timestamp?.getTime() ?? 0) / 1000),
    inService: inServiceDeadline - readyDeadline,
    readyAgain: evidenceDeadline - (promotes === 'before-release' ? promotionDeadline : inServiceDeadline),
    release: releaseDeadline - evidenceDeadline,
    ...(promotes !== 'nothing' && { promotion: promotionDeadline - promotedAfter }),
  };
}

const outputOf = (event: HistoryEvent): unknown => JSON.parse(event.stateExitedEventDetails?.output ?? '');
