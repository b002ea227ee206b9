// First, so that the functions read virtual time.
import '../../local/clock/lambda-globals.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { DeploymentTooLong, DeploymentUnknown, HookRefused } from '../../functions/core/errors.ts';
import { answerHook, type HookCall } from '../../functions/core/hooks/answer-hook.ts';
import { claimInstance } from '../../functions/core/ledger/instances.ts';
import { findObserver } from '../../functions/core/ledger/observers.ts';
import { recordRefusal } from '../../functions/core/ledger/refusals.ts';
import {
  advance,
  createRun,
  endRun,
  markActed,
  markHeld,
  markTakenOut,
} from '../../functions/core/ledger/runs.ts';
import { readShared } from '../../functions/core/ledger/shared-reads.ts';
import { CodeDeploy, codeDeployService, type NewDeployment } from '../../local/account/code-deploy.ts';
import { createWorld } from '../../local/account/world.ts';
import type { Service } from '../../local/wire/contract.ts';
import { createLedger, type LedgerWorld, NOW } from '../unit/helpers/ledger.ts';
import { claimOf, newRun, planOf } from '../unit/helpers/records.ts';
import { STEP_FUNCTIONS } from '../unit/helpers/services.ts';

const NAMES = { applicationName: 'shop', deploymentGroupName: 'web' };
const INSTANCE = 'i-0123456789abcdef0';
const OWNER = 'execution';

const started: { readonly machine: string; readonly input: Readonly<Record<string, unknown>> }[] = [];
const stepFunctions: Service = {
  ...STEP_FUNCTIONS,
  operations: {
    StartExecution({ stateMachineArn, input }: { readonly stateMachineArn: string; readonly input: string }) {
      started.push({ machine: stateMachineArn.split(':').at(-1) ?? '', input: JSON.parse(input) });
      return { executionArn: 'started', startDate: new Date(0) };
    },
  },
};

let codeDeploy: CodeDeploy;
let ledger: LedgerWorld;
beforeEach(async () => {
  started.length = 0;
  const machine = (name: string) => `arn:aws:states:eu-west-1:111122223333:stateMachine:${name}`;
  Object.assign(process.env, {
    BEFORE_DEPLOY_ARN: machine('before'),
    AFTER_DEPLOY_ARN: machine('after'),
    UNDO_RUN_ARN: machine('undo'),
    HOOK_POLICY: '{"minHealthyPercent":60}',
  });
  // Without a lag: what is shown too late is `not-begun` here.
  codeDeploy = new CodeDeploy(createWorld({ physics: { deploymentStatusLagSeconds: 0 } }), () => undefined);
  codeDeploy.addDeploymentGroup(NAMES);
  codeDeploy.addDeploymentGroup({ ...NAMES, deploymentGroupName: 'balanced', targetGroupNames: ['web'] });
  ledger = await createLedger([codeDeployService(codeDeploy), stepFunctions]);
});

/** A deployment in which the instance is at one of its lifecycle events. */
function deploymentAt(event: string, more: Partial<NewDeployment> = {}): string {
  const deployment = codeDeploy.begin({ ...NAMES, instanceIds: [INSTANCE], ...more });
  const target = deployment.targets.get(INSTANCE);
  target?.begin();
  target?.enter(event);
  return deployment.id;
}

const ask = (deploymentId: string, more: Partial<HookCall> = {}) =>
  ledger.as(() =>
    answerHook({
      act: 'gate',
      lifecycleEvent: 'ApplicationStop',
      instanceId: INSTANCE,
      deploymentId,
      ...more,
    }),
  );

interface Marks {
  readonly suppressedAt?: number;
  readonly takenOutAt?: number;
}

const runOf = (deploymentId: string) => `${deploymentId}.${INSTANCE}`;
const create = (deploymentId: string, more: object = {}) =>
  ledger.as(() => createRun(newRun(runOf(deploymentId), { owner: OWNER, ...more })));
