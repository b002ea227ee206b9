import { describe, expect, test } from 'vitest';
import type { Answer } from '../../local/account/application.ts';
import type { Physics } from '../../local/account/physics.ts';
import { account, failing } from './helpers/ec2-account.ts';

const SETTLED = 240;

describe('a check on a healthy application', () => {
  test('passes after two evaluations, and the instance is ok', async () => {
    const { launch, createCheck, seconds, status } = account();
    const instance = launch();
    const id = createCheck();
    await seconds(SETTLED);
    expect(status(instance)).toMatchObject({
      Status: 'ok',
      Details: [
        {
          ApplicationStatusCheckId: id,
          Status: 'passed',
          Aggregation: 'included',
          Reason: { Code: 'ResponseCodeMatched', StatusCode: 200, Protocol: 'HTTP' },
        },
      ],
    });
  });

  test('is initializing until the success threshold is reached', async () => {
    const { launch, createCheck, checks, seconds } = account();
    const instance = launch();
    createCheck({ SuccessThreshold: 3 });
    await seconds(121);
    expect(checks.overall(instance.id).status).toBe('initializing');
    await seconds(61);
    expect(checks.overall(instance.id).status).toBe('ok');
  });
});

test('SEED 3.1, 3.2: at the first failure only the reason changes, at the second the instance is impaired', async () => {
  const { launch, createCheck, seconds, status, secondsUntil, world } = account();
  const instance = launch();
  const id = createCheck();
  await seconds(SETTLED);
  const injectedAt = world.clock.now();
  instance.application.suffer(failing);

  await secondsUntil(() => status(instance)?.Details?.[0]?.Reason?.StatusCode === 503);
  expect(status(instance)).toMatchObject({ Status: 'ok', Details: [{ Status: 'passed' }] });
  await secondsUntil(() => status(instance)?.Status === 'impaired');
  expect(status(instance)?.Details?.[0]).toMatchObject({
    Status: 'failed',
    Reason: { Code: 'ResponseCodeMismatch', StatusCode: 503, Protocol: 'HTTP' },
  });

  const failures = world.journal.entries.filter(entry => entry.type === 'check' && entry.at >= injectedAt);
  expect(failures).toMatchObject([
    { checkId: id, status: 'passed', code: 'ResponseCodeMismatch' },
    { checkId: id, status: 'failed', code: 'ResponseCodeMismatch' },
  ]);
  const [first, second] = failures.map(({ at }) => at - injectedAt);
  expect(first).toBeLessThanOrEqual(61_000);
  expect((second ?? 0) - (first ?? 0)).toBe(60_000);

  instance.application.suffer(undefined);
  expect(await secondsUntil(() => status(instance)?.Status === 'ok')).toBeLessThanOrEqual(181);
});

test('SEED 5.1: the Describe operation shows what was true 40 to 60 seconds ago, metrics and the service do not lag', async () => {
  const { launch, createCheck, seconds, status, secondsUntil, checks } = account();
  const fleet = Array.from({ length: 12 }, () => launch());
  createCheck();
  await seconds(SETTLED);
  const lags = new Set<number>();
  for (const instance of fleet) {
    instance.application.suffer(failing);
    await secondsUntil(() => checks.overall(instance.id).status === 'impaired');
    const lag = await secondsUntil(() => status(instance)?.Status === 'impaired');
    const since = status(instance)?.StatusSince;
    expect(since?.getTime()).toBe(checks.overall(instance.id).since);
    lags.add(lag);
  }
  expect(Math.min(...lags)).toBeGreaterThanOrEqual(40);
  expect(Math.max(...lags)).toBeLessThanOrEqual(60);
  expect(lags.size).toBeGreaterThan(3);
});

describe('what a probe meets is told by its code', () => {
  const answers: readonly (readonly [string, Answer, object])[] = [
    ['refused', { kind: 'refuses' }, { Code: 'ConnectionRefused', StatusCode: 0 }],
    ['reset', { kind: 'resets' }, { Code: 'ConnectionReset', StatusCode: 0 }],
    ['silent', { kind: 'silent' }, { Code: 'ResponseTimeout', StatusCode: 0 }],
    [
      'slower than the timeout',
      { kind: 'responds', status: 200, afterMs: 6000 },
      { Code: 'ResponseTimeout', StatusCode: 0 },
    ],
    [
      'a redirect, which is not followed',
      { kind: 'responds', status: 302, afterMs: 5 },
      { Code: 'ResponseCodeMismatch', StatusCode: 302, Protocol: 'HTTP' },
    ],
  ];
  test.each(answers)('%s', async (_, answer, reason) => {
    const { launch, createCheck, seconds, status } = account();
    const instance = launch();
    createCheck();
    instance.application.suffer(() => answer);
    await seconds(SETTLED);
    expect(status(instance)).toMatchObject({ Status: 'impaired' });
    expect(status(instance)?.Details?.[0]?.Reason).toEqual(reason);
  });

  test('a security group without a rule for the port times the connection out', async () => {
    const { ec2, group, launch, createCheck, seconds, status } = account();
    const instance = launch();
    createCheck();
    ec2.network.setIngress(group.id, [{ fromPort: 8081, toPort: 9000, from: 'self' }]);
    await seconds(SETTLED);
    expect(status(instance)?.Details?.[0]?.Reason).toEqual({ Code: 'ConnectionTimeout', StatusCode: 0 });
  });

  test.each([
    ['first', 1],
    ['second', 0],
  ])('it is enough that the %s of the two checkers succeeds', async (_, refused) => {
    const { launch, createCheck, seconds, status, world } = account();
    const instance = launch();
    let requests = 0;
    instance.application.suffer(() => (requests++ % 2 === refused ? { kind: 'refuses' } : undefined));
    createCheck();
    await seconds(SETTLED);
    expect(status(instance)?.Status).toBe('ok');
    expect(requests).toBe(2 * Math.floor(SETTLED / world.physics.probeIntervalSeconds));
  });
});

