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

  test('D2, D37: the rollback of what has broken a zone is its cure, by CodeDeploy or over the whole fleet', async () => {
    const run = await inZoneEvent();
    const names = { applicationName: 'shop', deploymentGroupName: 'web' };
    const { codeDeploy } = run.standing.account;
    codeDeploy.addDeploymentGroup(names);
    const failed = codeDeploy.startDeployment({ ...names, instanceIds: run.ids(1) });
    const rollback = codeDeploy.startDeployment({ ...names, instanceIds: run.ids(1), rollbackOf: failed });
    const policy = { minHealthyPercent: 0 };
    const began = async (fleet: object) =>
      outcome(
        await run.before({ runId: JSON.stringify(fleet).replaceAll(/\W/g, '').slice(0, 50), fleet, policy }),
      );
    expect(await began({ codeDeployDeploymentId: failed })).toBe('FAILED ZoneEvent');
    expect(await began({ codeDeployDeploymentId: rollback })).toBe('SUCCEEDED');
    expect(await began({ instanceIds: run.ids(0, 2) })).toBe('FAILED ZoneEvent');
    expect(await began({ instanceIds: run.ids(0, 3, 2) })).toBe('SUCCEEDED');
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
    event: { zone: 'eu-west-1a', failing: ['i-1:80', '10.0.0.2:80'], receiving: ['i-3:80', '10.0.0.4:80'] },
    summary: 'It is the zone.',
    at: NOW,
    unhealthySince: {},
  };
  const { event: _, ...wellView } = view;
  const members = (...numbers: readonly number[]) =>
    numbers.map(
      (number): Member => ({
        instanceId: `i-${number}`,
        zone: 'unimportant',
        addresses: [`10.0.0.${number}`],
        includedChecks: [],
        excludedChecks: [],
        suppression: 'none',
        memberships: [],
      }),
    );

  test.each([
    ['a view of now', view, [3], NOW + 300, true],
    ['a target by address', view, [4], NOW, true],
    ['a view that is too old', view, [3], NOW + 301, false],
    ['work on the zone alone', view, [1, 2], NOW, false],
    ['work on a part of the zone', view, [1], NOW, false],
    ['work on what receives nothing, here or elsewhere', view, [1, 9], NOW, false],
    ['a part of the zone and what receives', view, [1, 3], NOW, true],
    ['all that fails and what receives', view, [1, 2, 3], NOW, false],
    ['another class', { ...wellView, class: 'all-targets' as const }, [3], NOW, false],
  ])('%s', async (_, kept, numbers, now, refused) => {
    const { as } = await createLedger();
    await as(() => keepZoneView(ARN, kept));
    const views = await as(() => zoneViews([ARN, 'arn:never-viewed']));
    const judge = () => refuseZoneEvents(members(...numbers), views, now);
    if (refused) expect(judge).toThrow(ZoneEvent);
    else expect(judge).not.toThrow();
  });

  test('R-NEWER: an older view does not replace a newer one', async () => {
    const { as } = await createLedger();
    for (const at of [NOW, NOW - 60, NOW + 60, NOW]) await as(() => keepZoneView(ARN, { ...view, at }));
    expect((await as(() => zoneViews([ARN]))).get(ARN)?.at).toBe(NOW + 60);
  });
});