const goAhead = (deploymentId: string) =>
  ledger.as(() => advance(runOf(deploymentId), { from: 'before', to: 'go-ahead', owner: OWNER, at: NOW }));

describe('the first question of an instance', () => {
  it('D2: of a rollback asks for a run that a zone event does not refuse: it may be the cure', async () => {
    const failed = deploymentAt('ApplicationStop');
    await ask(deploymentAt('ApplicationStop', { rollbackOf: failed }));
    expect(started).toMatchObject([{ input: { policy: { minHealthyPercent: 60, zoneEvents: 'ignore' } } }]);
  });

  it.each([
    ['web', 'drain'],
    ['balanced', 'leave'],
  ])('begins its run, with what has to be known of it (%s)', async (deploymentGroupName, traffic) => {
    const id = deploymentAt('ApplicationStop', { deploymentGroupName });
    expect(await ask(id)).toMatchObject({ verdict: 'wait', waitSeconds: 15 });
    expect(started).toEqual([
      {
        machine: 'before',
        input: {
          runId: runOf(id),
          fleet: { instanceIds: [INSTANCE] },
          traffic,
          policy: { minHealthyPercent: 60, readySeconds: 600 },
          observer: id,
          queue: true,
          timeoutSeconds: 3240,
          afterTimeoutSeconds: 3240,
        },
      },
    ]);
    expect(await ledger.as(() => findObserver(id))).toEqual({ instanceIds: [INSTANCE] });
  });

  it('D8: before begins it, and does not wait for the suppression', async () => {
    const id = deploymentAt('BeforeBlockTraffic', { deploymentGroupName: 'balanced' });
    const asked = () => ask(id, { act: 'before', lifecycleEvent: 'BeforeBlockTraffic' });
    expect(await asked()).toMatchObject({ verdict: 'wait', waitSeconds: 5 });
    expect(started).toHaveLength(1);
    await create(id);
    expect((await asked()).verdict).toBe('go-ahead');
  });

  it('D4: before waits until the Auto Scaling group is held', async () => {
    const id = deploymentAt('BeforeBlockTraffic', { deploymentGroupName: 'balanced' });
    const asked = () => ask(id, { act: 'before', lifecycleEvent: 'BeforeBlockTraffic' });
    const holdings = [
      { group: 'web', mode: 'hold', processes: ['HealthCheck'], targetGroupArns: [] },
    ] as const;
    await create(id, { plan: planOf([INSTANCE], { holdings }) });
    expect(await asked()).toMatchObject({ verdict: 'wait', waitSeconds: 5 });
    await ledger.as(() => markHeld(runOf(id), OWNER, NOW));
    expect((await asked()).verdict).toBe('go-ahead');
  });

  it('D8: is refused when the waves cannot all fit into the deployment, before anything is begun', async () => {
    const fleet = Array.from({ length: 100 }, (_, n) =>
      n === 0 ? INSTANCE : `i-${String(n).padStart(8, '0')}`,
    );
    const id = deploymentAt('ApplicationStop', { instanceIds: fleet });
    await expect(ask(id)).rejects.toThrow(DeploymentTooLong);
    expect(started).toEqual([]);
    const faster = deploymentAt('ApplicationStop', {
      instanceIds: fleet,
      deploymentConfigName: 'CodeDeployDefault.HalfAtATime',
    });
    expect((await ask(faster)).verdict).toBe('wait');
    // A run over the whole fleet, as a pipeline begins it, makes each wave shorter.
    const claim = { ...claimOf(INSTANCE), until: NOW + 86_400 };
    await ledger.as(async () => {
      await createRun(newRun('fleet', { owner: OWNER }));
      await advance('fleet', { from: 'before', to: 'go-ahead', owner: OWNER, at: NOW });
      await claimInstance('fleet', INSTANCE, claim, false, NOW);
    });
    expect((await ask(id)).verdict).toBe('wait');
  });
});

