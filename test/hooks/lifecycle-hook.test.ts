import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { hookedDeployment } from './helpers/lifecycle-hooks.ts';

const refusing = (action: string, error: ServiceError, times = Number.POSITIVE_INFINITY) => {
  let left = times;
  return () => [
    {
      before(call: { readonly action: string }) {
        if (call.action !== action || left === 0) return;
        left--;
        throw error;
      },
    },
  ];
};

/** What is answered is answered by events, or at once. */
const withoutSweep = (_event: object, rule: string) => (rule === 'SweepSchedule' ? [] : [500]);

type Hooked = Awaited<ReturnType<typeof hookedDeployment>>;
const runs = ({ executions }: Hooked) =>
  executions
    .filter(({ machine }) => !machine.name.endsWith('TellPeople'))
    .map(({ name, status }) => `${name.split('-')[0]} ${status}`);

describe('R-HOOKSTATUS: CodeDeploy is answered once an event', () => {
  it.each(['ECS', 'Lambda'] as const)(
    'D25: %s: suppressed before, ready and released after',
    async platform => {
      const hooked = await hookedDeployment({ platform });
      expect(hooked.deployment.status).toBe('Succeeded');
      expect(hooked.answers).toEqual(['Succeeded', 'Succeeded']);
      expect(runs(hooked)).toEqual(['before SUCCEEDED', 'after SUCCEEDED']);
      expect(hooked.violations).toEqual([]);
      expect(hooked.denied).toEqual([]);
    },
  );

  it('D1: a fleet without anything to do is a go-ahead, before and after', async () => {
    const hooked = await hookedDeployment({ bare: true });
    expect(hooked.answers).toEqual(['Succeeded', 'Succeeded']);
    expect(hooked.deployment.status).toBe('Succeeded');
    // After it there is no run that could be resumed.
    expect(runs(hooked)).toEqual(['before FAILED']);
  });

  it('fails closed when the run is refused, and everything stays as it was', async () => {
    const hooked = await hookedDeployment({ parameters: { HookFleet: '{"autoScalingGroupName":"none"}' } });
    expect(hooked.answers).toEqual(['Failed']);
    expect(hooked.deployment.status).toBe('Failed');
    expect(hooked.violations).toEqual([]);
  });

  it('fails closed, at once, when the execution cannot be started, however often Lambda tries', async () => {
    const gates = refusing('StartExecution', new ServiceError('ExecutionLimitExceeded', 'too many'));
    const hooked = await hookedDeployment({ gates });
    expect(hooked.answers).toEqual(['Failed']);
    expect(hooked.seconds).toBeLessThan(60);
    expect(hooked.executions).toEqual([]);
  });

  it('does not begin anything when Lambda tries again after the answer was Failed', async () => {
    const gates = refusing('StartExecution', new ServiceError('ExecutionLimitExceeded', 'too many'), 1);
    const hooked = await hookedDeployment({ gates });
    expect(hooked.answers).toEqual(['Failed']);
    expect(hooked.executions).toEqual([]);
    expect(hooked.violations).toEqual([]);
  });

  it('fails closed when CodeDeploy cannot be asked', async () => {
    const gates = refusing('ListDeploymentTargets', new ServiceError('InternalFailure', 'down', 500));
    const hooked = await hookedDeployment({ gates });
    expect(hooked.answers).toEqual(['Failed']);
    expect(hooked.executions).toEqual([]);
  });

  it('R-IDEMP: events that come twice begin nothing twice', async () => {
    const hooked = await hookedDeployment({ calls: 2, deliveries: () => [500, 900] });
    expect(hooked.answers).toEqual(['Succeeded', 'Succeeded']);
    expect(runs(hooked)).toEqual(['before SUCCEEDED', 'after SUCCEEDED']);
  });

  it('R-SWEEP: the schedule answers when the events of the end are lost', async () => {
    const deliveries = (event: Readonly<Record<string, unknown>>) =>
      event.source === 'aws.states' ? [] : [500];
    const hooked = await hookedDeployment({ deliveries });
    expect(hooked.answers).toEqual(['Succeeded', 'Succeeded']);
    expect(hooked.deployment.status).toBe('Succeeded');
  });

  it('names the hook at two events before the traffic: the second finds the run as it is (D12)', async () => {
    const at = ['BeforeInstall', 'BeforeAllowTraffic', 'AfterAllowTraffic'];
    const hooked = await hookedDeployment({ at, deliveries: withoutSweep });
    expect(hooked.answers).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
    expect(runs(hooked)).toEqual(['before SUCCEEDED', 'after SUCCEEDED']);
  });

  it('answers before the hour is over when the execution goes on', async () => {
    const gates = refusing(
      'EnableApplicationStatusCheckSuppression',
      new ServiceError('RequestLimitExceeded', 'slow', 503),
    );
    const hooked = await hookedDeployment({
      gates,
      // Keeps the execution from its end: nothing of it is retried for so long.
      meanwhile: async () => undefined,
    });
    expect(hooked.answers).toEqual(['Failed']);
    expect(hooked.seconds).toBeLessThan(3600);
    expect(hooked.violations).toEqual([]);
  });

  it('a person stops the execution', async () => {
    const hooked = await hookedDeployment({
      meanwhile: async ({ stack, account }) => {
        await account.world.clock.sleep(60_000);
        for (const { arn } of stack.executions.all())
          stack.executions.stop(arn, 'Operator.Stopped', 'by a person');
      },
    });
    expect(hooked.answers).toEqual(['Failed']);
    expect(runs(hooked)).toEqual(['before ABORTED', 'undo FAILED']);
    expect(hooked.violations).toEqual([]);
  });

  it('a person stops the deployment after the go-ahead: its event ends the run, and nothing is left', async () => {
    const hooked = await hookedDeployment({
      deliveries: withoutSweep,
      at: ['BeforeInstall', 'AfterAllowTraffic'],
      meanwhile: async ({ account, deploymentId }) => {
        const { clock, journal } = account.world;
        while (!journal.entries.some(entry => entry.type === 'state-entered' && entry.state === 'GoAhead'))
          await clock.sleep(1000);
        await clock.sleep(5000);
        account.codeDeploy.endDeployment(deploymentId, 'Stopped');
      },
    });
    expect(hooked.answers).toEqual(['Succeeded']);
    expect(runs(hooked)).toEqual(['before SUCCEEDED', 'undo FAILED']);
    expect(hooked.violations).toEqual([]);
  });
});
