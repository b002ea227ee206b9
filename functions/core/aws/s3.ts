import { GetObjectCommand } from '@aws-sdk/client-s3';
import { AccessDenied, AwsFailure, LogUnreadable } from '../errors.ts';
import { given, send } from './call.ts';
import { s3 } from './clients.ts';

export interface ObjectName {
  readonly bucket: string;
  readonly key: string;
}

/**
 * Opens an object for reading, as a stream of bytes.
 *
 * @throws LogUnreadable when S3 does not give it; Throttled and Unavailable when it may later
 */
export async function openObject({ bucket, key }: ObjectName): Promise<AsyncIterable<Uint8Array>> {
  const action = 's3:GetObject';
  const command = new GetObjectCommand({ Bucket: bucket, Key: key });
  try {
    const { Body } = await send(action, () => s3().send(command));
    return given(Body, action, 'Body');
  } catch (error) {
    if (!(error instanceof AccessDenied || error instanceof AwsFailure)) throw error;
    throw new LogUnreadable(`s3://${bucket}/${key} cannot be read: ${whyNot(error)} ${error.message}`);
  }
}

/** Who may not list a bucket, as this product may not, is told of a missing object what it is told of a forbidden one. */
function whyNot({ code, message }: AccessDenied | AwsFailure): string {
  if (message.includes('kms:'))
    return 'it is encrypted with a key that this role may not use. The bucket of a load balancer has to have SSE-S3 (AES256).';
  if (code === 'NoSuchBucket') return 'there is no such bucket any more.';
  return 'it is gone, or a policy of the bucket or of the account forbids it.';
}
