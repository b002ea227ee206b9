import { describe, expect, test } from 'vitest';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

describe('D17', () => {
  test('ready, then in traffic, then ready twice more, then released', async () => {
    const run = await bracket();
    await run.before();
    const after = await run.after();
    const order = [
      'ObserveReady',
      'Register',
      'ObserveInService',
      'ObserveEvidence',
      'Release',
      'ObserveReleased',
    ];
    const entered = order.map(state => run.enteredAt(after, state));
    expect(entered).toEqual([...entered].sort((a, b) => a - b));
    // R-AGREE: two evaluations, one a minute.
    expect(run.enteredAt(after, 'Release') - run.enteredAt(after, 'Register')).toBeGreaterThan(MINUTE);
  });

  test('an instance that is not ready gets no traffic', async () => {
    const run = await bracket();
    await run.before();
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.stop();
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.clock.pass(8 * MINUTE);
    expect(run.actsOf('RegisterTargets')).toEqual([]);
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.start(0);
    await run.end(after);
    expect(after.status).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('R-AGREE: a failure between two evaluations begins their count anew', async () => {
    const run = await bracket({ ...usual, targetGroups: [] });
    await run.before();
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.reaches(after, 'WaitForNextEvaluation');
    const application = run.standing.fleet.instances[0]?.application;
    application?.stop();
    await run.clock.pass(2 * MINUTE);
    application?.start(0);
    await run.end(after);
    expect(outcome(after)).toBe('SUCCEEDED');
    expect(run.path(after).filter(state => state === 'WaitForNextEvaluation')).toHaveLength(2);
  });

  test('only what is evaluated since it is in service is evidence, however long that took', async () => {
    const run = await bracket({
      ...usual,
      autoScaling: null,
      loadBalancer: { type: 'network' },
      targetGroups: [
        {
          ...{ name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '60' } },
          healthCheck: { intervalSeconds: 30, healthyThreshold: 5 },
        },
      ],
    });
    await run.before();
    const after = await run.after();
    expect(run.enteredAt(after, 'ObserveEvidence') - run.enteredAt(after, 'Register')).toBeGreaterThan(
      100_000,
    );
    // Two evaluations, one a minute, of which the first may just have been.
    expect(run.enteredAt(after, 'Release') - run.enteredAt(after, 'NeedsEvidence')).toBeGreaterThan(35_000);
  });

  test('R-BUDGET: an instance has as long as its slowest check needs, whatever the policy says', async () => {
    const run = await bracket({ ...usual, targetGroups: [] });
    for (const ApplicationStatusCheckId of run.standing.fleet.checkIds)
      ec2Api(run.standing.account.checks).ModifyApplicationStatusCheck({
        ApplicationStatusCheckId,
        SuccessThreshold: 5,
      });
    await run.before({ policy: { readySeconds: 60 } });
    const application = run.standing.fleet.instances[0]?.application;
    application?.stop();
    await run.clock.pass(4 * MINUTE);
    application?.start(0);
    await run.clock.pass(MINUTE);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
  });

  test('on request it gets traffic before it is ready', async () => {
    const run = await bracket();
    await run.before({ policy: { readyBeforeTraffic: false } });
    const after = await run.after();
    expect(after.status).toBe('SUCCEEDED');
    expect(run.path(after)).not.toContain('ObserveReady');
  });
});
