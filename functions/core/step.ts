import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import { ObservationPending, Refusal } from './errors.ts';
import { type LogEvent, logEvents } from './log-events.ts';
import { readRequest } from './request.ts';

export const logger = new Logger({ serviceName: 'quiesce' });

/** One log line for a transition. Ids of runs and counts, never data of the people behind them. */
export const say = (event: LogEvent, details: Readonly<Record<string, unknown>>): void =>
  logger.info(event, { event, ...details });

/**
 * Lambda's own time-out ends a function, and whatever it had begun with it (D5). With an early answer of middy's the
 * environment would be frozen and go on in a later invocation, and the error would be one that no retrier knows.
 */
export const PLATFORM_TIMEOUT = { timeoutEarlyInMillis: 0 };

/** Every error is logged once, here, and thrown on: retriers, Catch and alarms depend on it (R-SWALLOW). */
const saysErrors: MiddlewareObj<unknown, unknown> = {
  onError: ({ error }) => {
    // A turn that is waited for by a retrier: nothing has gone wrong.
    if (error instanceof ObservationPending)
      return say(logEvents.observationPending, { reason: error.message });
    const event = error instanceof Refusal ? logEvents.stepRefused : logEvents.stepFailed;
    logger.error(event, { event, error: error as Error });
  },
};

/**
 * The one wrapper of every function of a machine: reads its payload, does one thing, answers.
 *
 * @param act - hears also the id of the invocation, which Lambda's retry of an asynchronous one carries again
 * @throws InvalidRequest when the payload is not what `schema` says, naming each field
 */
export function step<S extends z.core.$ZodType, R>(
  schema: S,
  act: (payload: z.output<S>, requestId: string) => Promise<R>,
) {
  return middy<unknown, R, Error, Context>(PLATFORM_TIMEOUT)
    .use(injectLambdaContext(logger))
    .use(saysErrors)
    .handler(async (payload, { awsRequestId }) => act(readRequest(schema, payload), awsRequestId));
}
