import { describe, expect, it } from 'vitest';
import { codeDeployActs } from '../../local/account/code-deploy-acts.ts';
import { type AgentCommand, unknownError } from '../../local/account/code-deploy-agent.ts';
import { codeDeployOperations } from '../../local/account/code-deploy-operations.ts';
import {
  type Behaviour,
  createEngine,
  createFleet,
  type FleetSpec,
  NAMES,
  revision,
} from './helpers/code-deploy.ts';

const FIRST = revision('v1');
const NEXT = revision('v2');
const HOUR = 3_600_000;

function deployable(spec: FleetSpec, behave?: Behaviour) {
  const fleet = createFleet(spec);
  const { engine, commands } = createEngine(fleet, behave);
  const { codeDeploy } = fleet.account;
  const api = { ...codeDeployOperations(codeDeploy), ...codeDeployActs(codeDeploy) };
  engine.settle(fleet.deploymentGroup, FIRST, fleet.ids);
  return {
    ...fleet,
    engine,
    commands,
    api,
    create: (more: object = {}) => engine.create({ ...NAMES, revision: NEXT, ...more }),
    end: (id: string, limitMs = 20 * HOUR) => fleet.clock.runFor(engine.ended(id), limitMs),
    rollbackOf: (id: string) => codeDeploy.deployment(id)?.rollbackInfo?.rollbackDeploymentId ?? '',
    statuses: (id: string) => [...(codeDeploy.deployment(id)?.targets.values() ?? [])].map(at => at.status),
  };
}

const failing =
  (...ids: readonly string[]): Behaviour =>
  ({ instanceId, lifecycleEvent }: AgentCommand) =>
    ids.includes(instanceId) && lifecycleEvent === 'ApplicationStart' ? unknownError('no') : undefined;

const INSTALL = [
  'ApplicationStop',
  'DownloadBundle',
  'BeforeInstall',
  'Install',
  'AfterInstall',
  'ApplicationStart',
  'ValidateService',
];

describe('the lifecycle events of an instance', () => {
  it('come in the order of the guide, without a load balancer', async () => {
    const { create, end, commands } = deployable({ instances: 1 });
    await end(create().id);
    expect(commands.map(command => command.lifecycleEvent)).toEqual(INSTALL);
  });

  it('have the block and allow steps with one, in which CodeDeploy itself waits for drain and health', async () => {
    const fleet = deployable({ instances: 2, balanced: true, group: { deploymentConfigName: ALL } });
    const { clock, create, end, journal, ids, targetGroup, account, commands } = fleet;
    await clock.pass(60_000);
    const from = journal.entries.length;
    await end(create().id);
    const [id = ''] = ids;
    const states = journal.entries
      .slice(from)
      .flatMap(entry => (entry.type === 'target' && entry.id === id ? [entry.state] : []));
    expect(states).toEqual(['draining', 'unused', 'initial', 'healthy']);
    const instance = account.ec2.instance(id);
    expect(instance && account.loadBalancing.statesOf(targetGroup?.arn ?? '', instance)).toMatchObject([
      { state: 'healthy' },
    ]);
    expect(
      commands.filter(({ instanceId }) => instanceId === id).map(({ lifecycleEvent }) => lifecycleEvent),
    ).toEqual([
      'BeforeBlockTraffic',
      'AfterBlockTraffic',
      ...INSTALL,
      'BeforeAllowTraffic',
      'AfterAllowTraffic',
    ]);
  });

  it('fail after an hour in AllowTraffic when the load balancer never finds the instance healthy', async () => {
    const { create, end, account, clock, api } = deployable({ instances: 1, balanced: true });
    for (const { application } of account.ec2.live()) application.stop();
    const started = clock.now();
    const { id, status } = await end(create().id);
    expect(status).toBe('Failed');
    expect(clock.now() - started).toBeGreaterThan(HOUR);
    await clock.pass(5000);
    const [targetId = ''] = api.ListDeploymentTargets({ deploymentId: id }).targetIds ?? [];
    const target = api.GetDeploymentTarget({ deploymentId: id, targetId }).deploymentTarget?.instanceTarget;
    expect(target?.lifecycleEvents?.find(event => event.status === 'Failed')).toMatchObject({
      lifecycleEventName: 'AllowTraffic',
      diagnostics: { errorCode: 'UnknownError' },
    });
  });

  it('D9: are shown with a lag, so that an event that runs may still look pending', async () => {
    const { create, api, clock, ids } = deployable({
      instances: 1,
      physics: { deploymentStatusLagSeconds: 5 },
    });
    const { id: deploymentId } = create();
    const [targetId = ''] = ids;
    const first = () =>
      api.GetDeploymentTarget({ deploymentId, targetId }).deploymentTarget?.instanceTarget
        ?.lifecycleEvents?.[0];
    await clock.pass(3000);
    expect(first()).toMatchObject({ lifecycleEventName: 'ApplicationStop', status: 'Pending' });
    await clock.pass(3000);
    expect(first()).toMatchObject({ status: 'InProgress', startTime: expect.any(Date) });
  });
});

