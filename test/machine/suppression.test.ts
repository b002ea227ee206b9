import { describe, expect, test } from 'vitest';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { claimFor, held, recordObserverOf } from '../sweep/helpers/stopped.ts';
import { claimOf } from '../unit/helpers/records.ts';
import { type Bracket, bracket, type Fleet, outcome, type Sent, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;
const workers: Fleet = { instances: 2, autoScaling: { healthChecks: ['EC2'] }, checks: [{ port: 8080 }] };

const suppressedAt = (of: Bracket): number =>
  Math.max(
    ...of
      .entries('suppression')
      .filter(({ state }) => state === 'suppressed')
      .map(({ at }) => at),
  );

describe('the lead', () => {
  test('R-STATE: the go-ahead waits for the described suppression, however long it takes to spread', async () => {
    const slow = await bracket(workers, { physics: { suppressionSpreadSeconds: [400, 420] } });
    const before = await slow.before();
    expect(before.status).toBe('SUCCEEDED');
    expect(slow.enteredAt(before, 'GoAhead') - before.startedAt).toBeGreaterThan(400_000);
    expect(slow.enteredAt(before, 'GoAhead')).toBeGreaterThan(suppressedAt(slow));
  });

  test('R-STATE: the go-ahead waits the whole lead, however fast it spreads', async () => {
    const fast = await bracket(workers, { physics: { suppressionSpreadSeconds: [60, 70] } });
    const before = await fast.before({ policy: { leadSeconds: 240 } });
    expect(fast.enteredAt(before, 'GoAhead') - fast.enteredAt(before, 'Lead')).toBeGreaterThanOrEqual(
      240_000,
    );
  });

  test('R-STATE: a suppression that never shows is no go-ahead', async () => {
    const never = await bracket(workers, { physics: { suppressionSpreadSeconds: [3600, 3600] } });
    const before = await never.before();
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(before.cause).toMatch(/still missing: i-[0-9a-f]+: its application status is ok/);
    expect(await never.violations()).toEqual([]);
  });

  test('R-STATE: the lead of a suppression that another run has enabled counts from that, however fast it spread', async () => {
    const both = await bracket(workers, { physics: { suppressionSpreadSeconds: [30, 40] } });
    const first = both.startBefore({ policy: { suppressSeconds: 20_000 } });
    await both.clock.pass(100_000);
    const [second] = await both.end(both.startBefore({ runId: 'second' }), first);
    const [enabled, ...more] = both.actsOf('EnableApplicationStatusCheckSuppression');
    expect(more).toEqual([]);
    expect(both.enteredAt(second, 'GoAhead') - Number(enabled?.at)).toBeGreaterThanOrEqual(180_000);
  });

  test('a run inside a run over the whole fleet pays for no lead of its own', async () => {
    const both = await bracket();
    const whole = { runId: 'whole', fleet: { instanceIds: both.ids() }, traffic: 'leave' };
    expect((await both.before({ ...whole, policy: { suppressSeconds: 20_000 } })).status).toBe('SUCCEEDED');
    for (const [runId, numbers] of [['first', [0, 1]] as const, ['second', [2, 3]] as const]) {
      const before = await both.before({ runId, fleet: { instanceIds: both.ids(...numbers) } });
      expect(before.status, before.cause).toBe('SUCCEEDED');
      expect(both.enteredAt(before, 'GoAhead') - before.startedAt).toBeLessThan(90_000);
      expect((await both.after({ runId })).status).toBe('SUCCEEDED');
      for (const id of both.ids()) expect(both.standing.account.checks.overall(id).status).toBe('suppressed');
    }
    expect((await both.after({ runId: 'whole' })).status).toBe('SUCCEEDED');
    expect(await both.violations()).toEqual([]);
  });
});

test.for([
  ['lifted', (run: Bracket) => run.liftByHand(run.ids(1))],
  ['shortened', (run: Bracket) => run.suppressByHand(run.ids(1), 3000)],
] as const)(
  'D36: what was %s in a long drain is suppressed again, and a fresh lead is waited',
  async ([, change]) => {
    const run = await bracket(
      {
        ...usual,
        targetGroups: [
          { name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '900' } },
        ],
      },
      { physics: { secondEnable: 'replaces' } },
    );
    const before = run.startBefore();
    await run.clock.pass(8 * MINUTE);
    change(run);
    await run.end(before);
    expect(outcome(before)).toBe('SUCCEEDED');
    const [, second] = run.actsOf('EnableApplicationStatusCheckSuppression');
    expect(second?.input.InstanceIds).toEqual(run.ids(1));
    expect(run.enteredAt(before, 'GoAhead') - Number(second?.at)).toBeGreaterThan(180_000);
    expect(run.path(before).filter(state => state === 'Drain')).toHaveLength(1);
    await run.after();
    expect(await run.violations()).toEqual([]);
  },
);

