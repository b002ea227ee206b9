import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inclusionIn } from '../../functions/core/domain/inclusion.ts';

const by = 'arn:aws:sts::111122223333:assumed-role/deploy/deploy';
const call = (requestParameters: unknown) => ({
  userIdentity: { type: 'AssumedRole', arn: by },
  requestParameters,
});
const request = { ApplicationStatusCheckId: 'asc-1', Aggregation: 'included' };

test('D40: who has included a check is told by its call, however CloudTrail writes that', () => {
  const inclusion = { checkId: 'asc-1', by };
  expect(inclusionIn(call(request))).toEqual(inclusion);
  expect(inclusionIn(call({ ModifyApplicationStatusCheckRequest: request }))).toEqual(inclusion);
  expect(inclusionIn(call({ applicationStatusCheckId: 'asc-1', aggregation: 'included', port: 80 }))).toEqual(
    inclusion,
  );
  expect(inclusionIn({ ...call(request), userIdentity: { type: 'AWSService' } })?.by).toBe('AWSService');
  expect(inclusionIn({ requestParameters: request })?.by).toBe('somebody');
});

test('a call that includes nothing, or was refused, is no inclusion', () => {
  expect(inclusionIn(call({ ...request, Aggregation: 'excluded' }))).toBeUndefined();
  expect(inclusionIn(call({ ApplicationStatusCheckId: 'asc-1', Path: '/' }))).toBeUndefined();
  expect(inclusionIn(call({ Aggregation: 'included' }))).toBeUndefined();
  expect(inclusionIn({ ...call(request), errorCode: 'Client.UnauthorizedOperation' })).toBeUndefined();
  fc.assert(fc.property(fc.anything(), any => inclusionIn(call(any)) === undefined));
});
