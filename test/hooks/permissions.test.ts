import { expect, it } from 'vitest';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import {
  claimFor,
  demotionOf,
  holdFor,
  secondsUntilHealed,
  stopAt,
  swept,
} from '../sweep/helpers/stopped.ts';
import { unneededByAll } from '../template/helpers/role-groups.ts';
import { claimOf } from '../unit/helpers/records.ts';
import { busyOnce } from './helpers/busy-association.ts';
import { hookedDeployment } from './helpers/lifecycle-hooks.ts';
import { deployed, throughCodeDeploy } from './helpers/through-code-deploy.ts';

const failing = (action: string, code: string, of?: string) => (): readonly Gate[] => [
  {
    before(call) {
      if (call.action === action && (of === undefined || call.caller.name === of))
        throw new ServiceError(code, 'no', 500);
    },
  },
];

/** A run that was cut off, and a claim and a hold that a run which has succeeded has left. */
async function sweptOfEverything() {
  const run = await swept();
  await run.before();
  await run.after();
  const [instanceId = ''] = run.ids(3);
  await claimFor(run, 'r', instanceId, claimOf(instanceId, []));
  await holdFor(run, 'r', 'web');
  for (const id of run.standing.fleet.checkIds) await demotionOf(run, id);
  await secondsUntilHealed(run);
  run.startBefore({ runId: 'cut-off' });
  await run.clock.runFor(stopAt(run, 'BeforeDeploy', 'ObserveDrained', 0));
  await secondsUntilHealed(run);
  return run;
}

/** What a failed run holds is looked after. */
async function sweptWhileHeld() {
  const run = await swept();
  const fleet = { instanceIds: run.ids(0) };
  await run.before({ fleet, policy: { readySeconds: 60, afterFailure: 'held' } });
  for (const id of fleet.instanceIds) run.standing.account.ec2.instance(id)?.application.stop();
  await run.after();
  await run.clock.pass(6 * 60_000);
  return run;
}

it('the hooks may do all that they do, and nothing else', async () => {
  const whileIn = (state: string, what: string) =>
    throughCodeDeploy({}, { events: [{ after: state, atSeconds: 20, do: what }] }, { instances: 2 });
  const how = { loadBalancerStep: true, blueGreen: { terminateAfterMinutes: 1 } };
  const blueGreen = throughCodeDeploy(how, {}, { instances: 2, autoScaling: { healthChecks: ['EC2'] } });
  const runs = [
    await deployed({ scenario: whileIn('ObserveEvidence', 'stop-deployment') }),
    await deployed({
      scenario: whileIn('LetActsEnd', 'stop-execution'),
      gates: failing('DeregisterTargets', 'ValidationError'),
    }),
    await hookedDeployment({ at: ['BeforeInstall', 'BeforeAllowTraffic', 'AfterAllowTraffic'] }),
    await hookedDeployment({ gates: failing('StartExecution', 'ExecutionLimitExceeded') }),
    await hookedDeployment({ gates: failing('DescribeExecution', 'InternalFailure', 'SettleFunction') }),
    await deployed({ scenario: blueGreen, gates: () => [busyOnce().gate] }),
    await sweptOfEverything(),
    await sweptWhileHeld(),
    await swept({ gates: failing('Scan', 'InternalServerError') }).then(async run => {
      await run.clock.pass(12 * 60_000);
      return run;
    }),
  ];
  const stacks = runs.flatMap(({ stack }) => stack ?? []);
  expect(stacks).toHaveLength(runs.length);
  const denied = stacks.flatMap(({ lambda }) =>
    lambda.logs.filter(({ line }) => line.includes('AccessDenied')),
  );
  expect(denied).toEqual([]);
  expect(unneededByAll('hooks', stacks)).toEqual([]);
  // It would find one: the first two have no deployment to ECS or Lambda.
  expect(unneededByAll('hooks', stacks.slice(0, 2))).toContainEqual(
    expect.stringContaining('LifecycleHookFunctionRole'),
  );
});
