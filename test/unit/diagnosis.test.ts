import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diagnose } from '../../functions/core/domain/diagnosis.ts';
import { togetherOf } from '../../functions/core/domain/diagnosis-words.ts';
import {
  type ObservedCheck,
  type ObservedFleet,
  type ObservedGroup,
  type ObservedInstance,
  passedSince,
} from '../../functions/core/domain/observed-fleet.ts';

const NINE = Date.UTC(2026, 10, 30, 9);
const MINUTE = 60_000;

const passing: ObservedCheck = {
  checkId: 'asc-1',
  aggregation: 'included',
  status: 'passed',
  code: 'ResponseCodeMatched',
  statusCode: 200,
  since: NINE - 600 * MINUTE,
  passedSinceChange: 'yes',
};
const failing = (code: string, more: Partial<ObservedCheck> = {}): ObservedCheck => ({
  ...passing,
  status: 'failed',
  code,
  statusCode: 0,
  since: NINE,
  ...more,
});
const target = (state: string, reason?: string) => ({
  group: 'web',
  port: 8080,
  state,
  ...(reason !== undefined && { reason }),
});

/** Two instances in each of three zones, all well: a1, a2, b1, b2, c1, c2. */
const wells = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'].map(
  (name): ObservedInstance => ({
    instanceId: `i-${name}`,
    zone: `eu-west-1${name[0]}`,
    suppressed: false,
    checks: [passing],
    targets: [target('healthy')],
  }),
);

type Changes = Readonly<Record<string, Partial<ObservedInstance>>>;

function fleet(changes: Changes, groups: readonly ObservedGroup[] = [], of = wells): ObservedFleet {
  const instances = of.map(instance => ({ ...instance, ...changes[instance.instanceId.slice(2)] }));
  return { instances, groups };
}

const symptoms = (observed: ObservedFleet) =>
  diagnose(observed).findings.map(({ symptom, reach, instanceIds }) => ({ symptom, reach, instanceIds }));

