import { AutoScalingClient } from '@aws-sdk/client-auto-scaling';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CodeDeployClient } from '@aws-sdk/client-codedeploy';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EC2Client, type EC2ClientConfig } from '@aws-sdk/client-ec2';
import { ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import type { NodeJsClient } from '@smithy/types';

/**
 * One SDK client a service, made at its first use. Import what you need by name or as `* as clients`: an object of all of
 * them would put all services into every function's bundle.
 */
export const autoScaling = /* @__PURE__ */ lazily(settings => new AutoScalingClient(settings));
export const cloudWatch = /* @__PURE__ */ lazily(settings => new CloudWatchClient(settings));
export const codeDeploy = /* @__PURE__ */ lazily(settings => new CodeDeployClient(settings));
export const dynamoDb = /* @__PURE__ */ lazily(settings => new DynamoDBClient(settings));
export const ec2 = /* @__PURE__ */ lazily(settings => new EC2Client(settings));
export const elasticLoadBalancing = /* @__PURE__ */ lazily(s => new ElasticLoadBalancingV2Client(s));
export const s3 = /* @__PURE__ */ lazily(settings => new S3Client(settings) as NodeJsClient<S3Client>);
export const stepFunctions = /* @__PURE__ */ lazily(settings => new SFNClient(settings));

/** What stands between a client and the service that answers it. */
type Connection = Pick<EC2ClientConfig, 'requestHandler' | 'signer'>;

interface Settings extends Connection {
  readonly maxAttempts: number;
  readonly retryMode: string;
  readonly userAgentAppId: string;
}

/**
 * The connection found at `globalThis[Symbol.for('quiesce.connection')]`, in place of the network: that is how the
 * embedded account answers the very clients that the deployed functions use.
 */
function embedded(): Connection | undefined {
  return Reflect.get(globalThis, Symbol.for('quiesce.connection'));
}

/**
 * Without these a call to a service that accepts and stays silent lasts until the function's own time-out, which tells
 * nobody what was being done. Four attempts end within ACT_TIMEOUT_SECONDS.
 */
const NETWORK: Connection = {
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
};

function lazily<C>(make: (settings: Settings) => C): () => C {
  let made: { readonly client: C; readonly over: Connection } | undefined;
  return () => {
    const over = embedded() ?? NETWORK;
    if (made?.over !== over) made = { client: make({ ...SETTINGS, ...over }), over };
    return made.client;
  };
}

const SETTINGS = {
  maxAttempts: 4,
  // Standard: exponential backoff with full jitter, throttles from one second on. Not adaptive: its rate limiter is a
  // guess from the last half second of this one process. In a function that has just started, that is a rate of nearly
  // zero, so the first throttle holds every later call of the client, whatever the API, to one in two seconds, asleep
  // inside the function. Pacing is the machines', by the account's published buckets.
  retryMode: 'standard',
  userAgentAppId: 'quiesce',
};
