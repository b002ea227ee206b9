import { describe, expect, it } from 'vitest';
import type { Entry } from '../../local/account/journal.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { type Deployed, deployed, executionsOf, throughCodeDeploy } from './helpers/through-code-deploy.ts';

const at = (after: string, what: string, atSeconds = 20) => ({ events: [{ after, atSeconds, do: what }] });

/** Nothing stays suppressed, out of traffic, held or claimed, and every run has ended and says why (invariants 4 and 7). */
function expectAllUndone({ violations, measures, errors }: Deployed): void {
  expect(violations).toEqual([]);
  expect(measures.requestsFailed).toBe(0);
  expect(errors).toEqual([]);
}

const failure = ({ events }: Deployed) => events.find(({ status }) => status === 'Failed');
const endings = (all: Deployed, machine: string) =>
  executionsOf(all, machine).map(({ status, error }) => [status, error]);

/** CodeDeploy's hour for a lifecycle event, of which the script leaves a part. */
const LIMIT_SECONDS = 3240;

describe('R-HOOK: the hook is answered before its deadline, and everything is undone, when', () => {
  it.each([
    ['it spreads the suppression', 'Lead', 'ApplicationStop'],
    ['it gathers evidence', 'ObserveEvidence', 'ValidateService'],
  ])('D32: StopDeployment comes while %s', async (_, state, event) => {
    const all = await deployed({ scenario: throughCodeDeploy({}, at(state, 'stop-deployment')) });
    expectAllUndone(all);
    expect(all.deployments.map(({ status }) => status)).toEqual(['Stopped']);
    // By CodeDeploy, or by the run, which hears of it first.
    const log = expect.stringMatching(/has ended for i-|DeploymentEnded: /);
    expect(failure(all)).toMatchObject({ event, log });
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'DeploymentEnded']]);
    expect(all.measures.replaced).toBe(0);
  });

  it('D32: StopDeployment comes, and its event is lost: the next question of the script ends the run', async () => {
    const deliveries = (event: Readonly<Record<string, unknown>>) =>
      event.source === 'aws.codedeploy' ? [] : [500];
    const scenario = throughCodeDeploy({}, at('ObserveEvidence', 'stop-deployment'));
    const all = await deployed({ scenario, deliveries });
    expectAllUndone(all);
    expect(failure(all)?.log).toContain('has ended for i-');
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'DeploymentEnded']]);
  });

  it.each([
    ['its plan is made', 'Plan', 'ApplicationStop', 0],
    ['it spreads the suppression', 'Lead', 'ApplicationStop', 20],
    ['it gathers evidence', 'ObserveEvidence', 'ValidateService', 20],
  ])('a person stops the execution while %s', async (_, state, event, seconds) => {
    const all = await deployed({ scenario: throughCodeDeploy({}, at(state, 'stop-execution', seconds)) });
    expectAllUndone(all);
    expect(failure(all)).toMatchObject({ event, log: 'quiesce: Operator.Stopped: by a person\n' });
    expect(failure(all)?.seconds).toBeLessThan(200);
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'Operator.Stopped']]);
    expect(all.measures.replaced).toBe(0);
  });

  it('a person stops the execution while it undoes: another one goes on with that', async () => {
    const broken = {
      before({ action, caller }: { action: string; caller: { name: string } }) {
        if (action === 'DeregisterTargets' && caller.name === 'DeregisterFunction')
          throw new ServiceError('ValidationError', 'no');
      },
    };
    const all = await deployed({
      scenario: throughCodeDeploy({}, at('LetActsEnd', 'stop-execution', 1)),
      gates: () => [broken],
    });
    expectAllUndone(all);
    expect(failure(all)?.log).toContain('DeregisterTargets failed with ValidationError: no');
    expect(endings(all, 'BeforeDeploy')).toEqual([['ABORTED', 'Operator.Stopped']]);
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'AwsFailure']]);
  });

  it('an act fails: the machine undoes it itself', async () => {
    const denied = {
      before({ action }: { action: string }) {
        if (action === 'EnableApplicationStatusCheckSuppression')
          throw new ServiceError('OperationNotPermitted', 'no');
      },
    };
    const all = await deployed({ scenario: throughCodeDeploy(), gates: () => [denied] });
    expectAllUndone(all);
    expect(failure(all)?.log).toContain('failed with OperationNotPermitted: no');
    expect(executionsOf(all, 'UndoRun')).toEqual([]);
  });

  it('the hook itself fails: the script gives up before anything was done', async () => {
    const down = {
      before({ service }: { service: string }) {
        if (service === 'codedeploy') throw new ServiceError('InternalFailure', 'down', 500);
      },
    };
    const all = await deployed({ scenario: throughCodeDeploy(), gates: () => [down] });
    expectAllUndone(all);
    expect(failure(all)).toMatchObject({
      event: 'ApplicationStop',
      log: 'quiesce: given up: Internal Server Error\n',
    });
    expect([...(all.stack?.executions.all() ?? [])]).toEqual([]);
  });

  it('the hook runs into its own time-out, once: it is asked again, and nothing is begun twice', async () => {
    let slow = true;
    const all = await deployed({
      scenario: throughCodeDeploy({}, {}, { instances: 2 }),
      gates: ({ world: { clock } }) => [
        {
          async before({ service, action }) {
            if (service !== 'codedeploy' || action !== 'GetDeployment' || !slow) return;
            slow = false;
            await clock.sleep(30_000);
          },
        },
      ],
    });
    expectAllUndone(all);
    expect(all.deployment.outcome).toBe('succeeded');
    expect(executionsOf(all, 'BeforeDeploy')).toHaveLength(2);
  });

  it('the new version never answers: nobody waits for an after that will not come', async () => {
    const all = await deployed({ scenario: throughCodeDeploy({ neverReady: true }) });
    expect(all.violations).toEqual([]);
    expect(failure(all)?.event).toBe('ValidateService');
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'DeploymentEnded']]);
    // Given back as it is, it is Auto Scaling's to replace (D38).
    expect(all.measures.replaced).toBe(1);
  });

  it('R-GONE: the instance is terminated', async () => {
    const all = await deployed({ scenario: throughCodeDeploy({}, at('Lead', 'terminate-instance')) });
    expectAllUndone(all);
    expect(failure(all)?.seconds).toBeLessThan(LIMIT_SECONDS);
    expect(endings(all, 'UndoRun')).toEqual([['FAILED', 'DeploymentEnded']]);
  });

  const slow = { name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '3600' } };
  it.each([
    ['before', { targetGroups: [slow] }, '{}'],
    ['after', {}, '{"readySeconds":900}'],
  ])(
    '%s could take longer than the script waits: refused at once (R-BUDGET)',
    async (phase, fleet, HookPolicy) => {
      const scenario = throughCodeDeploy({}, {}, fleet);
      const all = await deployed({ scenario, parameters: { HookPolicy } });
      expectAllUndone(all);
      expect(failure(all)?.log).toContain(`BudgetExceedsTimeout: ${phase}-deploy may take`);
      expect(failure(all)?.seconds).toBeLessThan(60);
    },
  );
});

