import { AccessDenied, AwsFailure, QuiesceError, Refusal, Unavailable } from '../../functions/core/errors.ts';
import { exitCode, UsageError } from './command.ts';

/** Says why the command failed on standard error: a sentence for what a person can mend, a stack for a mistake of ours. */
export function sayFailure(error: unknown): number {
  process.stderr.write(`${sentenceOf(error)}\n`);
  if (error instanceof UsageError) return exitCode.usage;
  return error instanceof QuiesceError ? exitCode.failed : exitCode.crash;
}

function sentenceOf(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof Refusal) return `${error.name}: ${error.message}`;
  if (error instanceof QuiesceError) return sentenceOfAwsFailure(error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const SENTENCES: readonly {
  readonly codes: readonly string[];
  readonly say: (error: AwsFailure) => string;
}[] = [
  {
    codes: ['CredentialsProviderError'],
    say: () =>
      'There are no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  },
  {
    codes: ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired', 'TokenRefreshRequired'],
    say: () => 'The AWS credentials have expired: sign in again.',
  },
  {
    codes: [
      'AuthFailure',
      'IncompleteSignature',
      'InvalidClientTokenId',
      'InvalidSignatureException',
      'SignatureDoesNotMatch',
      'UnrecognizedClientException',
    ],
    say: ({ code }) => `AWS does not accept the credentials (${code}): check the keys and the Region.`,
  },
  {
    codes: ['StateMachineDoesNotExist', 'InvalidArn'],
    say: ({ message }) => `There is no such state machine or execution: check the ARN. (${message})`,
  },
  {
    codes: ['ExecutionDoesNotExist'],
    say: ({ message }) => `There is no such execution: check the ARN. (${message})`,
  },
];

export function sentenceOfAwsFailure(error: QuiesceError): string {
  if (error instanceof AccessDenied)
    return `The credentials lack the permission ${error.action}. (${error.message})`;
  if (error instanceof Unavailable) {
    const endpoint = process.env.AWS_ENDPOINT_URL;
    return `${endpoint ? `${endpoint} (AWS_ENDPOINT_URL)` : 'AWS'} gives no answer: ${error.message}`;
  }
  if (/region is missing/i.test(error.message)) return 'There is no AWS Region: set AWS_REGION.';
  if (!(error instanceof AwsFailure)) return error.message;
  const { code, action } = error;
  if (code === 'ResourceNotFoundException' && action.startsWith('dynamodb:'))
    return `There is no table ${process.env.LEDGER_TABLE} in this account and Region: check --table.`;
  return SENTENCES.find(({ codes }) => codes.includes(code))?.say(error) ?? error.message;
}
