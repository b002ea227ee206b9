import { denial } from '../stack/authorization.ts';
import { type Call, ServiceError } from '../wire/contract.ts';

/** Each way in which a call to AWS can go wrong. */
export const faultWays = {
  throttled: 'is throttled, with every attempt of the SDK',
  unavailable: 'is answered by an error of the service, with every attempt of the SDK',
  'lost-request': 'never arrives, in any attempt of the SDK',
  'lost-answer': 'takes effect, and its answer is lost: the SDK tries again',
  'lost-answers': 'takes effect, and every answer is lost',
  late: 'takes effect 45 s after a person has stopped every execution',
  denied: 'is denied from then on, for ever',
  'denied-for-a-while': 'is denied from then on, for ten minutes',
  partial: 'does all but the last member of its batch',
  'dies-before': 'is never made: its function dies right before',
  'dies-after': 'takes effect, and its function dies before it hears so',
} as const satisfies Record<string, string>;
export type FaultWay = keyof typeof faultWays;

/** One call of a simulated passage. The same seed makes the same calls, so it is the same call every time. */
export interface CallSite {
  /** The logical id of the function, machine or rule. */
  readonly caller: string;
  /** `ec2:DescribeInstances`; of a function that a machine invokes `lambda:Invoke/PlanFunction`. */
  readonly action: string;
  /** Counted from 1, over all calls of this caller to this action. */
  readonly ordinal: number;
}

/** Exactly one thing that goes wrong. */
export interface Fault extends CallSite {
  readonly way: FaultWay;
}

/** As one line, which `readFault` reads: `SuppressFunction dynamodb:UpdateItem 2 lost-answer`. */
export const faultLine = ({ caller, action, ordinal, way }: Fault): string =>
  [caller, action, ordinal, way].join(' ');

/** @throws Error saying what a line has to look like */
export function readFault(line: string): Fault {
  const [caller, action, ordinal, way, ...rest] = line.trim().split(/\s+/);
  if (!caller || !action?.includes(':') || !isWay(way) || !(Number(ordinal) >= 1) || rest.length > 0)
    throw new Error(
      `"${line}" is no fault: write CALLER SERVICE:ACTION ORDINAL WAY, where WAY is one of ${Object.keys(faultWays).join(', ')}.`,
    );
  return { caller, action, ordinal: Number(ordinal), way };
}

const isWay = (word: string | undefined): word is FaultWay => word !== undefined && word in faultWays;

/** What a call is known by, besides its place in the order. */
export function actionName({ service, action }: Call, input: Readonly<Record<string, unknown>>): string {
  const name = `${service}:${action}`;
  return name === 'lambda:Invoke' ? `${name}/${invokedFunction(String(input.FunctionName))}` : name;
}

/** The logical id, from an ARN whose name CloudFormation made of stack and logical id. */
const invokedFunction = (arn: string): string =>
  (/:function:([^:]+)/.exec(arn)?.[1] ?? arn).split('-').at(-1) ?? arn;

/** How each service says that a call was one too many. */
export function throttle({ service }: Call): ServiceError {
  switch (service) {
    case 'ec2':
      return new ServiceError('RequestLimitExceeded', 'Request limit exceeded.', 503);
    case 'dynamodb':
      return new ServiceError(
        'ProvisionedThroughputExceededException',
        'The level of configured provisioned throughput for the table was exceeded.',
      );
    case 'lambda':
      return new ServiceError('TooManyRequestsException', 'Rate Exceeded.', 429);
    case 'states':
    case 'codedeploy':
      return new ServiceError('ThrottlingException', 'Rate exceeded');
    default:
      return new ServiceError('Throttling', 'Rate exceeded');
  }
}

/** A 5xx, as each service names it. */
export const unavailable = ({ service }: Call): ServiceError =>
  service === 'lambda'
    ? new ServiceError('ServiceException', 'Internal server error', 500)
    : new ServiceError(
        service === 'ec2' ? 'Unavailable' : 'InternalFailure',
        'The service is not available.',
        503,
      );

/** A refusal for want of permission, by a policy that no template shows. */
export const denied = ({ service, action, caller }: Call): ServiceError =>
  denial(service, `${caller.name} may not ${service}:${action}, by a policy of the organization.`);
