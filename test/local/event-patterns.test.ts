import { expect, test } from 'vitest';
import { compilePattern } from '../../local/stack/event-pattern.ts';
import type { JsonObject } from '../../local/stack/json.ts';

const event: JsonObject = {
  source: 'aws.autoscaling',
  'detail-type': 'EC2 Instance Terminate Successful',
  resources: ['arn:aws:autoscaling:group', 'arn:aws:ec2:instance/i-1'],
  detail: {
    AutoScalingGroupName: 'web-blue',
    Cause: 'an EC2 Application Status check failure',
    StatusCode: null,
    Attempts: 3,
    Spot: false,
    Details: [{ Zone: 'a' }, { Zone: 'b' }],
  },
};

const detail = (pattern: JsonObject): JsonObject => ({ detail: pattern });

test.each<[string, JsonObject, boolean]>([
  ['an exact value', { source: ['aws.ec2', 'aws.autoscaling'] }, true],
  ['another value', { source: ['aws.ec2'] }, false],
  ['every member', { source: ['aws.autoscaling'], ...detail({ Attempts: [4] }) }, false],
  ['null, a number and a boolean', detail({ StatusCode: [null], Attempts: [3], Spot: [false] }), true],
  ['a number as a string', detail({ Attempts: ['3'] }), false],
  ['one element of an array', { resources: [{ suffix: 'instance/i-1' }] }, true],
  ['one object of an array', detail({ Details: { Zone: ['b'] } }), true],
  ['prefix', detail({ AutoScalingGroupName: [{ prefix: 'web-' }] }), true],
  ['suffix', detail({ AutoScalingGroupName: [{ suffix: '-green' }] }), false],
  ['wildcard', detail({ Cause: [{ wildcard: '*Status*fail*' }] }), true],
  ['wildcard without a star', detail({ Cause: [{ wildcard: 'an' }] }), false],
  ['wildcard that overlaps itself', detail({ AutoScalingGroupName: [{ wildcard: 'web-b*-blue' }] }), false],
  ['wildcard that is not there', detail({ AutoScalingGroupName: [{ wildcard: 'web*green*' }] }), false],
  ['equals-ignore-case', detail({ AutoScalingGroupName: [{ 'equals-ignore-case': 'WEB-BLUE' }] }), true],
  ['anything-but', detail({ AutoScalingGroupName: [{ 'anything-but': ['web-green'] }] }), true],
  ['anything-but the value', detail({ AutoScalingGroupName: [{ 'anything-but': 'web-blue' }] }), false],
  ['anything-but a prefix', detail({ AutoScalingGroupName: [{ 'anything-but': { prefix: 'web' } }] }), false],
  ['anything-but and an absent member', detail({ Missing: [{ 'anything-but': 'x' }] }), false],
  ['exists', detail({ Cause: [{ exists: true }] }), true],
  ['exists of an object, which is no leaf', { detail: [{ exists: true }] }, false],
  ['absence', detail({ Missing: [{ exists: false }] }), true],
  ['absence within an absent object', { missing: { member: [{ exists: false }] } }, true],
  ['a numeric range', detail({ Attempts: [{ numeric: ['>', 2, '<=', 3] }] }), true],
  ['outside of a numeric range', detail({ Attempts: [{ numeric: ['>', 3] }] }), false],
  ['$or', { $or: [{ source: ['aws.ec2'] }, detail({ Attempts: [3] })] }, true],
])('a pattern with %s', (_, pattern, matches) => {
  expect(compilePattern(pattern, 'Rule')(event)).toBe(matches);
});

test.each<[JsonObject, string]>([
  [{}, 'Rule: an event pattern may not be empty'],
  [{ source: 'aws.ec2' }, "Rule.source: an event pattern's values have to be a list"],
  [{ source: [] }, 'with at least one member'],
  [{ source: [{ cidr: '10.0.0.0/8' }] }, 'the operator cidr of event patterns is not implemented'],
  [{ source: [{ numeric: ['about', 3] }] }, 'numeric needs pairs'],
  [{ source: [{ prefix: { 'equals-ignore-case': 'x' } }] }, 'only a string operand is implemented'],
])('%o is refused', (pattern, message) => {
  expect(() => compilePattern(pattern, 'Rule')).toThrow(message);
});
