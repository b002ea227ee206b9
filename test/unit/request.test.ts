import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRequest } from '../../functions/core/errors.ts';
import { LEAD_SECONDS } from '../../functions/core/limits.ts';
import {
  afterRequest,
  isRunId,
  readRequest,
  runRequest,
  withDefaultPolicy,
} from '../../functions/core/request.ts';

const instanceIds = ['i-0123456789abcdef0'];
const least = { runId: 'r', fleet: { instanceIds } };
const groupArn = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef';

const full = {
  runId: 'pipeline:1.2_3-4',
  fleet: { autoScalingGroupName: 'web' },
  traffic: 'leave',
  zones: ['eu-west-1a', 'euw1-az2'],
  targetGroupArns: [groupArn],
  policy: {
    leadSeconds: 240,
    suppressSeconds: 7200,
    deploymentSeconds: 1800,
    minHealthyPercent: 75,
    autoScaling: 'hold',
    alsoSuspend: ['AZRebalance', 'ScheduledActions', 'AlarmNotification'],
    readyBeforeTraffic: false,
    readyEvaluations: 3,
    readySeconds: 600,
    waitSeconds: 0,
    afterFailure: 'held',
    heldSeconds: 7200,
    launches: 'wait',
    zoneEvents: 'ignore',
    discover: 'vpc',
  },
  emergency: { reason: 'the certificate has expired', until: '2026-11-30T12:00:00+01:00' },
  timeoutSeconds: 7200,
  queue: true,
} as const;

test('the least request has the defaults of the policy', () => {
  expect(readRequest(runRequest, least)).toEqual({
    ...least,
    traffic: 'drain',
    queue: false,
    policy: {
      leadSeconds: LEAD_SECONDS,
      suppressSeconds: 0,
      deploymentSeconds: 3600,
      minHealthyPercent: 50,
      autoScaling: 'auto',
      alsoSuspend: [],
      readyBeforeTraffic: true,
      readyEvaluations: 2,
      readySeconds: 900,
      waitSeconds: 900,
      afterFailure: 'put-back',
      heldSeconds: 3600,
      launches: 'auto',
      zoneEvents: 'refuse',
    },
  });
});

test('a request that says everything is taken as it stands', () => {
  expect(readRequest(runRequest, full)).toEqual(full);
});

test.each([
  { instanceIds: [...instanceIds, 'i-01234567'] },
  { autoScalingGroupName: 'web' },
  { codeDeployDeploymentId: 'd-A1B2C3D4E' },
  { tag: { key: 'service', value: '' } },
])('a fleet is named by one of four ways: %j', fleet => {
  expect(readRequest(runRequest, { ...least, fleet }).fleet).toEqual(fleet);
});

/** Each field with a value that it does not take, and how the refusal names it. */
const refused: readonly (readonly [field: string, given: Record<string, unknown>])[] = [
  ['runId', { ...least, runId: '' }],
  ['runId', { ...least, runId: 'a b' }],
  ['runId', { ...least, runId: 'x'.repeat(129) }],
  ['fleet', { ...least, fleet: {} }],
  ['fleet', { ...least, fleet: { ...least.fleet, autoScalingGroupName: 'web' } }],
  ['fleet.instanceIds', { ...least, fleet: { instanceIds: [] } }],
  ['fleet.instanceIds.0', { ...least, fleet: { instanceIds: ['i-XYZ'] } }],
  ['fleet.autoScalingGroupName', { ...least, fleet: { autoScalingGroupName: '' } }],
  ['fleet.codeDeployDeploymentId', { ...least, fleet: { codeDeployDeploymentId: 'D-1' } }],
  ['fleet.tag.key', { ...least, fleet: { tag: { key: '', value: 'x' } } }],
  ['traffic', { ...least, traffic: 'maybe' }],
  ['zones', { ...least, zones: [] }],
  ['targetGroupArns.0', { ...least, targetGroupArns: ['web'] }],
  ['policy', { ...least, policy: null }],
  ['policy.leadSeconds', { ...least, policy: { leadSeconds: LEAD_SECONDS - 1 } }],
  ['policy.suppressSeconds', { ...least, policy: { suppressSeconds: -1 } }],
  ['policy.deploymentSeconds', { ...least, policy: { deploymentSeconds: 0 } }],
  ['policy.minHealthyPercent', { ...least, policy: { minHealthyPercent: 101 } }],
  ['policy.autoScaling', { ...least, policy: { autoScaling: 'suspend' } }],
  ['policy.alsoSuspend.0', { ...least, policy: { alsoSuspend: ['Launch'] } }],
  ['policy.readyBeforeTraffic', { ...least, policy: { readyBeforeTraffic: 'yes' } }],
  ['policy.readyEvaluations', { ...least, policy: { readyEvaluations: 1 } }],
  ['policy.readySeconds', { ...least, policy: { readySeconds: 59 } }],
  ['policy.waitSeconds', { ...least, policy: { waitSeconds: 1.5 } }],
  ['policy.discover', { ...least, policy: { discover: 'everywhere' } }],
  ['emergency.reason', { ...least, emergency: { ...full.emergency, reason: '' } }],
  ['emergency.until', { ...least, emergency: { ...full.emergency, until: 'tomorrow' } }],
  ['timeoutSeconds', { ...least, timeoutSeconds: 0 }],
  ['queue', { ...least, queue: 'true' }],
];

