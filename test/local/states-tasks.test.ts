import { describe, expect, it } from 'vitest';
import type { Json } from '../../local/states/json.ts';
import type { TaskRequest } from '../../local/states/tasks.ts';
import { bench, callOf, end, fails, machineOf, typesOf } from './helpers/machines.ts';

const WAITING = 'arn:aws:states:::lambda:invoke.waitForTaskToken';

describe('retries', () => {
  const attempts = async (seed: number) => {
    const at: number[] = [];
    const b = bench(
      {
        T: () => {
          at.push(b.world.clock.now());
          return fails('E')();
        },
      },
      { seed },
    );
    await b.run(
      machineOf({
        T: callOf('T', {
          Retry: [
            {
              ErrorEquals: ['E'],
              IntervalSeconds: 10,
              BackoffRate: 2,
              MaxAttempts: 30,
              MaxDelaySeconds: 40,
              JitterStrategy: 'FULL',
            },
          ],
          ...end,
        }),
      }),
    );
    return at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / 1000);
  };

  it('R-THROTTLE: full jitter spreads each delay from zero to its bound, the same way from the same seed', async () => {
    const delays = await attempts(7);
    expect(delays).toHaveLength(30);
    expect(delays[0]).toBeLessThanOrEqual(10);
    expect(delays[1]).toBeLessThanOrEqual(20);
    expect(Math.max(...delays)).toBeLessThanOrEqual(40);
    expect(Math.max(...delays)).toBeGreaterThan(30);
    expect(Math.min(...delays)).toBeLessThan(10);
    expect(await attempts(7)).toEqual(delays);
    expect(await attempts(8)).not.toEqual(delays);
  });

  it('are counted in the Context Object, and each attempt is in the history', async () => {
    const seen: Json[] = [];
    const { run } = bench({
      T: args => {
        seen.push(args);
        return seen.length < 3 ? fails('E')() : 'done';
      },
    });
    const execution = await run(
      machineOf({
        T: callOf('T', {
          Arguments: '{% $states.context.State.RetryCount %}',
          Retry: [{ ErrorEquals: ['States.TaskFailed'] }],
          ...end,
        }),
      }),
    );
    expect(seen).toEqual([0, 1, 2]);
    expect(typesOf(execution).filter(type => type === 'TaskStateEntered')).toHaveLength(1);
    expect(typesOf(execution).filter(type => type === 'LambdaFunctionScheduled')).toHaveLength(3);
  });
});

describe('task tokens', () => {
  const waiting = (more: object = {}) =>
    machineOf({
      T: {
        Type: 'Task',
        Resource: WAITING,
        Arguments: { FunctionName: 'ask', Payload: { token: '{% $states.context.Task.Token %}' } },
        TimeoutSeconds: 3600,
        HeartbeatSeconds: 60,
        ...more,
        ...end,
      },
    });
  const asked = () => {
    const requests: TaskRequest[] = [];
    const b = bench({
      'invoke.waitForTaskToken': (_args, request) => {
        requests.push(request);
        return { StatusCode: 200 };
      },
    });
    const token = (): string => {
      const args = JSON.stringify(requests[0]?.args);
      return /"token":"([^"]+)"/.exec(args)?.[1] ?? '';
    };
    return { ...b, token };
  };

  it('R-TIMEOUT: without a heartbeat the task ends, as States.Timeout for Retry and Catch', async () => {
    const { run } = asked();
    const execution = await run(
      machineOf({
        T: {
          Type: 'Task',
          Resource: WAITING,
          HeartbeatSeconds: 60,
          Catch: [
            { ErrorEquals: ['States.TaskFailed'], Output: 'a wrong catcher', Next: 'E' },
            { ErrorEquals: ['States.Timeout'], Next: 'E' },
          ],
          Next: 'E',
        },
        E: { Type: 'Succeed' },
      }),
    );
    expect(execution.output).toMatchObject({ Error: 'States.HeartbeatTimeout' });
    expect(execution.stoppedAt).toBe(execution.startedAt + 60_000);
  });

  it('heartbeats keep it waiting until somebody answers, once', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting());
    for (let minute = 0; minute < 5; minute++) {
      await world.clock.pass(50_000);
      executions.tokens.holder(token()).heartbeat();
    }
    executions.tokens.holder(token()).succeed({ approved: true });
    await world.clock.runFor(execution.ended);
    expect(execution.output).toEqual({ approved: true });
    expect(typesOf(execution)).toContain('TaskSubmitted');
    expect(() => executions.tokens.holder(token())).toThrow('already been closed');
    expect(() => executions.tokens.holder('made-up')).toThrow('Invalid token');
  });

  it('a failure sent with the token is the failure of the task', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting());
    await world.clock.pass(1_000);
    executions.tokens.holder(token()).fail('Rejected', 'by hand');
    await world.clock.runFor(execution.ended);
    expect(execution).toMatchObject({ status: 'FAILED', error: 'Rejected', cause: 'by hand' });
  });

  it('TimeoutSeconds ends it in spite of heartbeats', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting({ TimeoutSeconds: 100 }));
    await world.clock.pass(50_000);
    executions.tokens.holder(token()).heartbeat();
    await world.clock.runFor(execution.ended);
    expect(execution).toMatchObject({ error: 'States.Timeout', stoppedAt: execution.startedAt + 100_000 });
  });
});