describe('each symptom is told from its false friend', () => {
  test('nothing is wrong with a fleet that is well', () => {
    expect(diagnose(fleet({}))).toEqual({ well: true, findings: [], remarks: [] });
  });

  test.each([
    ['ConnectionRefused', 'not-listening'],
    ['ConnectionReset', 'resets'],
    ['ResponseTimeout', 'slow'],
    ['ResponseCodeMismatch', 'wrong-answer'],
    ['Http Status Code', 'wrong-answer'],
    ['ConnectionTimeout', 'unreachable'],
    ['TransportUnavailable', 'unexplained'],
  ])('%s on one instance is %s, and the instance', (code, symptom) => {
    expect(symptoms(fleet({ b1: { checks: [failing(code)] } }))).toEqual([
      { symptom, reach: { kind: 'instance', alone: false }, instanceIds: ['i-b1'] },
    ]);
  });

  test('a code that is not accepted is shown', () => {
    const { findings } = diagnose(
      fleet({
        b1: { checks: [failing('ResponseCodeMismatch', { statusCode: 503, aggregation: 'excluded' })] },
      }),
    );
    expect(findings[0]?.evidence).toEqual([
      'Check asc-1 (excluded, so nobody acts on it) says ResponseCodeMismatch 503 on i-b1, since 2026-11-30 09:00:00 UTC.',
      'Target group web has them as healthy: i-b1.',
      'Not so on i-a1, i-a2, i-b2, i-c1, i-c2.',
    ]);
    expect(findings[0]?.summary).toMatch(/does not accept\. It is one instance of 6/);
  });

  test('time-outs that were there from the start are a security group; those that began later are not', () => {
    const checks = (passedSinceChange: 'yes' | 'no' | 'unknown') => [
      failing('ConnectionTimeout', { passedSinceChange }),
    ];
    const seen = symptoms(
      fleet({
        a1: { checks: checks('no') },
        a2: { checks: checks('yes') },
        b1: { checks: checks('unknown') },
      }),
    );
    expect(seen).toMatchObject([
      { symptom: 'blocked', instanceIds: ['i-a1'] },
      { symptom: 'unreachable', instanceIds: ['i-a2', 'i-b1'] },
    ]);
  });

  test('a whole zone that begins together is the zone; two of one zone by chance are two instances', () => {
    const down = (since: number) => ({ checks: [failing('ConnectionTimeout', { since })] });
    const together = fleet({ b1: down(NINE), b2: down(NINE + 2 * MINUTE) });
    expect(symptoms(together)[0]?.reach).toEqual({ kind: 'zone', zone: 'eu-west-1b' });
    const apart = fleet({ b1: down(NINE), b2: down(NINE + 40 * MINUTE) });
    expect(symptoms(apart)[0]?.reach).toEqual({ kind: 'instances' });
    const third = wells.slice(2, 3).map(b1 => ({ ...b1, instanceId: 'i-b3' }));
    const notAll = fleet({ b1: down(NINE), b2: down(NINE) }, [], [...wells, ...third]);
    expect(symptoms(notAll)[0]?.reach).toEqual({ kind: 'instances' });
    expect(symptoms(fleet({ b1: down(NINE), c1: down(NINE) }))[0]?.reach).toEqual({ kind: 'instances' });
  });

  test('one instance a zone tells nothing of its zone, and a fleet of one nothing of itself', () => {
    const oneEach = wells.filter(({ instanceId }) => instanceId.endsWith('1'));
    const down = { checks: [failing('ResponseTimeout')] };
    expect(symptoms(fleet({ b1: down }, [], oneEach))[0]?.reach).toEqual({ kind: 'instance', alone: false });
    const alone = diagnose(fleet({ b1: down }, [], wells.slice(2, 3)));
    expect(alone.reach).toEqual({ kind: 'instance', alone: true });
    expect(alone.findings[0]?.summary).toContain('no other instance to compare with');
  });

  test('all instances share something, also when the rest is being launched; the load balancer fails open', () => {
    const down = {
      checks: [failing('ResponseCodeMismatch', { statusCode: 500 })],
      targets: [target('unhealthy', 'Target.ResponseCodeMismatch')],
    };
    const changes = {
      a1: down,
      a2: down,
      b1: down,
      b2: down,
      c1: down,
      c2: { notInService: 'is being launched', checks: [] },
    };
    const diagnosis = diagnose(
      fleet(changes, [
        { name: 'web', serves: true, registered: 5, unhealthy: 5, draining: 0, zones: [], timeoutSeconds: 5 },
      ]),
    );
    expect(diagnosis.reach).toEqual({ kind: 'fleet' });
    expect(diagnosis.findings.map(({ symptom }) => symptom)).toEqual(['failing-open', 'wrong-answer']);
    expect(diagnosis.findings[0]?.instanceIds).toHaveLength(5);
    expect(diagnosis.findings[1]?.evidence).toContain(
      'Target group web has them as unhealthy: i-a1, i-a2, i-b1, i-b2, i-c1.',
    );
    expect(diagnosis.remarks).toEqual(['i-c2: is being launched.']);
  });

  test('a group without a registered target answers 503; one that serves nothing, or has a healthy one, does not matter', () => {
    const groups = [
      { name: 'web', serves: true, registered: 6, unhealthy: 5, draining: 0, zones: [], timeoutSeconds: 5 },
      {
        name: 'spare',
        serves: false,
        registered: 0,
        unhealthy: 0,
        draining: 0,
        zones: [],
        timeoutSeconds: 5,
      },
      { name: 'empty', serves: true, registered: 0, unhealthy: 0, draining: 0, zones: [], timeoutSeconds: 5 },
    ];
    const { findings } = diagnose(fleet({}, groups));
    expect(findings).toMatchObject([
      { symptom: 'no-target', instanceIds: [], summary: expect.stringContaining('empty') },
    ]);
    expect(findings[0]).not.toHaveProperty('reach');
  });

  test('what passes its checks and is unhealthy fails behind the load balancer only; without a check nobody knows', () => {
    const targets = [target('unhealthy', 'Target.Timeout')];
    const seen = fleet({
      a1: { targets },
      a2: { targets, checks: [] },
      b1: { targets, checks: [failing('ResponseTimeout')] },
    });
    expect(symptoms(seen)).toMatchObject([
      { symptom: 'slow', instanceIds: ['i-b1'] },
      { symptom: 'load-balancer-only', instanceIds: ['i-a1'] },
      { symptom: 'unhealthy-target', instanceIds: ['i-a2'] },
    ]);
    expect(diagnose(seen).findings[1]?.evidence).toContain(
      'Target group web says unhealthy (Target.Timeout) on i-a1.',
    );
  });

  test('an instance that fails while it drains breaks requests; one that drains and answers does not', () => {
    const seen = fleet({
      a1: { targets: [target('draining')], checks: [failing('ConnectionRefused')], suppressed: true },
      a2: { targets: [target('draining')] },
    });
    expect(symptoms(seen)).toMatchObject([{ symptom: 'draining-with-errors', instanceIds: ['i-a1'] }]);
  });

  test('D6: a target that is unhealthy and loses its connections for it is registered and unhealthy, as for the floors', () => {
    const of = (since: number) => ({
      checks: [],
      targets: [{ ...target('unhealthy.draining'), unhealthySince: since }],
    });
    expect(symptoms(fleet({ b1: of(NINE), b2: of(NINE) }))).toMatchObject([
      { symptom: 'unhealthy-target', reach: { kind: 'zone', zone: 'eu-west-1b' } },
    ]);
  });

  test('a deployment in progress is nothing wrong; a failure under suppression that gets requests is', () => {
    const stopped = { suppressed: true, checks: [failing('ConnectionRefused')] };
    const seen = diagnose(
      fleet({
        a1: { ...stopped, targets: [target('unused', 'Target.NotRegistered')] },
        a2: { ...stopped, targets: [] },
        b1: stopped,
        b2: { suppressed: true },
        c1: { checks: [{ ...passing, code: 'ResponseTimeout' }] },
        c2: { checks: [failing('', { status: 'initializing' })] },
      }),
    );
    expect(seen.findings).toMatchObject([{ symptom: 'not-listening', instanceIds: ['i-b1'] }]);
    expect(seen.remarks).toEqual([
      'i-a1, i-a2: is suppressed and out of traffic, as in a deployment; that it fails its checks is expected.',
      'i-b1, i-b2: is suppressed: Auto Scaling does not act on its checks.',
      'i-c1: has just failed a check once; the next evaluation decides.',
      'i-c2: has a check that has not decided yet.',
    ]);
  });

  test('D47: silence is said, and is no finding', () => {
    const nothing = { targets: [] };
    const seen = diagnose(
      fleet({
        a1: { ...nothing, checks: [] },
        a2: { ...nothing, checks: [failing('', { status: 'insufficient-data' })] },
        b1: { ...nothing, checks: [failing('', { status: 'initializing' })] },
        b2: { checks: [], targets: [target('draining')] },
      }),
    );
    expect(seen.well).toBe(true);
    expect(seen.remarks).toEqual([
      'i-a1: has no check and no target, so nothing says how it is.',
      'i-a2: has a check without enough data: it has no path to the instance, or is over its quota.',
      'i-b1: is starting, or nothing has an opinion on it yet.',
      'i-b2: is draining.',
    ]);
  });
});