describe('what a request may not say is refused, and the refusal names the field', () => {
  test.each(refused)('%s', (field, given) => {
    expect(() => readRequest(runRequest, given)).toThrow(InvalidRequest);
    expect(() => readRequest(runRequest, given)).toThrow(new RegExp(`^${field}: `));
  });

  test.each([
    ['typo', 'runId, fleet, traffic', { ...least, typo: 1 }],
    ['policy.minHealthy', 'leadSeconds, ', { ...least, policy: { minHealthy: 90 } }],
    ['emergency.who', 'reason, until', { ...least, emergency: { ...full.emergency, who: 'me' } }],
  ])(
    'a member that nobody knows is not passed over (%s), and the known ones are named',
    (at, known, given) => {
      expect(() => readRequest(runRequest, given)).toThrow(`${at}: is no member here: use ${known}`);
    },
  );

  test('every fault at once', () => {
    expect(() => readRequest(runRequest, { queue: 1, traffic: 2 })).toThrow(
      /runId: .*; fleet: .*; traffic: .*; queue: /,
    );
  });

  test('D31: a lead shorter than the suppression takes to spread says why', () => {
    expect(() => readRequest(runRequest, { ...least, policy: { leadSeconds: 60 } })).toThrow(
      'policy.leadSeconds: must be at least 180: suppression takes about 192 s to spread',
    );
  });
});

test('what is a runId is the same for a request as for the fence', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9A-Za-z_.:-]{1,130}$/)), runId => {
      expect(isRunId(runId)).toBe(runRequest.safeParse({ ...least, runId }).success);
    }),
  );
});

describe('after-deploy', () => {
  test('takes a run, and when the deployment ended', () => {
    const request = { runId: 'r', deployedAt: '2026-11-30T09:00:00Z' };
    expect(readRequest(afterRequest, request)).toEqual(request);
    expect(readRequest(afterRequest, { runId: 'r' })).toEqual({ runId: 'r' });
  });

  test.each([
    ['runId', {}],
    ['deployedAt', { runId: 'r', deployedAt: 1 }],
    ['fleet', { runId: 'r', fleet: {} }],
    ['the request', []],
  ])('refuses, naming %s', (field, given) => {
    expect(() => readRequest(afterRequest, given)).toThrow(new RegExp(`^${field}: `));
  });
});

const anyInput = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
  }),
  fc.jsonValue(),
  // Near misses: a good request with one member replaced by anything.
  fc
    .tuple(fc.constantFrom(...Object.keys(full)), fc.anything())
    .map(([field, value]) => ({ ...full, [field]: value })),
  fc
    .tuple(fc.constantFrom(...Object.keys(full.policy)), fc.anything())
    .map(([field, value]) => ({ ...full, policy: { ...full.policy, [field]: value } })),
);

test.each([
  ['before-deploy', runRequest],
  ['after-deploy', afterRequest],
])('%s: no input whatever throws anything but InvalidRequest', (_, schema) => {
  fc.assert(
    fc.property(anyInput, given => {
      try {
        readRequest(schema, given);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidRequest);
        expect(error).toMatchObject({ message: expect.stringMatching(/.+: .+\.$/s) });
      }
    }),
    { numRuns: 1000 },
  );
});

test('every instant that is taken is one that a date can be made of', () => {
  const digits = (least: number, most: number) =>
    fc.integer({ min: least, max: most }).map(n => String(n).padStart(2, '0'));
  const instant = fc
    .tuple(
      digits(1, 12),
      digits(1, 31),
      digits(0, 24),
      digits(0, 60),
      digits(0, 60),
      fc.constantFrom('Z', '+23:59'),
    )
    .map(
      ([month, day, hour, minute, second, zone]) => `2026-${month}-${day}T${hour}:${minute}:${second}${zone}`,
    );
  fc.assert(
    fc.property(instant, deployedAt => {
      const read = afterRequest.safeParse({ runId: 'r', deployedAt });
      expect(read.success && Number.isNaN(Date.parse(deployedAt))).toBe(false);
    }),
  );
});

describe("the stack's default policy", () => {
  const fleet = { autoScalingGroupName: 'web' };
  const policyOf = (policy: object | undefined, defaults: string) =>
    readRequest(runRequest, withDefaultPolicy({ runId: 'r', fleet, ...(policy && { policy }) }, defaults))
      .policy;

  test("lies between the request's own words and the product's defaults", () => {
    const defaults = '{"leadSeconds":240,"waitSeconds":60}';
    expect(policyOf({ waitSeconds: 0 }, defaults)).toMatchObject({
      leadSeconds: 240,
      waitSeconds: 0,
      readySeconds: 900,
    });
    expect(policyOf(undefined, defaults)).toMatchObject({ leadSeconds: 240, waitSeconds: 60 });
  });

  test.each([
    ['{"leadSeconds":10}', 'leadSeconds: must be at least 180'],
    ['{"leedSeconds":240}', 'leedSeconds'],
    ['{"leadSeconds":', 'JSON'],
    ['[]', 'the request: must be an object with members'],
  ])('%s is refused, and the parameter named', (defaults, why) => {
    const refused = () => withDefaultPolicy({ runId: 'r', fleet }, defaults);
    expect(refused).toThrow(InvalidRequest);
    expect(refused).toThrow('The parameter DefaultPolicy of the stack is no policy: ');
    expect(refused).toThrow(why);
  });

  test.each([null, 'text', { policy: 'none' }])(
    'a request that is none (%j) is left to be refused',
    request => {
      expect(withDefaultPolicy(request, '{"leadSeconds":240}')).toBe(request);
    },
  );
});

test('the default policy leaves to the reader what is no request, or has no policy that it could lie below', () => {
  expect(withDefaultPolicy(null, '{}')).toBeNull();
  expect(withDefaultPolicy({ policy: 'none' }, '{}')).toEqual({ policy: 'none' });
});