const ONE = 'CodeDeployDefault.OneAtATime';
const HALF = 'CodeDeployDefault.HalfAtATime';
const ALL = 'CodeDeployDefault.AllAtOnce';

describe('a deployment configuration', () => {
  it.each([
    [ONE, 5, 1],
    [HALF, 5, 2],
    [HALF, 1, 1],
    [ALL, 5, 5],
    ['three-stay', 5, 2],
    ['75-percent-stay', 5, 1],
  ])('%s works on %i instances %i at a time', async (deploymentConfigName, instances, most) => {
    const atOnce: number[] = [];
    const busy = new Set<string>();
    const { create, end, account, ids } = deployable({ instances }, ({ instanceId, lifecycleEvent }) => {
      if (lifecycleEvent === 'ApplicationStop') atOnce.push(busy.add(instanceId).size);
      if (lifecycleEvent === 'ValidateService') busy.delete(instanceId);
      return undefined;
    });
    account.codeDeploy.addDeploymentConfig('three-stay', { type: 'HOST_COUNT', value: 3 });
    account.codeDeploy.addDeploymentConfig('75-percent-stay', { type: 'FLEET_PERCENT', value: 75 });
    const { status } = await end(create({ deploymentConfigName }).id);
    expect(status).toBe('Succeeded');
    expect(Math.max(...atOnce)).toBe(most);
    expect(atOnce).toHaveLength(ids.length);
  });

  it.each([
    [ONE, [3], 'Succeeded', ['Succeeded', 'Succeeded', 'Succeeded', 'Failed']],
    [ONE, [0], 'Failed', ['Failed', 'Skipped', 'Skipped', 'Skipped']],
    [HALF, [0, 1], 'Failed', ['Failed', 'Failed', 'Skipped', 'Skipped']],
    [HALF, [0], 'Succeeded', ['Failed', 'Succeeded', 'Succeeded', 'Succeeded']],
    [ALL, [0, 1, 2], 'Succeeded', ['Failed', 'Failed', 'Failed', 'Succeeded']],
    [ALL, [0, 1, 2, 3], 'Failed', ['Failed', 'Failed', 'Failed', 'Failed']],
  ] as const)('%s with failures at %j ends as %s', async (deploymentConfigName, bad, status, statuses) => {
    const broken = new Set<string>();
    const fleet = deployable({ instances: 4 }, command => failing(...broken)(command));
    for (const index of bad) broken.add(fleet.ids[index] ?? '');
    const deployment = await fleet.end(fleet.create({ deploymentConfigName }).id);
    expect(deployment.status).toBe(status);
    expect(fleet.statuses(deployment.id)).toEqual(statuses);
    expect(deployment.errorInformation?.code).toBe(status === 'Failed' ? 'HEALTH_CONSTRAINTS' : undefined);
  });

  it('that leaves no instance to deploy to fails at once', async () => {
    const { create, end, account, commands } = deployable({ instances: 2 });
    account.codeDeploy.addDeploymentConfig('all-stay', { type: 'HOST_COUNT', value: 2 });
    const { errorInformation } = await end(create({ deploymentConfigName: 'all-stay' }).id);
    expect(errorInformation?.code).toBe('HEALTH_CONSTRAINTS_INVALID');
    expect(commands).toEqual([]);
  });
});

