import { describe, expect, test } from 'vitest';
import { account, failing } from './helpers/ec2-account.ts';

const SETTLED = 240;

/** A fleet whose check has passed. */
async function settledFleet(size: number, settings: Parameters<typeof account>[0] & { check?: object } = {}) {
  const all = account(settings);
  const fleet = Array.from({ length: size }, () => all.launch());
  all.createCheck(settings.check);
  await all.seconds(SETTLED);
  const [first] = fleet;
  if (!first) throw new Error('a fleet needs an instance');
  const InstanceIds = fleet.map(({ id }) => id);
  const enable = (DurationSeconds?: number, ClientToken?: string) =>
    all.api.EnableApplicationStatusCheckSuppression({ InstanceIds, DurationSeconds, ClientToken });
  const disable = () => all.api.DisableApplicationStatusCheckSuppression({ InstanceIds });
  const seen = () => all.status(first)?.Status;
  const truth = () => all.checks.overall(first.id).status;
  const resumesIn = () => ((all.checks.suppression(first.id)?.resumesAt ?? 0) - all.clock.now()) / 1000;
  const steps = () =>
    all.world.journal.entries.flatMap(entry => (entry.type === 'suppression' ? entry.state : []));
  return { ...all, fleet, first, enable, disable, seen, truth, resumesIn, steps };
}

describe('spreading and release', () => {
  test('SEED 3.4: described 188 to 196 seconds after Enable, and gone 120 to 150 after Disable', async () => {
    const { fleet, enable, disable, status, secondsUntil } = await settledFleet(20);
    const shows = (wanted: string) => (instance: { readonly id: string }) =>
      status(instance)?.Status === wanted;
    enable(3600);
    const spread = await secondsUntil(() => fleet.some(shows('suppressed')));
    const spreadOfAll = spread + (await secondsUntil(() => fleet.every(shows('suppressed'))));
    disable();
    const release = await secondsUntil(() => fleet.some(shows('ok')));
    const releaseOfAll = release + (await secondsUntil(() => fleet.every(shows('ok'))));
    expect(spread).toBeGreaterThanOrEqual(188);
    expect(spreadOfAll).toBeLessThanOrEqual(196);
    expect(release).toBeGreaterThanOrEqual(120);
    expect(releaseOfAll).toBeLessThanOrEqual(150);
    expect(releaseOfAll).toBeGreaterThan(release);
  });

  test('the service follows before the Describe operation shows it, by its lag', async () => {
    const { enable, seen, truth, secondsUntil } = await settledFleet(1);
    enable(3600);
    await secondsUntil(() => truth() === 'suppressed');
    const lag = await secondsUntil(() => seen() === 'suppressed');
    expect(lag).toBeGreaterThanOrEqual(40);
    expect(lag).toBeLessThanOrEqual(60);
  });

  test('SEED 3.4: until it has spread the live status is shown; then each check still shows its own', async () => {
    const { enable, status, first, seconds, secondsUntil, seen, clock } = await settledFleet(1);
    const ResumeAt = new Date(clock.now() + 3_600_000);
    expect(enable(3600)).toEqual({
      SuccessfulResults: [{ InstanceId: first.id, SuppressAt: clock.date(), ResumeAt }],
      UnsuccessfulResults: [],
    });
    await seconds(180);
    expect(status(first)?.Status).toBe('ok');
    expect(status(first)?.ResumeAt).toBeUndefined();
    await secondsUntil(() => seen() === 'suppressed');
    expect(status(first)?.ResumeAt).toEqual(ResumeAt);
    first.application.suffer(failing);
    await seconds(SETTLED);
    expect(status(first)).toMatchObject({ Status: 'suppressed', Details: [{ Status: 'failed' }] });
    const { StatusSince, StatusTimeStamp, Details } = status(first) ?? {};
    expect(StatusTimeStamp).toEqual(StatusSince);
    expect(Details?.[0]?.StatusTimeStamp?.getTime()).toBeGreaterThan(clock.now() - 121_000);
  });

  test('a failure before the spreading is over makes the instance impaired', async () => {
    const { enable, truth, first, seconds, secondsUntil } = await settledFleet(1);
    first.application.suffer(failing);
    await seconds(30);
    enable(3600);
    await secondsUntil(() => truth() === 'impaired', 120);
    await secondsUntil(() => truth() === 'suppressed', 130);
  });

  test('R-TTL: it ends by itself at ResumeAt, and the release spreads from then', async () => {
    const { enable, seen, secondsUntil, seconds, steps } = await settledFleet(1);
    enable(600);
    await seconds(600);
    const release = await secondsUntil(() => seen() === 'ok');
    expect(release).toBeGreaterThanOrEqual(120);
    expect(release).toBeLessThanOrEqual(150);
    expect(steps()).toEqual(['spreading', 'suppressed', 'releasing', 'released']);
  });

  test('without a duration it lasts until Disable', async () => {
    const { enable, disable, seen, first, status, seconds } = await settledFleet(1);
    enable();
    await seconds(86_400);
    expect(seen()).toBe('suppressed');
    expect(status(first)?.ResumeAt).toBeUndefined();
    disable();
    await seconds(151);
    expect(seen()).toBe('ok');
  });
});