describe('switches of the reason', () => {
  const reasonUnder = async (physics: Partial<Physics>, answer: Answer) => {
    const { launch, createCheck, seconds, status } = account({ physics });
    const instance = launch();
    createCheck();
    instance.application.suffer(() => answer);
    await seconds(SETTLED);
    return status(instance)?.Details?.[0]?.Reason;
  };
  const broken: Answer = { kind: 'responds', status: 503, afterMs: 1 };
  const fine: Answer = { kind: 'responds', status: 200, afterMs: 1 };

  test('no StatusCode on connection errors, as the guide says', async () => {
    expect(await reasonUnder({ connectionErrorStatusCode: 'absent' }, { kind: 'refuses' })).toEqual({
      Code: 'ConnectionRefused',
    });
  });
  test('codes nobody knows', async () => {
    const physics = { reasonCodes: 'unknown' } as const;
    expect(await reasonUnder(physics, broken)).toMatchObject({
      Code: 'TransportUnavailable',
      StatusCode: 503,
    });
    expect(await reasonUnder(physics, fine)).toMatchObject({ Code: 'ResponseCodeMatched' });
  });
  test('legacy results: the producer error type, and no reason at all on success', async () => {
    const physics = { reasonCodes: 'legacy' } as const;
    expect(await reasonUnder(physics, broken)).toEqual({ Code: 'Http Status Code' });
    expect(await reasonUnder(physics, fine)).toBeUndefined();
  });
});

describe('initialization', () => {
  test('R-EVENTUAL: a new instance is not described before the lag of the Describe operation', async () => {
    const { launch, status, secondsUntil } = account();
    const instance = launch({ seasoned: false });
    const listedAfter = await secondsUntil(() => status(instance) !== undefined);
    expect(listedAfter).toBeGreaterThanOrEqual(40);
    expect(listedAfter).toBeLessThanOrEqual(60);
  });

  test('no health check runs before the grace period after the launch is over', async () => {
    const { launch, createCheck, status, secondsUntil, checks } = account();
    createCheck({ InitializationGracePeriodSeconds: 90 });
    const instance = launch({ seasoned: false });
    instance.application.suffer(failing);
    expect(checks.overall(instance.id).status).toBe('initializing');
    await secondsUntil(() => checks.results(instance.id)[0]?.outcome !== undefined);
    const first = checks.results(instance.id)[0]?.updatedAt ?? 0;
    expect(first - instance.launchedAt).toBeGreaterThanOrEqual(90_000);
    expect(first - instance.launchedAt).toBeLessThanOrEqual(151_000);
    expect(status(instance)?.Status).toBe('initializing');
  });

  test('a tag association enrols an instance that is launched later', async () => {
    const { launch, createCheck, seconds, status } = account();
    const id = createCheck();
    await seconds(SETTLED);
    const instance = launch({ seasoned: false });
    await seconds(300 + SETTLED);
    expect(status(instance)).toMatchObject({ Status: 'ok', Details: [{ ApplicationStatusCheckId: id }] });
  });
});

describe('aggregation', () => {
  test('excluded checks are evaluated and reported, and do not count', async () => {
    const { launch, createCheck, seconds, status, checks } = account();
    const instance = launch();
    createCheck({ Aggregation: 'excluded' });
    await seconds(SETTLED);
    expect(status(instance)).toMatchObject({ Status: 'not-applicable', Details: [{ Status: 'passed' }] });
    expect(checks.hasIncludedCheck(instance.id)).toBe(false);
  });

  test('a promotion takes effect at the next evaluation', async () => {
    const { launch, createCheck, seconds, api, checks } = account();
    const instance = launch();
    const id = createCheck({ Aggregation: 'excluded' });
    await seconds(SETTLED);
    const { updatedAt } = checks.results(instance.id)[0] ?? { updatedAt: 0 };
    api.ModifyApplicationStatusCheck({ ApplicationStatusCheckId: id, Aggregation: 'included' });
    expect(checks.hasIncludedCheck(instance.id)).toBe(false);
    await seconds(61);
    expect(checks.overall(instance.id)).toEqual(
      expect.objectContaining({ status: 'ok', since: updatedAt + 60_000 }),
    );
  });

  test('impaired goes before initializing, that before insufficient-data, that before ok', async () => {
    const { launch, createCheck, seconds, checks, api, subnets, group } = account();
    const instance = launch();
    const elsewhere = { SubnetId: subnets[1].id, SecurityGroupId: group.id };
    const statuses: string[] = [];
    const observe = () => statuses.push(checks.overall(instance.id).status);
    const all: string[] = [];
    all.push(createCheck());
    await seconds(SETTLED);
    observe();
    all.push(createCheck({ HealthCheckPaths: [{ Source: elsewhere, Destinations: [elsewhere] }] }));
    await seconds(61);
    observe();
    all.push(createCheck({ SuccessThreshold: 1000 }));
    observe();
    all.push(createCheck({ StatusCodeMatcher: '201' }));
    await seconds(121);
    observe();
    for (const id of all) api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId: id });
    observe();
    expect(statuses).toEqual(['ok', 'insufficient-data', 'initializing', 'impaired', 'not-applicable']);
  });
});
