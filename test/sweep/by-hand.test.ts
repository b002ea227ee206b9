import { describe, expect, test } from 'vitest';
import { findRun } from '../../functions/core/ledger/runs.ts';
import { byHand, describeByHand } from '../../local/cli/by-hand-text.ts';
import { readHandled } from '../../local/cli/handled-run.ts';
import { runAs } from '../../local/wire/invocation.ts';
import { hooked, scaled } from '../instances/helpers/launches.ts';
import { type Bracket, bracket, type Fleet, outcome } from '../machine/helpers/bracket.ts';
import { runLine } from './helpers/aws-cli.ts';
import { enteredState, held, small } from './helpers/stopped.ts';

const MINUTE = 60_000;

/** What `quiesce status RUN --by-hand` prints; empty when the ledger does not know the run. */
function printed(of: Bracket, runId: string): Promise<string> {
  const { world } = of.standing.account;
  const caller = { kind: 'operator', name: 'person' } as const;
  const transport = of.stack.wire.transport();
  const table = of.stack.template.tables.get('Ledger')?.name ?? '';
  const work = async () => {
    const run = await findRun(runId);
    const now = Math.floor(world.clock.now() / 1000);
    return run ? describeByHand(runId, byHand(await readHandled(run), table, now)) : '';
  };
  return of.clock.runFor(runAs({ caller, world, random: world.random, transport }, work));
}

/** Does what is printed, line by line, as a person would, until there is nothing more to ask. */
async function closeByHand(of: Bracket, runId: string): Promise<string> {
  for (let asked = 0; asked < 3; asked++) {
    const text = await printed(of, runId);
    // Its plan was in flight.
    if (text === '') await of.clock.pass(65_000);
    for (const line of text.split('\n')) {
      if (line.startsWith('# Wait')) await of.clock.pass(line.includes('65 s') ? 65_000 : 3 * MINUTE);
      else if (line.startsWith('aws ')) await of.clock.runFor(runLine(line, of.stack.wire.transport()));
    }
    if (text !== '' && !text.includes('ask again')) return text;
  }
  throw new Error('it is never told what is left');
}

/** No event and no schedule reaches any function. */
const nothingHelps = (fleet: Fleet): Promise<Bracket> => bracket(fleet, { deliveries: () => [] });

type Machine = 'BeforeDeploy' | 'AfterDeploy';

/** One of every kind; EVERY_STATE=1 tries all of them. */
const SOME: Readonly<Record<Machine, readonly string[]>> = {
  BeforeDeploy: ['Plan', 'Suppress', 'Deregister', 'GoAhead'],
  AfterDeploy: ['Resume', 'Register', 'Release', 'Succeed'],
};

async function statesOf(machine: Machine): Promise<readonly string[]> {
  if (!process.env.EVERY_STATE) return SOME[machine];
  const run = await nothingHelps(small);
  const before = await run.before();
  return [...new Set(run.path(machine === 'BeforeDeploy' ? before : await run.after()))];
}

describe('by hand, with nothing of Quiesce running', () => {
  test.for(['BeforeDeploy', 'AfterDeploy'] as const)(
    'the printed calls close a bracket from every state of %s',
    { timeout: 300_000 },
    async machine => {
      const run = await nothingHelps(small);
      for (const state of await statesOf(machine)) {
        const runId = `${machine}-${state}`;
        const entered = enteredState(run, machine, state, 60);
        if (machine === 'AfterDeploy') {
          expect(outcome(await run.before({ runId }))).toBe('SUCCEEDED');
          run.start('AfterDeploy', { runId });
        } else run.startBefore({ runId });
        await run.clock.runFor(entered);
        await closeByHand(run, runId);
        expect(await held(run), state).toEqual([]);
        // A release shows after minutes; until then a new run would take it for somebody else's suppression.
        await run.clock.pass(5 * MINUTE);
      }
      expect(await run.violations()).toEqual([]);
    },
  );

  test('a group of addresses', async () => {
    const run = await nothingHelps({
      ...small,
      autoScaling: null,
      targetGroups: [
        {
          name: 'addresses',
          port: 8080,
          targetType: 'ip',
          attributes: { 'deregistration_delay.timeout_seconds': '30' },
        },
      ],
    });
    expect(outcome(await run.before())).toBe('SUCCEEDED');
    expect(await closeByHand(run, 'r')).toMatch(/register-targets .*Id=10\.\d/);
    expect(await run.violations()).toEqual([]);
  });

  test('a group in Standby', async () => {
    const run = await nothingHelps(small);
    expect(outcome(await run.before({ policy: { autoScaling: 'standby' } }))).toBe('SUCCEEDED');
    const text = await closeByHand(run, 'r');
    expect(text).toContain('aws autoscaling exit-standby --auto-scaling-group-name web --instance-ids i-');
    expect(await run.violations()).toEqual([]);
  });

  test('beside other runs, which keep what they need', async () => {
    const run = await nothingHelps({ ...small, instances: 6 });
    const [first, shared, last] = [run.ids(0), run.ids(1), run.ids(2)].map(ids => ids[0] ?? '');
    const start = (runId: string, more: object) => run.before({ runId, ...more });
    await start('closed', { fleet: { instanceIds: [first, shared] } });
    await start('same-instance', { traffic: 'leave', fleet: { instanceIds: [shared] } });
    await start('same-group', { fleet: { instanceIds: [last] } });
    await closeByHand(run, 'closed');
    const { checks, autoScaling } = run.standing.account;
    expect([first, shared, last].map(id => checks.suppression(id ?? '')?.state)).toEqual([
      'releasing',
      'suppressed',
      'suppressed',
    ]);
    expect(autoScaling.group('web').suspended.size).toBe(2);
    for (const runId of ['same-instance', 'same-group'])
      expect(outcome(await run.after({ runId }))).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('what was launched during the run is released as well', async () => {
    const fleet = await scaled(hooked({}, { hooks: { launch: 60 } }), {
      deliveries: (_event, rule) => (rule.includes('InstanceLaunch') ? [500] : []),
    });
    const run = fleet.bracket;
    expect(outcome(await run.before({ policy: { launches: 'join' } }))).toBe('SUCCEEDED');
    fleet.scaleTo(5);
    await fleet.pass(420);
    const [launched = ''] = fleet.newcomers;
    expect(run.standing.account.checks.overall(launched).status).toBe('suppressed');
    await closeByHand(run, 'r');
    await run.clock.pass(5 * MINUTE);
    expect(run.standing.account.checks.overall(launched).status).toBe('ok');
    expect(await run.violations()).toEqual([]);
  });

  test("D39: somebody else's suppression, which was lengthened, gets its own end back", async () => {
    const run = await nothingHelps(small);
    run.suppressByHand(run.ids(0), 3000);
    await run.clock.pass(5 * MINUTE);
    expect(outcome(await run.before({ fleet: { instanceIds: run.ids(0) } }))).toBe('SUCCEEDED');
    const text = await closeByHand(run, 'r');
    expect(text).toMatch(/enable-application-status-check-suppression .*--duration-seconds \d+/);
    const ends = run.standing.account.checks.suppression(run.ids(0)[0] ?? '')?.resumesAt ?? 0;
    const began = run.entries('suppression')[0]?.at ?? 0;
    // What is left is counted from the printing, three minutes before the call.
    expect(Math.abs(ends - began - 3_180_000)).toBeLessThan(2000);
  });

  test('a run that is closed has nothing left to do by hand', async () => {
    const run = await nothingHelps(small);
    await run.before();
    await run.after();
    expect(await printed(run, 'r')).toBe('# Nothing of run r is left.\n');
  });
});
