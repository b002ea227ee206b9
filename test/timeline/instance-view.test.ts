import { expect, test } from 'vitest';
import type { Entry, Happening } from '../../local/account/journal.ts';
import { InstanceView } from '../../local/timeline/instance-view.ts';

const ID = 'i-0123456789abcdef0';

/** The lane of one instance after these happenings, shown from second 0 to 100. */
function lane(...happenings: readonly (readonly [seconds: number, Happening])[]) {
  const view = new InstanceView(0);
  for (const [seconds, happening] of happenings)
    view.hear({ ...happening, at: seconds * 1000 } satisfies Entry);
  const { tracks, marks } = view.lane(100_000);
  const short = Object.entries(tracks).map(([track, spans]) => [
    track,
    spans.map(({ state, from, to, note }) => `${state} ${from / 1000}-${to / 1000}${note ? ` ${note}` : ''}`),
  ]);
  return { ...Object.fromEntries(short), marks };
}

const target = (port: number, state: string, reason?: string): Happening => ({
  type: 'target',
  targetGroupArn: 'arn:group',
  id: ID,
  port,
  state,
  reason,
});
const check = (status: string, code = ''): Happening => ({
  type: 'check',
  instanceId: ID,
  checkId: 'asc-1',
  status,
  code,
});
const overall = (status: string): Happening => ({ type: 'application-status', instanceId: ID, status });
const instance = (state: string): Happening => ({ type: 'instance', instanceId: ID, state });
const deployment = (state: 'installing' | 'installed'): Happening => ({
  type: 'deployment',
  state,
  instanceIds: [ID],
  detail: '',
});

test('what began before the window is shown from its start on', () => {
  expect(lane([-50, target(80, 'healthy')], [-20, check('passed')])).toMatchObject({
    traffic: ['healthy 0-100'],
    application: ['ready 0-100'],
  });
});

test('R-STATE: out of traffic only when the last of all targets has left', () => {
  const seen = lane(
    [-1, target(80, 'healthy')],
    [-1, target(81, 'healthy')],
    [10, target(80, 'draining')],
    [10, target(81, 'draining')],
    [20, target(80, 'unused', 'Target.NotRegistered')],
    [40, target(81, 'unused', 'Target.NotRegistered')],
    [60, target(80, 'initial')],
    [70, target(80, 'healthy')],
  );
  expect(seen.traffic).toEqual([
    'healthy 0-10',
    'draining 10-40',
    'out 40-60',
    'initial 60-70',
    'healthy 70-100 1 of 2 targets',
  ]);
});

test('R-NOTINUSE: a target that nothing uses is out, with the reason', () => {
  expect(lane([-1, target(80, 'unused', 'Target.NotInUse')]).traffic).toEqual(['out 0-100 Target.NotInUse']);
});

test('a failing check shows as such after the deployment, and as impaired once the whole status is', () => {
  const seen = lane(
    [-1, check('passed')],
    [10, deployment('installing')],
    [20, check('failed', 'ConnectionRefused')],
    [40, deployment('installed')],
    [60, overall('impaired')],
  );
  expect(seen.application).toEqual([
    'ready 0-10',
    'deploying 10-40',
    'not-ready 40-60 ConnectionRefused',
    'impaired 60-100 ConnectionRefused',
  ]);
});

test('an extended suppression is the same suppression', () => {
  const suppression = (
    state: 'spreading' | 'suppressed' | 'extended' | 'releasing' | 'released',
  ): Happening => ({
    type: 'suppression',
    instanceId: ID,
    state,
    resumesAt: undefined,
  });
  const seen = lane(
    [5, suppression('spreading')],
    [20, suppression('suppressed')],
    [30, suppression('extended')],
    [60, suppression('releasing')],
    [70, suppression('released')],
  );
  expect(seen.suppression).toEqual(['spreading 5-20', 'suppressed 20-60', 'releasing 60-70']);
});

test('R-GONE: an instance that is gone is in no traffic; only Auto Scaling replaces', () => {
  const gone = lane(
    [-1, target(80, 'healthy')],
    [30, instance('shutting-down')],
    [40, instance('terminated')],
  );
  expect(gone).toMatchObject({ traffic: ['healthy 0-30'], application: ['terminated 30-100'] });
  const replaced = lane(
    [20, { type: 'activity', group: 'web', kind: 'terminate', instanceId: ID, cause: 'ELB' }],
    [30, instance('shutting-down')],
  );
  expect(replaced.application).toEqual(['replaced 30-100']);
  expect(replaced.marks).toEqual([{ at: 20_000, kind: 'ended-by-auto-scaling', text: 'ELB' }]);
});