it('D2: an automatic rollback takes over what the failed deployment had done, and nothing is lost', async () => {
  const scenario = throughCodeDeploy({ neverReady: true, config: 'HalfAtATime', autoRollback: true });
  const all = await deployed({ scenario });
  expectAllUndone(all);
  expect(all.measures.replaced).toBe(0);
  expect(all.deployments.map(({ facts, status }) => [facts.creator, status])).toEqual([
    ['user', 'Failed'],
    ['codeDeployRollback', 'Succeeded'],
  ]);
  const [failed, ...rolledBack] = executionsOf(all, 'BeforeDeploy');
  expect(failed?.status).toBe('SUCCEEDED');
  expect(rolledBack.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
});

it('D4: CodeDeploy takes an instance out of traffic only when Auto Scaling is kept from judging it', async () => {
  const until = { 'deregistration_delay.timeout_seconds': '0' };
  const fleet = { targetGroups: [{ name: 'web', port: 8080, attributes: until }] };
  const scenario = throughCodeDeploy({ loadBalancerStep: true }, {}, { instances: 2, ...fleet });
  let begunAt = Number.POSITIVE_INFINITY;
  // The plan takes minutes, as on a bad day.
  const gate: Gate = {
    before: ({ caller, at }) => {
      if (caller.name !== 'PlanFunction') return;
      begunAt = Math.min(begunAt, at);
      if (at < begunAt + 90_000) throw new ServiceError('Throttling', 'Rate exceeded');
    },
  };
  const all = await deployed({ scenario, gates: () => [gate] });
  expectAllUndone(all);
  expect(all.measures.replaced).toBe(0);
  expect(all.deployments.map(({ status }) => status)).toEqual(['Succeeded']);
  const { entries } = all.account.world.journal;
  const first = (is: (entry: Entry) => boolean) =>
    entries.findIndex(entry => entry.at >= all.startedAt && is(entry));
  const held = first(entry => entry.type === 'process' && entry.suspended);
  expect(held).toBeGreaterThan(0);
  expect(first(entry => entry.type === 'target' && entry.state === 'unused')).toBeGreaterThan(held);
});