test('D36: the look that the go-ahead rests on is made then, also where the runs of a deployment share what they see', async () => {
  const run = await bracket(workers);
  await recordObserverOf(run, 'd-1', run.ids());
  const before = await run.before({ observer: 'd-1' });
  const joint = run.enteredAt(before, 'ObserveBoth');
  const isLook = ({ action, at }: Sent) => action === 'DescribeApplicationStatus' && at >= joint;
  expect(run.sent.filter(isLook)).toHaveLength(1);
});

describe('R-TTL', () => {
  test('every suppression has a duration that covers the whole budget', async () => {
    const run = await bracket();
    await run.before({ policy: { deploymentSeconds: 7200 } });
    const enables = run.actsOf('EnableApplicationStatusCheckSuppression');
    expect(enables).not.toHaveLength(0);
    for (const { input } of enables) expect(input.DurationSeconds).toBeGreaterThan(7200 + 180);
  });

  test('a run whose executions are stopped leaves nobody blind for ever', async () => {
    const stopped = await bracket(workers);
    const before = stopped.startBefore();
    await stopped.clock.pass(4 * MINUTE);
    stopped.stack.executions.stop(before.arn, 'Stopped', 'by a person');
    await stopped.clock.pass(3 * 60 * MINUTE);
    for (const id of stopped.ids()) expect(stopped.standing.account.checks.suppression(id)).toBeUndefined();
  });
});

describe('D31: a duration that EC2 does not take', () => {
  test('is refused by its name, and nothing lingers', async () => {
    const short = await bracket(usual, { physics: { longestSuppressionSeconds: 3600 } });
    const before = await short.before();
    expect(outcome(before)).toBe('FAILED SuppressionRefused');
    expect(before.cause).toMatch(
      /does not suppress i-.* exceeds the maximum of 3600.*policy\.deploymentSeconds/,
    );
    expect(short.actsOf('DeregisterTargets')).toEqual([]);
    expect(await short.violations()).toEqual([]);
  });

  test('fits when the deployment is planned to be short', async () => {
    const short = await bracket(workers, { physics: { longestSuppressionSeconds: 5400 } });
    expect((await short.before({ policy: { deploymentSeconds: 600 } })).status).toBe('SUCCEEDED');
  });
});

describe('a deployment that takes longer than it was planned to', () => {
  test.for(['extends', 'replaces', 'fails'] as const)(
    'has its suppression lengthened if that can be: a second Enable %s',
    async secondEnable => {
      const late = await bracket(usual, { physics: { secondEnable } });
      const before = await late.before({ policy: { deploymentSeconds: 600 } });
      expect(before.status).toBe('SUCCEEDED');
      await late.clock.pass(40 * MINUTE);
      const after = await late.after();
      expect(late.path(after)).toContain('Extend');
      expect(after.status, after.cause).toBe('SUCCEEDED');
      // As long as after-deploy may take: 900 s ready, 900 s in service, 1,200 s ready again, 450 s for the release.
      const enabled = late.actsOf('EnableApplicationStatusCheckSuppression');
      const lengthened = enabled.find(({ at }) => at > after.startedAt);
      expect(Number(lengthened?.input.DurationSeconds)).toBeGreaterThan(3450);
      expect(await late.violations()).toEqual([]);
    },
  );

  test('keeps the instance suppressed when another run leaves it', async () => {
    const both = await bracket(workers);
    await both.before({ policy: { deploymentSeconds: 60, readySeconds: 3600 } });
    await both.before({ runId: 'other', traffic: 'leave', policy: { readySeconds: 3600 } });
    const [first] = both.actsOf('EnableApplicationStatusCheckSuppression');
    const claimedFor = Number(first?.at) + Number(first?.input.DurationSeconds) * 1000 - both.clock.now();
    await both.clock.pass(claimedFor - 40 * MINUTE);
    const lengthening = both.start('AfterDeploy', { runId: 'r', deployedAt: '2030-01-01T00:00:00Z' });
    // As it was claimed at first the run would be over.
    await both.clock.pass(41 * MINUTE);
    expect((await both.after({ runId: 'other' })).status).toBe('SUCCEEDED');
    expect(both.actsOf('DisableApplicationStatusCheckSuppression')).toEqual([]);
    await both.end(lengthening);
    expect(outcome(lengthening)).toBe('FAILED BudgetSpent');
    expect(await both.violations()).toEqual([]);
  });
});