describe('acts that overlap', () => {
  test('Disable soon after Enable: suppression never arrives', async () => {
    const { enable, disable, truth, seconds, steps } = await settledFleet(1);
    enable(3600);
    await seconds(5);
    disable();
    for (let passed = 0; passed < 300; passed++) {
      expect(truth()).toBe('ok');
      await seconds(1);
    }
    expect(steps()).toEqual(['spreading', 'releasing', 'released']);
  });

  test('Disable late in the spreading: suppression arrives, and ends', async () => {
    const { enable, disable, seen, seconds, secondsUntil, steps } = await settledFleet(1);
    enable(3600);
    await seconds(120);
    disable();
    await secondsUntil(() => seen() === 'suppressed', 80);
    await secondsUntil(() => seen() === 'ok', 80);
    await seconds(300);
    expect(steps()).toEqual(['spreading', 'releasing', 'suppressed', 'released']);
  });

  test('Enable during the releasing: released first, suppressed again after its own spreading', async () => {
    const { enable, disable, seen, seconds, secondsUntil, checks, first } = await settledFleet(1);
    enable(3600);
    await seconds(200);
    disable();
    await seconds(20);
    enable(3600);
    expect(checks.suppression(first.id)?.state).toBe('spreading');
    const gap = await secondsUntil(() => seen() === 'ok');
    const again = gap + (await secondsUntil(() => seen() === 'suppressed'));
    expect(gap).toBeLessThanOrEqual(130);
    expect(again).toBeGreaterThanOrEqual(188);
    expect(again).toBeLessThanOrEqual(196);
  });

  test('a second Enable leaves no gap, and by the switch replaces the end', async () => {
    const { enable, truth, seconds, secondsUntil, resumesIn } = await settledFleet(1);
    enable(3600);
    await secondsUntil(() => truth() === 'suppressed');
    enable(400);
    expect(resumesIn()).toBe(400);
    for (let passed = 0; passed < 400; passed++) {
      expect(truth()).toBe('suppressed');
      await seconds(1);
    }
    await secondsUntil(() => truth() === 'ok', 110);
  });

  test('or extends it', async () => {
    const { enable, resumesIn } = await settledFleet(1, { physics: { secondEnable: 'extends' } });
    enable(3600);
    enable(400);
    expect(resumesIn()).toBe(3600);
    enable(7200);
    expect(resumesIn()).toBe(7200);
  });

  test('or fails', async () => {
    const { enable, resumesIn, first } = await settledFleet(1, { physics: { secondEnable: 'fails' } });
    enable(3600);
    expect(enable(7200)).toMatchObject({
      SuccessfulResults: [],
      UnsuccessfulResults: [{ InstanceId: first.id, Reason: expect.stringContaining('already') }],
    });
    expect(resumesIn()).toBe(3600);
  });
});