describe("what the load balancer's nodes saw", () => {
  /** An unhealthy target without a check, and what each node says of it: nothing, or why and with what passed before. */
  const logged = (
    ...nodes: readonly (readonly [reason: string, passSeconds?: number, since?: number] | 'passes')[]
  ) => ({
    checks: [],
    targets: [
      {
        ...target('unhealthy', 'Target.Timeout'),
        logged: {
          timeoutSeconds: 5,
          nodes: nodes.map((opinion, place) => {
            const node = `10.0.${place}.7`;
            if (opinion === 'passes') return { node };
            const [reason, passSeconds = null, since = NINE] = opinion;
            const statusCode = reason === 'TargetError' ? 503 : null;
            return { node, failing: { reason, passSeconds, since, statusCode } };
          }),
        },
      },
    ],
  });

  test.each([
    ['times-out', [['TimedOut'], ['TimedOut']]],
    ['hangs', [['TimedOut'], ['TimedOut', 0.02]]],
    ['slow', [['TimedOut'], ['TimedOut', 4.1]]],
    ['wrong-answer', [['TargetError'], ['TargetError']]],
    ['wrong-answer', [['GRPCUnexpectedStatus']]],
    ['resets', [['ConnectionReset']]],
    ['unhealthy-target', [['ConnectionReset'], ['TimedOut']]],
    ['unhealthy-target', [['other']]],
    ['unhealthy-target', ['passes']],
  ] as const)('%s: %j', (symptom, nodes) => {
    expect(symptoms(fleet({ b1: logged(...nodes) }))).toMatchObject([{ symptom, instanceIds: ['i-b1'] }]);
  });

  test('a hang is told with how quickly it had answered, and by how many nodes', () => {
    const [finding] = diagnose(
      fleet({ b1: logged(['TimedOut', 0.02], ['TimedOut', 0.031, NINE + 4000]) }),
    ).findings;
    expect(finding?.summary).toMatch(/one slow request .* serves one at a time\. It is one instance of 6/);
    expect(finding?.evidence).toEqual([
      'Target group web says unhealthy (Target.Timeout) on i-b1, since 2026-11-30 09:00:00 UTC.',
      'Health check logs: 2 of 2 nodes say TimedOut of i-b1 in web; before, its checks had taken at most 0.031 s.',
      'Not so on i-a1, i-a2, i-b2, i-c1, i-c2.',
    ]);
  });

  test('without application status checks a whole zone is told by when its targets began to fail', () => {
    const zone = (since: number) => ({
      b1: logged(['TimedOut', 0.02]),
      b2: logged(['TimedOut', 0.02, since]),
    });
    expect(symptoms(fleet(zone(NINE + MINUTE)))[0]?.reach).toEqual({ kind: 'zone', zone: 'eu-west-1b' });
    expect(symptoms(fleet(zone(NINE + 40 * MINUTE)))[0]?.reach).toEqual({ kind: 'instances' });
  });

  test('nodes that disagree are a remark while one of them keeps the target healthy, and so is a check that comes near its time-out', () => {
    const [target] = logged(['TargetError'], 'passes', 'passes').targets;
    const healthy = target ? { targets: [{ ...target, state: 'healthy' }] } : {};
    const groups = [
      {
        name: 'web',
        serves: true,
        registered: 6,
        unhealthy: 0,
        draining: 0,
        zones: [],
        timeoutSeconds: 5,
        slowestPass: { target: '10.0.1.20:8080', seconds: 4.1 },
      },
      {
        name: 'api',
        serves: true,
        registered: 6,
        unhealthy: 0,
        draining: 0,
        zones: [],
        timeoutSeconds: 5,
        slowestPass: { target: '10.0.1.20:8080', seconds: 2.4 },
      },
    ];
    const { well, remarks } = diagnose(fleet({ b1: healthy }, groups));
    expect(well).toBe(true);
    expect(remarks).toEqual([
      'i-b1: 1 of 3 nodes of the load balancer see it fail in web: 10.0.0.7 (TargetError). While one sees it pass it is healthy: look at the way from those nodes to it.',
      'web: a health check of 10.0.1.20:8080 took 4.1 s of the 5 s that it may take.',
    ]);
  });
});

