import { send } from './call.ts';
import { ec2 } from './clients.ts';

const ACTION = 's3:PutObject';

/**
 * PUTs a text to a presigned URL of S3, over the same network as every call to AWS. The URL is its own permission, and was signed
 * for a request without a content type.
 *
 * @throws Unavailable, AwsFailure
 */
export async function putTo(url: string, body: string): Promise<void> {
  const { protocol, hostname, pathname, searchParams } = new URL(url);
  const { response } = await send(ACTION, () =>
    ec2().config.requestHandler.handle({
      method: 'PUT',
      protocol,
      hostname,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { host: hostname, 'content-type': '', 'content-length': String(Buffer.byteLength(body)) },
      body,
    }),
  );
  const { statusCode } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  const said = `the answer to CloudFormation was refused with ${statusCode}`;
  const failed = Object.assign(new Error(said), {
    code: `HTTP ${statusCode}`,
    $metadata: { httpStatusCode: statusCode },
  });
  // Translated like every other answer: a 5xx can pass, an expired URL cannot.
  await send(ACTION, () => Promise.reject(failed));
}