describe('requests', () => {
  test('D31: a second Enable with the same ClientToken changes nothing and is no error', async () => {
    const { enable, seconds, resumesIn } = await settledFleet(1);
    const answer = enable(3600, 'run-1');
    await seconds(600);
    expect(enable(3600, 'run-1')).toEqual(answer);
    expect(resumesIn()).toBe(3000);
    enable(3600, 'run-1-extended');
    expect(resumesIn()).toBe(3600);
  });

  test('R-PARTIAL: unknown and terminated instances are named, the others are suppressed', async () => {
    const { api, fleet, checks } = await settledFleet(2);
    const [there, gone] = fleet;
    const InstanceIds = [there?.id ?? '', gone?.id ?? '', 'i-0123456789abcdef0'];
    api.TerminateInstances({ InstanceIds: [gone?.id ?? ''] });
    const enabled = api.EnableApplicationStatusCheckSuppression({ InstanceIds, DurationSeconds: 60 });
    const disabled = api.DisableApplicationStatusCheckSuppression({ InstanceIds });
    for (const { SuccessfulResults, UnsuccessfulResults } of [enabled, disabled]) {
      expect(SuccessfulResults?.map(({ InstanceId }) => InstanceId)).toEqual([there?.id]);
      expect(UnsuccessfulResults).toMatchObject([
        { InstanceId: gone?.id, Reason: expect.stringContaining('shutting-down') },
        { Reason: expect.stringContaining('does not exist') },
      ]);
    }
    expect(checks.suppression(there?.id ?? '')?.state).toBe('releasing');
  });

  test('limits: 100 instances a request, a positive duration, the longest by a switch, a dry run acts not', async () => {
    const { api, first, enable, checks } = await settledFleet(1, {
      physics: { longestSuppressionSeconds: 3600 },
    });
    const InstanceIds = Array.from({ length: 101 }, (_, index) => `i-${index}`);
    const code = (expected: string) => expect.objectContaining({ code: expected });
    expect(() => api.EnableApplicationStatusCheckSuppression({ InstanceIds })).toThrow(
      code('InvalidParameterValue'),
    );
    expect(() => enable(0)).toThrow(code('InvalidParameterValue'));
    expect(() => enable(3601)).toThrow(code('InvalidParameterValue'));
    const dry = { InstanceIds: [first.id], DryRun: true };
    expect(() => api.EnableApplicationStatusCheckSuppression(dry)).toThrow(code('DryRunOperation'));
    expect(checks.suppression(first.id)).toBeUndefined();
    enable(3600);
    expect(checks.suppression(first.id)?.state).toBe('spreading');
  });
});

describe('D13: suppression without an included check, by the switch', () => {
  const shown = async (suppressedWithoutIncludedCheck: 'suppressed' | 'not-applicable' | 'absent') => {
    const fleet = await settledFleet(1, {
      physics: { suppressedWithoutIncludedCheck },
      check: { Aggregation: 'excluded' },
    });
    expect(fleet.seen()).toBe('not-applicable');
    fleet.enable(3600);
    await fleet.seconds(200);
    return fleet.seen();
  };
  test('suppressed', async () => expect(await shown('suppressed')).toBe('suppressed'));
  test('not-applicable', async () => expect(await shown('not-applicable')).toBe('not-applicable'));
  test('absent', async () => expect(await shown('absent')).toBeUndefined());
});

test('SEED 4: the aggregate metric is silent while suppressed, the metric of the check is not', async () => {
  const { enable, disable, truth, secondsUntil, seconds, metrics, first, clock, checks } =
    await settledFleet(1);
  const checkId = checks.results(first.id)[0]?.checkId;
  const points = (name: string, from: number) =>
    metrics.periods(
      { namespace: 'AWS/EC2', name, dimensions: { InstanceId: first.id } },
      from,
      clock.now(),
      60_000,
    );
  const aggregate = 'StatusCheckFailed_Application';

  expect(points(aggregate, 0)).toHaveLength(4);
  first.application.suffer(failing);
  enable(3600);
  await secondsUntil(() => truth() === 'suppressed');
  const suppressedAt = clock.now();
  await seconds(600);
  expect(points(aggregate, suppressedAt)).toEqual([]);
  expect(points(`${aggregate}_${checkId}`, suppressedAt).map(({ values }) => values)).toEqual(
    Array(10).fill([1]),
  );
  disable();
  await secondsUntil(() => truth() === 'impaired');
  const releasedAt = clock.now();
  await seconds(61);
  expect(points(aggregate, releasedAt).map(({ values }) => values)).toEqual([[1]]);
});
