import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AccessDenied, AwsFailure, type QuiesceError, Unavailable } from '../../functions/core/errors.ts';
import { sentenceOfAwsFailure } from '../../local/cli/failure.ts';
import { quiesceWith } from './helpers/quiesce.ts';

beforeEach(() => vi.stubEnv('AWS_ENDPOINT_URL', undefined));
afterEach(() => vi.unstubAllEnvs());

const READ = 'ec2:DescribeInstances';
const failed = (code: string, said = 'no') => new AwsFailure(READ, code, said, undefined);

test.each<[string, QuiesceError, RegExp]>([
  ['expired credentials', failed('ExpiredToken'), /^The AWS credentials have expired: sign in again\.$/],
  ['unknown credentials', failed('AuthFailure'), /^AWS does not accept the credentials \(AuthFailure\): /],
  ['no Region', failed('Error', 'Region is missing'), /^There is no AWS Region: set AWS_REGION\.$/],
  [
    'a permission that is lacking',
    new AccessDenied(READ, 'UnauthorizedOperation', 'You are not authorized.', undefined),
    /^The credentials lack the permission ec2:DescribeInstances\. \(.*You are not authorized\.\)$/,
  ],
  [
    'no answer',
    new Unavailable(READ, 'ECONNREFUSED', 'refused', undefined),
    /^AWS gives no answer: .*refused$/,
  ],
  ['another error', failed('Strange', 'it is'), /^ec2:DescribeInstances failed with Strange: it is$/],
])('%s is one sentence', (_, error, sentence) => {
  expect(sentenceOfAwsFailure(error)).toMatch(sentence);
});

test('what gives no answer is named when the environment names it', () => {
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
  const error = new Unavailable(READ, 'ECONNREFUSED', 'refused', undefined);
  expect(sentenceOfAwsFailure(error)).toMatch(
    /^http:\/\/127\.0\.0\.1:1 \(AWS_ENDPOINT_URL\) gives no answer: /,
  );
});

test('without credentials a command ends with 1 and one sentence, no stack', async () => {
  const env = { AWS_REGION: 'eu-west-1' };
  const ran = await quiesceWith({ env }, 'plan', '--auto-scaling-group', 'web');
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(/^There are no AWS credentials: .*\.\n$/);
});