describe('what befalls a whole zone, or requests', () => {
  const zones = ['a', 'b', 'c'].map(letter => ({
    zone: `eu-west-1${letter}`,
    registered: 2,
    healthy: 2,
    receiving: 2,
  }));
  const group = (changes: Partial<ObservedGroup> = {}): ObservedGroup => ({
    name: 'web',
    serves: true,
    registered: 6,
    unhealthy: 0,
    draining: 0,
    zones,
    timeoutSeconds: 5,
    ...changes,
  });
  const down = { checks: [failing('ConnectionTimeout')] };

  test.each([
    [undefined, 'nobody has stated how many carry the load.'],
    [4, 'and 4 carry the load: that is enough.'],
    [5, 'and 5 carry the load: that is not enough.'],
  ])('what is left beside a zone, where %s targets are needed', (needed, told) => {
    const groups = [group(needed === undefined ? {} : { needed }), group({ name: 'spare', serves: false })];
    const [finding] = diagnose(fleet({ b1: down, b2: down }, groups)).findings;
    expect(finding?.reach).toEqual({ kind: 'zone', zone: 'eu-west-1b' });
    const left = finding?.evidence.filter(sentence => sentence.startsWith('The other zones'));
    expect(left).toHaveLength(1);
    expect(left?.[0]).toMatch(/^The other zones have 4 healthy targets of web/);
    expect(left?.[0]).toContain(told);
    // Nothing is said of other zones where it is none.
    expect(diagnose(fleet({ b1: down }, groups)).findings[0]?.evidence.join()).not.toContain('other zones');
  });

  test('a zone whose targets fail by different reasons is one all the same, and what is left is told', () => {
    const observed = fleet({ b1: down, b2: { checks: [failing('ConnectionReset')] } }, [group()]);
    const diagnosis = diagnose(observed);
    expect(diagnosis.findings.map(({ reach }) => reach?.kind)).toEqual(['instance', 'instance']);
    expect(togetherOf(diagnosis, observed.groups).join(' ')).toMatch(
      /^Together it is every instance of eu-west-1b, .* The other zones have 4 healthy targets of web;/,
    );
    const alike = fleet({ b1: down, b2: down }, [group()]);
    for (const one of [alike, fleet({ b1: down }), fleet({})])
      expect(togetherOf(diagnose(one), one.groups)).toEqual([]);
  });

  const requests = (failed: number, sent = 10_000, usual = 0) => ({
    sent,
    failed,
    minutes: 5,
    before: { sent: 1000, failed: usual, minutes: 10 },
  });

  test.each([
    ['shallow-check', group({ requests: requests(101) })],
    ['errors-while-draining', group({ requests: requests(101), draining: 1 })],
    [undefined, group({ requests: requests(100) })],
    ['errors-while-draining', group({ requests: requests(11), draining: 1 })],
    [undefined, group({ requests: requests(10), draining: 1 })],
    // A few are chance, whatever they are a share of.
    ['shallow-check', group({ requests: requests(10, 50) })],
    [undefined, group({ requests: requests(9, 50) })],
    [undefined, group({ requests: requests(9, 0), draining: 1 })],
    // What failed before the drain as well is not by it.
    [undefined, group({ requests: requests(80, 10_000, 4), draining: 1 })],
    ['errors-while-draining', group({ requests: requests(81, 10_000, 4), draining: 1 })],
    ['shallow-check', group({ requests: requests(500, 10_000, 50), draining: 1 })],
    [
      'errors-while-draining',
      group({
        requests: { ...requests(20), before: { sent: 0, failed: 0, minutes: 10 } },
        draining: 1,
      }),
    ],
    [undefined, group({ requests: requests(0, 0) })],
    [undefined, group({ requests: requests(500), unhealthy: 1 })],
    [undefined, group({ requests: requests(500), serves: false })],
    ['failing-open', group({ requests: requests(500), unhealthy: 6 })],
  ])('%s', (symptom, of) => {
    const { findings } = diagnose(fleet({}, [of]));
    expect(findings.map(found => found.symptom)).toEqual(symptom ? [symptom] : []);
  });
});

