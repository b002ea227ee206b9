import {
  DescribeLoadBalancersCommand,
  type LoadBalancer,
  ModifyLoadBalancerAttributesCommand,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  type LifecycleRule,
  type PolicyStatus,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketPolicyCommand,
  PutPublicAccessBlockCommand,
} from '@aws-sdk/client-s3';
import { given, send } from '../../functions/core/aws/call.ts';
import { elasticLoadBalancing, s3 } from '../../functions/core/aws/clients.ts';
import { AwsFailure, InvalidRequest } from '../../functions/core/errors.ts';
import type { FoundBucket, LogsStep, LogsWanted } from './logs-plan.ts';

export interface NamedLoadBalancer {
  readonly arn: string;
  readonly name: string;
}

/** Finds an Application Load Balancer by its ARN or its name. @throws InvalidRequest when it is no such one */
export async function findLoadBalancer(named: string): Promise<NamedLoadBalancer> {
  const action = 'elasticloadbalancing:DescribeLoadBalancers';
  const which = named.startsWith('arn:') ? { LoadBalancerArns: [named] } : { Names: [named] };
  const answer = await send(action, () =>
    elasticLoadBalancing().send(new DescribeLoadBalancersCommand(which)),
  ).catch(orNone<{ LoadBalancers?: LoadBalancer[] }>('LoadBalancerNotFound'));
  const [found] = answer?.LoadBalancers ?? [];
  if (!found) throw new InvalidRequest(`There is no load balancer ${named} in this account and Region.`);
  if (found.Type !== 'application')
    throw new InvalidRequest(
      `${named} is no Application Load Balancer: no other kind writes health check logs.`,
    );
  return {
    arn: given(found.LoadBalancerArn, action, 'LoadBalancerArn'),
    name: given(found.LoadBalancerName, action, 'LoadBalancerName'),
  };
}

/** The stack's own bucket is this account's: a name that can be guessed may be somebody else's. */
function bucketOf({ bucket: Bucket, own, loadBalancerArn }: LogsWanted) {
  const [, , , , account] = loadBalancerArn.split(':');
  return { Bucket, ...(own && { ExpectedBucketOwner: account }) };
}

/** What a bucket is set to; undefined when there is none of that name. */
export async function findBucket(wanted: LogsWanted): Promise<FoundBucket | undefined> {
  const { Bucket, ...owner } = bucketOf(wanted);
  const head = await send('s3:ListBucket', () => s3().send(new HeadBucketCommand({ Bucket, ...owner })))
    .catch(orNone<object>('NotFound'))
    .catch((error: unknown) => {
      // The answer to a HEAD has no body that could say it: 403 or 301.
      if (!(error instanceof AwsFailure)) throw error;
      throw new InvalidRequest(
        `Bucket ${Bucket} is there and may not be looked at: it is another account's, or in another Region. (${error.message})`,
      );
    });
  if (!head) return undefined;
  const [policy, status, encryption, block, lifecycle, notifications] = await Promise.all([
    send('s3:GetBucketPolicy', () => s3().send(new GetBucketPolicyCommand({ Bucket, ...owner }))).catch(
      orNone<{ Policy?: string }>('NoSuchBucketPolicy'),
    ),
    send('s3:GetBucketPolicyStatus', () =>
      s3().send(new GetBucketPolicyStatusCommand({ Bucket, ...owner })),
    ).catch(orNone<{ PolicyStatus?: PolicyStatus }>('NoSuchBucketPolicy')),
    send('s3:GetEncryptionConfiguration', () =>
      s3().send(new GetBucketEncryptionCommand({ Bucket, ...owner })),
    ),
    send('s3:GetBucketPublicAccessBlock', () =>
      s3().send(new GetPublicAccessBlockCommand({ Bucket, ...owner })),
    ).catch(orNone<{ PublicAccessBlockConfiguration?: object }>('NoSuchPublicAccessBlockConfiguration')),
    send('s3:GetLifecycleConfiguration', () =>
      s3().send(new GetBucketLifecycleConfigurationCommand({ Bucket, ...owner })),
    ).catch(orNone<{ Rules?: LifecycleRule[] }>('NoSuchLifecycleConfiguration')),
    send('s3:GetBucketNotification', () =>
      s3().send(new GetBucketNotificationConfigurationCommand({ Bucket, ...owner })),
    ),
  ]);
  const [rule] = encryption.ServerSideEncryptionConfiguration?.Rules ?? [];
  const { $metadata: _, ...kept } = notifications;
  return {
    policy: policy?.Policy,
    isPublic: status?.PolicyStatus?.IsPublic ?? false,
    encryption: rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm ?? 'AES256',
    publicAccess: block?.PublicAccessBlockConfiguration ?? {},
    lifecycle: lifecycle?.Rules ?? [],
    notifications: kept,
  };
}

/** An answer that says by an error of this code that there is nothing. */
const orNone =
  <T>(code: string) =>
  (error: unknown): T | undefined => {
    if (error instanceof AwsFailure && error.code === code) return undefined;
    throw error;
  };

/** Makes one change of a plan. */
export async function applyStep(step: LogsStep, wanted: LogsWanted): Promise<void> {
  const bucket = bucketOf(wanted);
  switch (step.kind) {
    case 'create-bucket':
      await createBucket(wanted);
      return;
    case 'block-public-access':
      await send('s3:PutBucketPublicAccessBlock', () =>
        s3().send(
          new PutPublicAccessBlockCommand({ ...bucket, PublicAccessBlockConfiguration: step.publicAccess }),
        ),
      );
      return;
    case 'delete-old':
      await send('s3:PutLifecycleConfiguration', () =>
        s3().send(
          new PutBucketLifecycleConfigurationCommand({
            ...bucket,
            LifecycleConfiguration: { Rules: [...step.rules] },
          }),
        ),
      );
      return;
    case 'let-delivery-in':
      await send('s3:PutBucketPolicy', () =>
        s3().send(new PutBucketPolicyCommand({ ...bucket, Policy: step.policy })),
      );
      return;
    case 'tell-event-bridge':
      await send('s3:PutBucketNotification', () =>
        s3().send(
          new PutBucketNotificationConfigurationCommand({
            ...bucket,
            NotificationConfiguration: step.notifications,
          }),
        ),
      );
      return;
    case 'switch-on':
      await switchOn(wanted);
  }
}

async function createBucket({ bucket: Bucket, loadBalancerArn }: LogsWanted): Promise<void> {
  const [, , , region] = loadBalancerArn.split(':');
  await send('s3:CreateBucket', () =>
    s3().send(
      new CreateBucketCommand({
        Bucket,
        // S3 takes no name for this Region.
        ...(region !== 'us-east-1' && {
          CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint },
        }),
      }),
    ),
  );
}

async function switchOn({ loadBalancerArn, bucket, prefix }: LogsWanted): Promise<void> {
  const attributes = { enabled: 'true', bucket, prefix };
  await send('elasticloadbalancing:ModifyLoadBalancerAttributes', () =>
    elasticLoadBalancing().send(
      new ModifyLoadBalancerAttributesCommand({
        LoadBalancerArn: loadBalancerArn,
        Attributes: Object.entries(attributes).map(([name, Value]) => ({
          Key: `health_check_logs.s3.${name}`,
          Value,
        })),
      }),
    ),
  );
}
