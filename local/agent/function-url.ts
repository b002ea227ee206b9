import type { APIGatewayProxyEventV2WithIAMAuthorizer } from 'aws-lambda';
import { z } from 'zod';
import { uuid } from '../account/uuid.ts';
import type { World } from '../account/world.ts';
import type { DeployedFunction } from '../stack/deployed-template.ts';
import type { Lambda } from '../stack/lambda.ts';
import { TaskFailure } from '../states/failure.ts';
import type { RoleSession, RoleSessions } from './instance-role.ts';
import { type Loopback, type LoopbackAnswer, type LoopbackRequest, serveLoopback } from './loopback.ts';
import { claimOf, isSignedWith } from './request-signature.ts';

export interface FunctionUrlSettings {
  readonly world: World;
  readonly lambda: Pick<Lambda, 'invoke'>;
  /** The function, which has a URL with AuthType AWS_IAM. */
  readonly served: DeployedFunction;
  readonly sessions: RoleSessions;
  /** Lets virtual time pass while the instance waits for the answer. */
  readonly waiting: <T>(instanceId: string, work: () => Promise<T>) => Promise<T>;
}

/**
 * Serves a function's URL on the loopback interface. Lambda's authorizer is real in what it checks of the caller: the
 * signature, and whose key made it. Of the instances' roles no policies are known: every instance may call.
 *
 * @throws Error when the function has no URL with AuthType AWS_IAM
 */
export async function serveFunctionUrl(settings: FunctionUrlSettings): Promise<Loopback> {
  const { served, world } = settings;
  if (served.url?.authType !== 'AWS_IAM')
    throw new Error(`${served.logicalId} has no function URL with AuthType AWS_IAM`);
  return serveLoopback(
    async request => {
      const caller = await authenticate(settings, request);
      return typeof caller === 'string' ? forbidden(caller) : invoke(settings, request, caller);
    },
    error => world.clock.fail(error),
  );
}

/** The caller, or why there is none. */
async function authenticate(
  { sessions, world }: FunctionUrlSettings,
  request: LoopbackRequest,
): Promise<RoleSession | string> {
  const claim = claimOf(request.headers.authorization);
  if (!claim) return 'Forbidden';
  const session = sessions.byAccessKey(claim.accessKeyId);
  if (!session || request.headers['x-amz-security-token'] !== session.sessionToken)
    return 'The security token included in the request is invalid.';
  if (claim.service !== 'lambda' || claim.region !== world.region)
    return `Credential should be scoped to service 'lambda' in region '${world.region}'.`;
  if (await isSignedWith(session, claim, request)) return session;
  return 'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';
}

const forbidden = (message: string): LoopbackAnswer => ({
  status: 403,
  headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'AccessDeniedException' },
  body: JSON.stringify({ Message: message }),
});

const structured = z.object({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
  isBase64Encoded: z.literal(false).optional(),
});

async function invoke(
  settings: FunctionUrlSettings,
  request: LoopbackRequest,
  caller: RoleSession,
): Promise<LoopbackAnswer> {
  const { lambda, served, waiting } = settings;
  const event = urlEvent(settings, request, caller);
  try {
    const answer = await waiting(caller.instanceId, () =>
      lambda.invoke(served.aliasArn ?? served.arn, event),
    );
    const { statusCode: status, headers, body } = structured.parse(answer);
    return { status, headers, body };
  } catch (error) {
    if (!(error instanceof TaskFailure)) throw error;
    return { status: 502, body: 'Internal Server Error' };
  }
}

/** Payload format 2.0, as the guide shows it for AWS_IAM. */
export function urlEvent(
  { world, served }: Pick<FunctionUrlSettings, 'world' | 'served'>,
  { method, target, headers, body }: LoopbackRequest,
  { accessKeyId, role, instanceId }: RoleSession,
): APIGatewayProxyEventV2WithIAMAuthorizer {
  const { accountId, partition, clock, random } = world;
  const domainName = new URL(served.url?.url ?? '').hostname;
  const urlId = domainName.split('.')[0] ?? '';
  const [path = '/', query = ''] = target.split('?');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: { ...headers, host: domainName },
    body,
    isBase64Encoded: false,
    requestContext: {
      accountId,
      apiId: urlId,
      domainName,
      domainPrefix: urlId,
      http: {
        method,
        path,
        protocol: 'HTTP/1.1',
        sourceIp: '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: uuid(random.fork(`url-${accessKeyId}-${clock.now()}`)),
      routeKey: '$default',
      stage: '$default',
      time: clock.date().toUTCString(),
      timeEpoch: clock.now(),
      authorizer: {
        iam: {
          accessKey: accessKeyId,
          accountId,
          callerId: `${role.id}:${instanceId}`,
          cognitoIdentity: null,
          principalOrgId: '',
          userArn: `arn:${partition}:sts::${accountId}:assumed-role/${role.name}/${instanceId}`,
          userId: `${role.id}:${instanceId}`,
        },
      },
    },
  };
}