describe('whether a check has passed since a change', () => {
  const pace = { graceSeconds: 300, failureThreshold: 2, intervalSeconds: 60 };
  const launched = { launchedAt: NINE, checkChangedAt: NINE - 60 * MINUTE };
  const created = { launchedAt: NINE - 60 * MINUTE, checkChangedAt: NINE };
  const failed = (minutes: number, changes = launched) =>
    passedSince({ status: 'failed', since: NINE + minutes * MINUTE }, changes, pace);

  test('a failure as early as it can be leaves no room for a pass: the grace period counts from the launch', () => {
    expect([failed(8), failed(9)]).toEqual(['no', 'yes']);
    expect([failed(3, created), failed(4, created)]).toEqual(['no', 'yes']);
  });

  test('a failure from before the change, or without times, tells nothing', () => {
    expect(failed(-1, created)).toBe('unknown');
    expect(passedSince({ status: 'failed' }, launched, pace)).toBe('unknown');
    for (const lacks of ['launchedAt', 'checkChangedAt'])
      expect(failed(1, { ...launched, [lacks]: undefined })).toBe('unknown');
    expect(passedSince({ status: 'insufficient-data', since: NINE }, launched, pace)).toBe('unknown');
  });

  test('a pass is one, and a check that has not decided never was', () => {
    expect(passedSince({ status: 'passed' }, launched, pace)).toBe('yes');
    expect(passedSince({ status: 'initializing' }, launched, pace)).toBe('no');
  });
});