describe('a failure', () => {
  it('D8: of an old script is passed over with ignoreApplicationStopFailures, one of the new revision is not', async () => {
    const stopFails: Behaviour = ({ lifecycleEvent }) =>
      lifecycleEvent === 'ApplicationStop' ? unknownError('no') : undefined;
    const open = deployable({ instances: 1 }, stopFails);
    expect((await open.end(open.create({ ignoreApplicationStopFailures: true }).id)).status).toBe(
      'Succeeded',
    );
    expect(open.commands.map(({ lifecycleEvent }) => lifecycleEvent)).toEqual(INSTALL);
    const closed = deployable({ instances: 1 }, stopFails);
    expect((await closed.end(closed.create().id)).status).toBe('Failed');
    expect(closed.commands).toHaveLength(1);
  });

  it('D2: rolls back, as a new deployment of the last successful revision that names the failed one', async () => {
    const autoRollback = { enabled: true, events: ['DEPLOYMENT_FAILURE'] } as const;
    const fleet = deployable({ instances: 2, group: { autoRollback } }, command =>
      command.revision === NEXT ? failing(command.instanceId)(command) : undefined,
    );
    const failed = await fleet.end(fleet.create().id);
    const rollback = await fleet.end(fleet.rollbackOf(failed.id));
    expect(rollback.facts).toMatchObject({
      creator: 'codeDeployRollback',
      revision: FIRST,
      rollbackOf: failed.id,
    });
    expect(rollback.status).toBe('Succeeded');
    expect([...rollback.targets.keys()]).toEqual(fleet.ids);
    // The instance that failed does not count as healthy, so it comes first.
    const first = fleet.commands.find(({ deploymentId }) => deploymentId === rollback.id);
    expect(first?.instanceId).toBe(fleet.ids[0]);
  });

  it('R-GONE: an instance that is terminated meanwhile fails after five silent minutes', async () => {
    const { create, end, account, ids, statuses, clock } = deployable({ instances: 3 });
    const { id } = create();
    const started = clock.now();
    clock.after(15_000, () => account.ec2.terminate(ids[0] ?? ''));
    await end(id);
    expect(statuses(id)).toEqual(['Failed', 'Skipped', 'Skipped']);
    expect(clock.now() - started).toBeGreaterThan(300_000);
  });

  it('to end within 12 hours ends the deployment', async () => {
    const { create, end, clock } = deployable({ instances: 8 }, async () => {
      await clock.sleep(HOUR / 2);
      return undefined;
    });
    const { status, errorInformation } = await end(create().id, 48 * HOUR);
    expect({ status, code: errorInformation?.code }).toEqual({ status: 'Failed', code: 'TIMEOUT' });
  });
});

describe('StopDeployment', () => {
  it('D32: is Pending while an event runs, which runs to its end and is the last', async () => {
    const { create, end, api, clock, commands, events, statuses } = deployable({ instances: 2 });
    const { id: deploymentId } = create();
    await clock.pass(3000);
    expect(api.StopDeployment({ deploymentId })).toMatchObject({ status: 'Pending' });
    await clock.pass(3000);
    expect(api.GetDeployment({ deploymentId }).deploymentInfo?.status).toBe('Stopped');
    expect(statuses(deploymentId)).toEqual(['InProgress', 'Skipped']);
    await end(deploymentId);
    expect(statuses(deploymentId)).toEqual(['Skipped', 'Skipped']);
    expect(commands).toHaveLength(1);
    expect(events.map(({ detail }) => detail.state)).toEqual(['START', 'START', 'STOP']);
    expect(() => api.StopDeployment({ deploymentId })).toThrow(
      expect.objectContaining({ code: 'DeploymentAlreadyCompletedException' }),
    );
  });

  it('D2: rolls back when asked to, after the last script has ended', async () => {
    const { create, end, api, clock, rollbackOf } = deployable({ instances: 1 });
    const { id: deploymentId } = create();
    await clock.pass(3000);
    api.StopDeployment({ deploymentId, autoRollbackEnabled: true });
    await end(deploymentId);
    await clock.pass(0);
    expect((await end(rollbackOf(deploymentId))).facts.revision).toBe(FIRST);
  });
});