describe('D10: what all instances of a deployment need', () => {
  it('is read by one of them, and the others are told to wait', async () => {
    const id = deploymentAt('ApplicationStop');
    const read = () => Promise.reject(new Error('still at it'));
    const reading = ledger.as(() => readShared({ key: `deployment ${id}`, notBefore: 0, read }));
    await expect(reading).rejects.toThrow('still at it');
    expect(await ask(id)).toMatchObject({ verdict: 'wait', waitSeconds: 5 });
    expect(started).toEqual([]);
  });

  it('begins nothing when it cannot be read', async () => {
    const id = deploymentAt('ApplicationStop', { deploymentConfigName: 'gone' });
    await expect(ask(id)).rejects.toThrow('DeploymentConfigDoesNotExistException');
    expect(started).toEqual([]);
  });
});

describe('a later question', () => {
  it('says what is awaited, and before does not wait for it', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id);
    expect(await ask(id)).toEqual({
      verdict: 'wait',
      reason:
        'Waiting for the suppression to spread (about 192 s) and its targets to drain (a delay of 300 s).',
      waitSeconds: 15,
    });
    expect(await ask(id, { act: 'before' })).toMatchObject({ verdict: 'go-ahead' });
    expect(started).toEqual([]);
  });

  it.each([
    ['the suppression', { suppressedAt: NOW }, 60],
    ['its targets', { takenOutAt: NOW }, 20],
    ['the longer of both', { suppressedAt: NOW - 150, takenOutAt: NOW - 10 }, 42],
  ])('comes when %s can be there', async (_, { suppressedAt, takenOutAt }: Marks, seconds) => {
    const id = deploymentAt('ApplicationStop');
    const [group] = planOf([INSTANCE]).groups;
    const groups = group ? [{ ...group, deregistrationDelaySeconds: 20 }] : [];
    await create(id, { plan: planOf([INSTANCE], { groups }) });
    const run = runOf(id);
    if (suppressedAt) await ledger.as(() => markActed(run, OWNER, suppressedAt));
    if (takenOutAt) await ledger.as(() => markTakenOut(run, OWNER, takenOutAt));
    const { waitSeconds } = await ask(id);
    expect(waitSeconds).toBeGreaterThan(seconds - 3);
    expect(waitSeconds).toBeLessThanOrEqual(seconds);
  });

  it('D17: says whom a run inside another waits for, and to whom it has left the instance', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id, { plan: planOf([INSTANCE], { coveredBy: 'fleet', draining: 0 }) });
    expect((await ask(id)).reason).toBe('Waiting for the instances before it to be ready.');
    await goAhead(id);
    const end = { owner: OWNER, outcome: 'succeeded', at: NOW } as const;
    await ledger.as(() => endRun(runOf(id), end));
    expect((await ask(id)).reason).toBe('The instance is back in service; run fleet has its suppression.');
  });

  it('names only what there is to wait for', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id, { plan: planOf([INSTANCE], { suppressing: 0, draining: 0 }) });
    expect(await ask(id)).toEqual({ verdict: 'wait', reason: 'Waiting for the go-ahead.', waitSeconds: 15 });
  });

  it('has the go-ahead, and the end of a run that has failed, whatever it asks', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id);
    await goAhead(id);
    expect((await ask(id)).verdict).toBe('go-ahead');
    expect((await ask(id, { act: 'before' })).verdict).toBe('go-ahead');
    await ledger.as(() =>
      endRun(runOf(id), { owner: OWNER, outcome: 'failed', at: NOW, error: 'BudgetSpent' }),
    );
    for (const act of ['before', 'gate', 'after'] as const)
      expect(await ask(id, { act })).toMatchObject({
        verdict: 'failed',
        reason: expect.stringContaining('BudgetSpent'),
      });
  });

  it.each([
    ['NothingToDo', 'go-ahead'],
    ['BelowFloor', 'failed'],
  ])('D1: has the reason for which the run was refused (%s)', async (error, verdict) => {
    const id = deploymentAt('ApplicationStop');
    await ledger.as(() => recordRefusal(runOf(id), { error, cause: 'Because.' }, NOW));
    for (const act of ['before', 'gate', 'after'] as const)
      expect(await ask(id, { act })).toMatchObject({ verdict, reason: expect.stringContaining('Because.') });
    expect(started).toEqual([]);
  });
});