describe('whatever is observed', () => {
  const check = fc.record({
    checkId: fc.constantFrom('asc-1', 'asc-2'),
    aggregation: fc.constantFrom('included', 'excluded', 'unknown'),
    status: fc.constantFrom('passed', 'failed', 'initializing', 'insufficient-data', 'not-applicable', 'new'),
    code: fc.constantFrom(
      'ResponseCodeMatched',
      'ConnectionTimeout',
      'ConnectionRefused',
      'ResponseTimeout',
      'other',
    ),
    since: fc.integer({ min: NINE, max: NINE + 60 * MINUTE }),
    passedSinceChange: fc.constantFrom('yes' as const, 'no' as const, 'unknown' as const),
  });
  const listed = fc.record({
    group: fc.constantFrom('web', 'api'),
    state: fc.constantFrom(
      'initial',
      'healthy',
      'unhealthy',
      'unhealthy.draining',
      'unused',
      'draining',
      'unavailable',
    ),
  });
  const instance = fc.record(
    {
      zone: fc.constantFrom('a', 'b', 'c'),
      suppressed: fc.boolean(),
      checks: fc.array(check, { maxLength: 2 }),
      targets: fc.array(listed, { maxLength: 2 }),
      notInService: fc.constant('is in Standby'),
    },
    { requiredKeys: ['zone', 'suppressed', 'checks', 'targets'] },
  );
  const group = fc.record({
    name: fc.constantFrom('web', 'api'),
    serves: fc.boolean(),
    registered: fc.integer({ min: 0, max: 3 }),
    unhealthy: fc.integer({ min: 0, max: 3 }),
    draining: fc.constant(0),
    zones: fc.constant([]),
    timeoutSeconds: fc.constant(5),
  });
  const observed = fc.record({
    instances: fc
      .array(instance, { maxLength: 8 })
      .map(all => all.map((one, index) => ({ ...one, instanceId: `i-${index}` }))),
    groups: fc.uniqueArray(group, { maxLength: 2, selector: ({ name }) => name }),
  });

  test('a diagnosis never contradicts itself', () => {
    fc.assert(
      fc.property(observed, seen => {
        const { well, reach, findings } = diagnose(seen);
        expect(well).toBe(findings.length === 0);
        expect(reach === undefined).toBe(findings.every(finding => finding.reach === undefined));
        for (const finding of findings) {
          const named = seen.instances.filter(({ instanceId }) => finding.instanceIds.includes(instanceId));
          expect(named).toHaveLength(finding.instanceIds.length);
          expect(named.every(({ notInService }) => notInService === undefined)).toBe(true);
          expect(finding.evidence.length).toBeGreaterThan(0);
          expect(finding.summary).toMatch(/^[A-Z].*\.$/);
          switch (finding.reach?.kind) {
            case 'instance':
              expect(named).toHaveLength(1);
              break;
            case 'zone':
              expect(new Set(named.map(({ zone }) => zone)).size).toBe(1);
              expect(named.length).toBeGreaterThan(1);
              break;
            case 'fleet':
              // Then everything that is wrong together is no less.
              expect(reach).toEqual({ kind: 'fleet' });
              break;
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('the order of instances and groups is irrelevant', () => {
    fc.assert(
      fc.property(observed, seen => {
        const turned = { instances: seen.instances.toReversed(), groups: seen.groups.toReversed() };
        expect(diagnose(turned)).toEqual(diagnose(seen));
      }),
      { numRuns: 200 },
    );
  });

  test('another instance that is well never makes anything wrong', () => {
    fc.assert(
      fc.property(observed, seen => {
        const more = { ...seen, instances: [...seen.instances, ...wells.slice(0, 1)] };
        const kinds = (of: ObservedFleet) => diagnose(of).findings.map(({ symptom }) => symptom);
        expect(kinds(more)).toEqual(kinds(seen));
      }),
      { numRuns: 100 },
    );
  });
});
