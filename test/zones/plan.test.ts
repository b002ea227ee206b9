import { describe, expect, test } from 'vitest';
import { refuseZoneEvents } from '../../functions/core/bracket/zone-events.ts';
import type { Member } from '../../functions/core/domain/fleet.ts';
import { ZoneEvent } from '../../functions/core/errors.ts';
import { keepZoneView, type ZoneView, zoneViews } from '../../functions/core/ledger/zone-views.ts';
import { type Fleet, outcome } from '../machine/helpers/bracket.ts';
import { createLedger, NOW } from '../unit/helpers/ledger.ts';
import { SIX, viewed } from './helpers/viewed.ts';

/** Where Auto Scaling would replace what fails, somebody keeps it from it. */
const WATCHED: Fleet = {
  ...SIX,
  autoScaling: { suspended: ['HealthCheck', 'ReplaceUnhealthy'] },
  checks: [{ port: 8080 }],
};

/** A fleet of which a whole zone fails. */
async function inZoneEvent(fleet: Fleet = SIX) {
  const all = await viewed(fleet);
  all.fail(0, 3);
  await all.minutes(4);
  return all.run;
}

const until = '2026-11-30T23:00:00Z';

describe('no deployment into a zone event', () => {
  test('a run that would take more out is refused by name, and touches nothing', async () => {
    const run = await inZoneEvent();
    const refused = await run.before({ fleet: { instanceIds: run.ids(1, 2) } });
    expect(outcome(refused)).toBe('FAILED ZoneEvent');
    expect(refused.cause).toMatch(
      /whole zone of target group web fails, eu-west-1a, .* policy\.zoneEvents: ignore/,
    );
    expect(run.acts).toEqual([]);
  });

  test('D37: work on that zone alone is repair, told to it goes on, and so it does in an emergency', async () => {
    const run = await inZoneEvent();
    const began = async (runId: string, request: object) => outcome(await run.before({ runId, ...request }));
    expect(await began('repair', { fleet: { instanceIds: run.ids(0, 3) } })).toBe('SUCCEEDED');
    const policy = { zoneEvents: 'ignore', minHealthyPercent: 0 };
    expect(await began('told', { fleet: { instanceIds: run.ids(1) }, policy })).toBe('SUCCEEDED');
    const emergency = { reason: 'the zone does not come back', until };
    expect(await began('emergency', { fleet: { instanceIds: run.ids(2) }, emergency })).toBe('SUCCEEDED');
  });

  test('also where somebody else moves the traffic: the groups are those of the Auto Scaling group', async () => {
    const run = await inZoneEvent(WATCHED);
    const request = { fleet: { instanceIds: run.ids(1) }, traffic: 'leave' };
    expect(outcome(await run.before(request))).toBe('FAILED ZoneEvent');
  });

  test('a fleet of which one target fails in each of two zones is none', async () => {
    const { run, fail, minutes } = await viewed();
    fail(0, 1);
    await minutes(4);
    expect(outcome(await run.before({ fleet: { instanceIds: run.ids(2) } }))).toBe('SUCCEEDED');
  });
});

describe('what the ledger has of it', () => {
  const ARN = 'arn:web';
  const view: ZoneView = {
    group: 'web',
    class: 'one-zone',
    zone: 'eu-west-1a',
    summary: 'It is the zone.',
    at: NOW,
    unhealthySince: {},
  };
  const members = (...zones: readonly string[]) =>
    zones.map(
      (zone): Member => ({
        instanceId: `i-${zone}`,
        zone,
        addresses: [],
        includedChecks: [],
        excludedChecks: [],
        suppression: 'none',
        memberships: [],
      }),
    );

  test.each([
    ['a view of now', view, ['eu-west-1b'], NOW + 300, true],
    ['a view that is too old', view, ['eu-west-1b'], NOW + 301, false],
    ['work on the zone alone', view, ['eu-west-1a', 'eu-west-1a'], NOW, false],
    ['another class', { ...view, class: 'all-targets' as const }, ['eu-west-1b'], NOW, false],
  ])('%s', async (_, kept, zones, now, refused) => {
    const { as } = await createLedger();
    await as(() => keepZoneView(ARN, kept));
    const views = await as(() => zoneViews([ARN, 'arn:never-viewed']));
    const judge = () => refuseZoneEvents(members(...zones), views, now);
    if (refused) expect(judge).toThrow(ZoneEvent);
    else expect(judge).not.toThrow();
  });

  test('R-NEWER: an older view does not replace a newer one', async () => {
    const { as } = await createLedger();
    for (const at of [NOW, NOW - 60, NOW + 60, NOW]) await as(() => keepZoneView(ARN, { ...view, at }));
    expect((await as(() => zoneViews([ARN]))).get(ARN)?.at).toBe(NOW + 60);
  });
});
