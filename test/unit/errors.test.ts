import { expect, test } from 'vitest';
import * as errors from '../../functions/core/errors.ts';

const classes = Object.entries(errors).filter(([name]) => name !== 'QuiesceError' && name !== 'Refusal');

test('every error that Step Functions may match names itself, so that minifying cannot rename it', () => {
  for (const [name, Class] of classes) {
    const error: Error = Reflect.construct(Class, ['one', 'two', 'three']);
    // An own property is written by the class; an inherited `Error.name` would follow nobody's renaming either.
    expect(Object.getOwnPropertyDescriptor(error, 'name')?.value).toBe(name);
    expect(error).toBeInstanceOf(errors.QuiesceError);
  }
  expect(classes).toHaveLength(44);
});

test('only throttles and failures of the service are worth another try', () => {
  const retryable = classes
    .filter(([, Class]) => Reflect.get(Reflect.construct(Class, ['one', 'two', 'three']), 'retryable'))
    .map(([name]) => name);
  expect(retryable.sort()).toEqual(['ObservationPending', 'Throttled', 'Unavailable']);
});

test("a failed call names the action, AWS's code and what AWS said, and keeps the cause", () => {
  const cause = new Error('from the SDK');
  const denied = new errors.AccessDenied(
    'ec2:DescribeInstances',
    'UnauthorizedOperation',
    'not allowed',
    cause,
  );
  expect(denied).toMatchObject({ action: 'ec2:DescribeInstances', code: 'UnauthorizedOperation', cause });
  expect(denied.message).toBe('ec2:DescribeInstances failed with UnauthorizedOperation: not allowed');
});
