import type * as z from 'zod/mini';
import { composeOnAdoption, rememberOnAdoption } from '../core/adopt/tell.ts';
import { compose, remember } from '../core/bracket/tell.ts';
import { logEvents } from '../core/log-events.ts';
import { composeOnDemotion, rememberOnDemotion } from '../core/loops/tell.ts';
import { tellPayload } from '../core/payloads.ts';
import { composeOnRetirement, rememberOnRetirement } from '../core/retire/tell.ts';
import { say, step } from '../core/step.ts';

type Telling = z.output<typeof tellPayload>;

/**
 * Says what people are to be told of a failed run, adoption or retirement, of a demoted check, or of an alarm, and writes down that they
 * were.
 */
export const handler = step<typeof tellPayload, unknown>(tellPayload, async payload => {
  if ('alarm' in payload) return tellOfAlarm(payload);
  if ('checkId' in payload) return tellOfDemotion(payload);
  if ('retirement' in payload) return tellOfRetirement(payload);
  return 'runId' in payload ? tellOfRun(payload) : tellOfAdoption(payload);
});

/** By its execution's name it is told once; nothing of it is in the ledger. */
function tellOfAlarm(payload: Extract<Telling, { alarm: string }>) {
  const { phase, alarm, news } = payload;
  if (phase === 'compose') return { isNews: true, what: 'alarm', ...news };
  say(logEvents.alarmTold, { alarm });
  return { told: true };
}

async function tellOfRun(payload: Extract<Telling, { runId: string }>) {
  if (payload.phase === 'compose') return compose(payload.runId, payload);
  const { runId, what } = payload;
  const remembered = await remember(runId, what);
  say(logEvents.runTold, { runId, what });
  return remembered;
}

async function tellOfAdoption(payload: Extract<Telling, { group: string }>) {
  if (payload.phase === 'compose') return composeOnAdoption(payload, payload);
  const { group, what } = payload;
  const remembered = await rememberOnAdoption(group, what);
  say(logEvents.adoptionTold, { group, what });
  return remembered;
}

async function tellOfRetirement(payload: Extract<Telling, { retirement: string }>) {
  if (payload.phase === 'compose') return composeOnRetirement(payload, payload);
  const { retirement: subject, what } = payload;
  const remembered = await rememberOnRetirement(subject, what);
  say(logEvents.retirementTold, { subject, what });
  return remembered;
}

async function tellOfDemotion({ phase, checkId, what, at }: Extract<Telling, { checkId: string }>) {
  if (phase === 'compose') return composeOnDemotion(checkId, what, at);
  const remembered = await rememberOnDemotion(checkId, what);
  say(logEvents.demotionTold, { checkId, what });
  return remembered;
}