test('a second run never shortens the suppression of the first', async () => {
  const both = await bracket(workers, { physics: { secondEnable: 'replaces' } });
  const first = both.startBefore({ policy: { deploymentSeconds: 7200 } });
  await both.clock.pass(30_000);
  const second = both.startBefore({ runId: 'short', policy: { deploymentSeconds: 60 } });
  await both.end(first, second);
  expect([first.status, second.status]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  const durations = both
    .actsOf('EnableApplicationStatusCheckSuppression')
    .map(({ at, input }) => at / 1000 + Number(input.DurationSeconds));
  expect(Math.min(...durations)).toBeGreaterThan(first.startedAt / 1000 + 7200);
});

describe("D39: somebody else's suppression", () => {
  const suppress = async (of: Bracket, DurationSeconds: number | undefined) => {
    of.suppressByHand(of.ids(0), DurationSeconds);
    await of.clock.pass(5 * MINUTE);
  };
  const endOf = (of: Bracket) => of.standing.account.checks.suppression(of.ids(0)[0] ?? '')?.resumesAt;

  test.for([undefined, 86_400])('is not touched when it lasts long enough (%s s)', async seconds => {
    const found = await bracket(workers);
    await suppress(found, seconds);
    const end = endOf(found);
    await found.before();
    await found.after();
    expect(endOf(found)).toBe(end);
    const [theirs] = found.ids(0);
    for (const { input } of found.acts) expect(input.InstanceIds).not.toContain(theirs);
  });

  test('that is too short is lengthened, and gets its own end back to the second', async () => {
    const found = await bracket(workers);
    await suppress(found, 3000);
    const end = Number(endOf(found));
    await found.before();
    expect(endOf(found)).toBeGreaterThan(end);
    await found.after();
    expect(Math.abs(Number(endOf(found)) - end)).toBeLessThan(2000);
  });

  test('R-PARTIAL: gets its own end back also where EC2 first says nothing of it', async () => {
    let isSilent = true;
    const found = await bracket(workers, {
      gates: () => [
        {
          async around({ action, caller }, input, perform) {
            if (!isSilent || caller.name !== 'ReleaseFunction' || !action.startsWith('Enable'))
              return perform(input);
            isSilent = false;
            return { SuccessfulResults: [], UnsuccessfulResults: [] };
          },
        },
      ],
    });
    await suppress(found, 3000);
    const end = Number(endOf(found));
    await found.before();
    expect((await found.after()).status).toBe('SUCCEEDED');
    expect(isSilent).toBe(false);
    expect(Math.abs(Number(endOf(found)) - end)).toBeLessThan(2000);
  });

  test('that cannot be lengthened refuses the run, and stays', async () => {
    const found = await bracket(workers, { physics: { secondEnable: 'fails' } });
    await suppress(found, 3000);
    const end = endOf(found);
    const before = await found.before();
    expect(outcome(before)).toBe('FAILED SuppressionRefused');
    expect(before.cause).toContain("Look for a suppression of somebody else's");
    expect(endOf(found)).toBe(end);
  });

  test('that two runs have found is theirs no more than one’s', async () => {
    const found = await bracket(workers);
    await suppress(found, 4000);
    const end = Number(endOf(found));
    await found.before();
    await found.before({ runId: 'other' });
    expect((await found.after()).status).toBe('SUCCEEDED');
    expect(endOf(found)).toBeGreaterThan(end + MINUTE);
    expect((await found.after({ runId: 'other' })).status).toBe('SUCCEEDED');
    expect(Math.abs(Number(endOf(found)) - end)).toBeLessThan(2000);
  });
});

describe('D13: an instance without an included check', () => {
  const excluded: Fleet = { ...workers, checks: [{ port: 8080, aggregation: 'excluded' }] };

  test.for(['suppressed', 'not-applicable', 'absent'] as const)(
    'whose suppression shows as %s has its go-ahead after the lead, from two reads',
    async suppressedWithoutIncludedCheck => {
      const run = await bracket(excluded, { physics: { suppressedWithoutIncludedCheck } });
      const before = await run.before();
      expect(before.status).toBe('SUCCEEDED');
      expect(run.enteredAt(before, 'GoAhead') - before.startedAt).toBeGreaterThan(180_000);
      expect(run.path(before).filter(state => /^Observe(Suppressed|Both)$/.test(state))).toHaveLength(2);
      expect((await run.after()).status).toBe('SUCCEEDED');
      expect(await run.violations()).toEqual([]);
    },
  );
});

test('R-TTL: what a run has suppressed ends with the last run, also when its check is deleted in between', async () => {
  const both = await bracket();
  expect((await both.before({ traffic: 'leave' })).status).toBe('SUCCEEDED');
  for (const ApplicationStatusCheckId of both.standing.fleet.checkIds)
    ec2Api(both.standing.account.checks).DeleteApplicationStatusCheck({ ApplicationStatusCheckId });
  await both.clock.pass(2 * MINUTE);
  const other = await both.before({ runId: 'other' });
  expect(other.status, other.cause).toBe('SUCCEEDED');
  expect((await both.after()).status).toBe('FAILED');
  expect((await both.after({ runId: 'other' })).status).toBe('SUCCEEDED');
  expect(await both.violations()).toEqual([]);
});

test('R-TTL: a claim whose time is over leaves the release to the run that ends, and ends with it', async () => {
  const run = await bracket(workers, { deliveries: () => [] });
  for (const id of run.ids()) await claimFor(run, 'dead', id, claimOf(id, [], run.clock.now() / 1000 + 300));
  await run.before();
  const after = await run.after();
  expect([outcome(after), await held(run)]).toEqual(['SUCCEEDED', []]);
});