describe('after', () => {
  const after = { act: 'after', lifecycleEvent: 'ValidateService' } as const;

  it('closes the bracket, once, and waits for it', async () => {
    const id = deploymentAt('ValidateService');
    await create(id);
    await goAhead(id);
    expect((await ask(id, after)).verdict).toBe('wait');
    expect(started).toMatchObject([
      { machine: 'after', input: { runId: runOf(id), deployedAt: '2026-11-30T09:00:00.000Z' } },
    ]);
    const move = {
      from: 'go-ahead',
      to: 'after',
      owner: 'after',
      at: NOW,
      takesOver: true,
      deadline: NOW + 9000,
    } as const;
    await ledger.as(() => advance(runOf(id), move));
    expect(await ask(id, after)).toMatchObject({
      verdict: 'wait',
      reason: 'Waiting for the instance to be ready, in service, ready again, and released.',
    });
    expect(started).toHaveLength(1);
  });

  it('fails when there was no go-ahead, or no gate at all', async () => {
    const id = deploymentAt('ValidateService');
    expect((await ask(id, after)).reason).toContain('before and gate have not run');
    await create(id);
    expect((await ask(id, after)).reason).toContain('The go-ahead was never given');
    expect(started).toEqual([]);
  });

  it('waits for the traffic that CodeDeploy has still to allow', async () => {
    const id = deploymentAt('ValidateService', { deploymentGroupName: 'balanced' });
    await create(id);
    await goAhead(id);
    expect((await ask(id, after)).verdict).toBe('go-ahead');
    expect(started).toEqual([]);
    const allowed = deploymentAt('AfterAllowTraffic', { deploymentGroupName: 'balanced' });
    await create(allowed);
    await goAhead(allowed);
    expect((await ask(allowed, { act: 'after', lifecycleEvent: 'AfterAllowTraffic' })).verdict).toBe('wait');
    expect(started).toHaveLength(1);
  });
});

describe('D1, D9: without a run of its own', () => {
  it.each(['autoscaling', 'autoscalingTermination'] as const)(
    'a deployment by %s has a go-ahead',
    async creator => {
      const id = deploymentAt('ApplicationStop', { creator });
      expect((await ask(id)).verdict).toBe('go-ahead');
      expect(started).toEqual([]);
    },
  );

  it('who is no target, or of no deployment, is refused', async () => {
    const id = deploymentAt('ApplicationStop');
    await expect(ask(id, { instanceId: 'i-00000000' })).rejects.toThrow(HookRefused);
    await expect(ask('d-NONE')).rejects.toThrow(DeploymentUnknown);
  });

  it('an event that is not shown yet is waited for', async () => {
    const { id } = codeDeploy.begin({ ...NAMES, instanceIds: [INSTANCE] });
    expect(await ask(id)).toMatchObject({ verdict: 'wait', waitSeconds: 5 });
    expect(started).toEqual([]);
  });

  it('D32: the end of the deployment ends the run, and the question is refused', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id);
    codeDeploy.endDeployment(id, 'Stopped');
    await expect(ask(id)).rejects.toThrow(`CodeDeploy deployment ${id} has ended for ${INSTANCE} (Stopped)`);
    expect(started).toMatchObject([{ machine: 'undo', input: { runId: runOf(id), from: OWNER } }]);
  });

  it('an event that is over is refused, and the run goes on', async () => {
    const id = deploymentAt('ApplicationStop');
    await create(id);
    codeDeploy.deployment(id)?.targets.get(INSTANCE)?.leave('ApplicationStop', 'Succeeded');
    await expect(ask(id)).rejects.toThrow('is not in progress');
    expect(started).toEqual([]);
  });
});
