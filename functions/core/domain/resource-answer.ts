/** What CloudFormation is told about one request, decided once. */
export interface ResourceAnswer {
  readonly status: 'SUCCESS' | 'FAILED';
  readonly physicalId: string;
  /** Empty of a success. */
  readonly reason: string;
}

/** By what a request and its answer know each other. */
export interface Asked {
  readonly StackId: string;
  readonly RequestId: string;
  readonly LogicalResourceId: string;
}

/** GUIDE, custom resource response objects: 4,096 bytes in all. A physical id and the request's ids have at most 2,000 of them. */
const REASON_BYTES = 1_900;

/** The text that is PUT to the ResponseURL. */
export function answerText({ StackId, RequestId, LogicalResourceId }: Asked, answer: ResourceAnswer): string {
  const { status, physicalId, reason } = answer;
  return JSON.stringify({
    Status: status,
    PhysicalResourceId: physicalId,
    StackId,
    RequestId,
    LogicalResourceId,
    ...(status === 'FAILED' && { Reason: shortened(reason) }),
  });
}

/** A reason that does not fit ends with dots; quotes and the like take more bytes in JSON than they are long. */
function shortened(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(JSON.stringify(text)) > REASON_BYTES)
    text = `${text.slice(0, (text.length * 9) / 10)}...`;
  return text;
}
