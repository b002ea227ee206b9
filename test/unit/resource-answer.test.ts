import { expect, test } from 'vitest';
import { answerText } from '../../functions/core/domain/resource-answer.ts';

const asked = {
  StackId: `arn:aws:cloudformation:eu-west-1:111122223333:stack/${'s'.repeat(128)}/6f1d2c70-cd43-11f0-8c54-0a1b2c3d4e5f`,
  RequestId: '3d0c4a52-7a3b-4c77-9d6c-0f7d7d2f8b11',
  LogicalResourceId: 'l'.repeat(255),
};

test.each(['eni-0 "a check"; '.repeat(500), '\u00e9\ud83d\ude00'.repeat(2000), 'short'])(
  'an answer fits into 4,096 bytes, whatever its reason is',
  reason => {
    const text = answerText(asked, { status: 'FAILED', physicalId: 'p'.repeat(1024), reason });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(JSON.parse(text).Reason.slice(0, 5)).toBe(reason.slice(0, 5));
  },
);

test('a success gives no reason', () => {
  const text = answerText(asked, { status: 'SUCCESS', physicalId: 'one', reason: '' });
  expect(JSON.parse(text)).toEqual({ Status: 'SUCCESS', PhysicalResourceId: 'one', ...asked });
});
