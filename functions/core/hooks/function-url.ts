import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import type {
  APIGatewayProxyEventV2WithIAMAuthorizer,
  APIGatewayProxyStructuredResultV2,
  Context,
} from 'aws-lambda';
import * as z from 'zod/mini';
import { failed, type HookAnswer } from '../domain/hook-answer.ts';
import { callingInstance } from '../domain/hook-caller.ts';
import { HookRefused, InvalidRequest, Refusal } from '../errors.ts';
import { logEvents } from '../log-events.ts';
import { readRequest } from '../request.ts';
import { logger, PLATFORM_TIMEOUT } from '../step.ts';
import type { HookCall } from './answer-hook.ts';

/** The lifecycle events of a deployment to EC2 that run scripts (CodeDeploy's guide, AppSpec hooks). */
const SCRIPTED_EVENTS = [
  'BeforeBlockTraffic',
  'AfterBlockTraffic',
  'ApplicationStop',
  'BeforeInstall',
  'AfterInstall',
  'ApplicationStart',
  'ValidateService',
  'BeforeAllowTraffic',
  'AfterAllowTraffic',
] as const;

const hookCall = z.strictObject({
  act: z.enum(['before', 'gate', 'after']),
  deploymentId: z.string().check(z.regex(/^d-[0-9A-Z]+$/, 'is not a deployment id')),
  lifecycleEvent: z.enum(SCRIPTED_EVENTS),
  instanceId: z.string().check(z.regex(/^i-[0-9a-f]{8,17}$/, 'is not an instance id')),
});

type UrlEvent = APIGatewayProxyEventV2WithIAMAuthorizer;

/**
 * The wrapper of the hook's function URL: knows the caller by the credentials that signed the call, reads the body, answers.
 * A refusal is a 403 with its sentence, since the script has to stop; every other error is thrown on.
 */
export function functionUrl(answer: (call: HookCall) => Promise<HookAnswer>) {
  return middy<UrlEvent, APIGatewayProxyStructuredResultV2, Error, Context>(PLATFORM_TIMEOUT)
    .use(injectLambdaContext(logger))
    .handler(async event => {
      try {
        const call = readRequest(hookCall, bodyOf(event));
        refuseOthers(event, call.instanceId);
        return respond(200, await answer(call));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        logger.warn(logEvents.hookRefused, { event: logEvents.hookRefused, error });
        return respond(403, { ...failed(error.message), error: error.name });
      }
    });
}

/** The caller is authenticated, not believed (D9): only the instance itself may speak for the instance. */
function refuseOthers(event: UrlEvent, instanceId: string): void {
  const caller = callingInstance({ userId: event.requestContext.authorizer?.iam?.userId ?? '' });
  if (caller !== instanceId)
    throw new HookRefused(
      `The call was not signed by ${instanceId} with the credentials of its instance profile.`,
    );
}

function bodyOf({ body, isBase64Encoded }: UrlEvent): unknown {
  const text = isBase64Encoded ? Buffer.from(body ?? '', 'base64').toString() : (body ?? '');
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidRequest('The body of the request is not JSON.');
  }
}

const respond = (statusCode: number, body: object): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
