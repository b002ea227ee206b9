import { describeExecution, startExecution } from '../aws/step-functions.ts';
import { isSent } from '../ledger/resource-requests.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { readOr } from './properties.ts';
import { type ResourceRequest, resourceRequest } from './request.ts';

/** Has a machine serve the request. One that comes twice is served once (R-IDEMP). */
export const receive = (request: ResourceRequest): Promise<'started' | 'exists'> =>
  startExecution(setting('SERVE_RESOURCE_ARN'), executionName('resource', request.RequestId), request);

/**
 * Has a request answered whose execution has ended without doing so: it was stopped, has timed out, or could not reach the
 * ledger. One that was started for that alone is not repeated (R-LOOP): CloudFormation has a time-out of its own.
 *
 * @returns the request that is answered now
 */
export async function answerCutOff(executionArn: string): Promise<ResourceRequest | undefined> {
  const execution = await describeExecution(executionArn);
  const request = readOr(resourceRequest, JSON.parse(execution?.input ?? '{}'));
  if (!execution || !request || request.ended || (await isSent(request.RequestId))) return undefined;
  const { status, error, cause } = execution;
  const ended = { error: error || status, cause: cause || `${executionArn} ended as ${status}.` };
  const name = executionName('answer', request.RequestId);
  await startExecution(setting('SERVE_RESOURCE_ARN'), name, { ...request, ended });
  return request;
}
