import { describe, expect, test } from 'vitest';
import { type Bracket, bracket, outcome, usual } from './helpers/bracket.ts';

const policy = { minHealthyPercent: 10, waitSeconds: 1800 };

/**
 * A run over three instances takes two of them over from a run that has failed, and waits for the run that is live on the third.
 *
 * @param meanwhile happens while it waits
 */
async function queued(meanwhile: (run: Bracket) => void = () => {}): Promise<Bracket> {
  const run = await bracket({ ...usual, instances: 8, autoScaling: { healthChecks: ['EC2', 'ELB'] } });
  await run.before({ runId: 'live', fleet: { instanceIds: run.ids(2) }, policy });
  await run.before({ runId: 'failed', policy });
  const failing = run.start('AfterDeploy', { runId: 'failed' });
  await run.clock.pass(5_000);
  run.stack.executions.stop(failing.arn, 'Operator.Stopped', 'by a person');
  await run.clock.pass(10_000);
  const patient = run.startBefore({
    runId: 'patient',
    fleet: { instanceIds: run.ids(0, 1, 2) },
    queue: true,
    policy,
  });
  await run.clock.pass(90_000);
  expect(run.path(patient).filter(state => state === 'Plan').length).toBeGreaterThan(1);
  meanwhile(run);
  expect(outcome(await run.after({ runId: 'live' }))).toBe('SUCCEEDED');
  await run.end(patient);
  expect(outcome(patient), patient.cause).toBe('SUCCEEDED');
  expect(outcome(await run.after({ runId: 'patient' }))).toBe('SUCCEEDED');
  return run;
}

const registered = (run: Bracket): string[] =>
  run.standing.account.loadBalancing
    .registered(run.standing.fleet.targetGroups[0]?.arn ?? '')
    .map(({ id }) => id);

describe('D2, R-UNDO: what a queued run takes over stays its own until its end', () => {
  test('the memberships, which are put back', async () => {
    const run = await queued();
    expect(registered(run).sort()).toEqual(run.ids().sort());
    expect(await run.violations()).toEqual([]);
  });

  test('D4: the hold on a group, also when the group is planned without one in the end', async () => {
    const run = await queued(({ standing }) => {
      standing.account.autoScaling.group('web').healthCheckTypes = ['EC2'];
    });
    expect([...run.standing.account.autoScaling.group('web').suspended.keys()]).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });

  test('the claim on an instance that is terminated meanwhile', async () => {
    const run = await queued(of => {
      of.standing.account.ec2.terminate(of.ids(0)[0] ?? '');
    });
    expect(registered(run)).toContain(run.ids(1)[0]);
    expect((await run.ledger()).map(({ pk }) => pk)).not.toContain(`instance#${run.ids(0)[0]}`);
    expect(await run.violations()).toEqual([]);
  });
});