describe('an instance that Auto Scaling launches', () => {
  const lifecycles = ({ journal }: ReturnType<typeof deployable>, id: string) =>
    journal.entries.flatMap(entry =>
      entry.type === 'lifecycle' && entry.instanceId === id ? [entry.state] : [],
    );
  const grow = ({ account }: ReturnType<typeof deployable>) => {
    const group = account.autoScaling.group('fleet');
    group.desiredCapacity++;
    account.autoScaling.capacity.reconcile(group);
  };
  const launched = (fleet: ReturnType<typeof deployable>) =>
    [...fleet.account.ec2.live()].map(({ id }) => id).filter(id => !fleet.ids.includes(id));

  it('D1: gets the last successful revision while it is pending, and enters service when that succeeded', async () => {
    const fleet = deployable({ instances: 1, balanced: true });
    grow(fleet);
    await fleet.clock.pass(10 * 60_000);
    const [id = ''] = launched(fleet);
    expect(lifecycles(fleet, id)).toEqual(['Pending', 'Pending:Wait', 'Pending:Proceed', 'InService']);
    const [deployment] = fleet.account.codeDeploy.deploymentsOf(fleet.deploymentGroup);
    expect(deployment?.facts).toMatchObject({ creator: 'autoscaling', revision: FIRST });
    expect([...(deployment?.targets.keys() ?? [])]).toEqual([id]);
  });

  it('D1: is given up when its deployment fails, and another is launched', async () => {
    const fleet = deployable({ instances: 1 }, command => failing(command.instanceId)(command));
    grow(fleet);
    await fleet.clock.pass(10 * 60_000);
    const abandoned = fleet.journal.entries.filter(
      entry => entry.type === 'lifecycle' && entry.state === 'Terminated',
    );
    expect(abandoned.length).toBeGreaterThan(1);
    expect(fleet.account.autoScaling.group('fleet').inService).toHaveLength(1);
  });

  it("D1: during a deployment is updated by a deployment of CodeDeploy's own afterwards", async () => {
    const fleet = deployable({ instances: 3 });
    const { id } = fleet.create();
    await fleet.clock.pass(20_000);
    grow(fleet);
    await fleet.end(id);
    await fleet.clock.pass(10 * 60_000);
    const made = fleet.account.codeDeploy
      .deploymentsOf(fleet.deploymentGroup)
      .map(({ facts, status }) => [facts.creator, facts.revision, status]);
    expect(made).toEqual([
      ['user', NEXT, 'Succeeded'],
      ['autoscaling', FIRST, 'Succeeded'],
      ['CodeDeployAutoUpdate', NEXT, 'Succeeded'],
    ]);
  });
});

describe('CreateDeployment', () => {
  const s3Location = { bucket: 'bundles', key: 'v2', bundleType: 'zip' } as const;
  const input = { ...NAMES, revision: { revisionType: 'S3', s3Location } } as const;

  it('deploys a revision by its place, one deployment a group at a time, and tells the event bus', async () => {
    const { api, account, end, events } = deployable({ instances: 1 });
    account.codeDeploy.addRevision(NEXT);
    const { deploymentId = '' } = api.CreateDeployment(input);
    expect(() => api.CreateDeployment(input)).toThrow(
      expect.objectContaining({ code: 'DeploymentLimitExceededException' }),
    );
    await end(deploymentId);
    expect(events.map(event => `${event['detail-type'].split(' ')[1]} ${event.detail.state}`)).toEqual([
      'Deployment START',
      'Instance START',
      'Instance SUCCESS',
      'Deployment SUCCESS',
    ]);
  });

  it('refuses what it does not implement, and what is not there', () => {
    const { api } = deployable({ instances: 1 });
    expect(() => api.CreateDeployment(input)).toThrow(
      expect.objectContaining({ code: 'RevisionDoesNotExistException' }),
    );
    expect(() => api.CreateDeployment({ ...input, deploymentMode: 'RESTART' })).toThrow('deploymentMode');
    expect(() =>
      codeDeployActs(createFleet({ instances: 1 }).account.codeDeploy).CreateDeployment(input),
    ).toThrow('Nobody carries deployments out');
  });
});
