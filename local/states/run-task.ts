import type { HistoryEventType } from '@aws-sdk/client-sfn';
import type { World } from '../account/world.ts';
import type { TaskState } from './definition.ts';
import { StateFailure, TaskFailure } from './failure.ts';
import type { EventDetails } from './history-event.ts';
import { type Json, toJson } from './json.ts';
import { checkLength } from './limits.ts';
import type { TaskTokens } from './task-tokens.ts';
import type { Tasks } from './tasks.ts';
import type { Thread, Visit } from './visit.ts';

/** Whatever a Task state needs beside its visit. */
export interface TaskRunner {
  readonly world: World;
  readonly tasks: Tasks;
  readonly tokens: TaskTokens;
}

/**
 * One attempt at a Task state. Resolves with its result, rejects with StateFailure.
 *
 * Work that timed out, or whose execution or branch has ended, goes on; its answer is not heard.
 */
export async function runTask(runner: TaskRunner, state: TaskState, visit: Visit): Promise<Json> {
  const { world, tokens } = runner;
  const { thread } = visit;
  const token = state.resource.waitsForToken ? tokens.issue() : undefined;
  const bindings = visit.bindings({}, token === undefined ? {} : { Task: { Token: token } });
  const args = toJson(state.args ? await state.args(bindings) : visit.input);
  checkLength(args, `The state/task '${state.name}' has arguments`);
  const timeoutSeconds = await state.timeoutSeconds?.(bindings);
  const heartbeatSeconds = await state.heartbeatSeconds?.(bindings);
  const events = eventsOf(state);
  const times = { timeoutInSeconds: timeoutSeconds, heartbeatInSeconds: heartbeatSeconds };
  thread.emit(
    events.scheduled,
    events.detail({ scheduled: { region: world.region, parameters: args, ...times } }),
  );
  thread.emit(events.started, events.started === 'TaskStarted' ? events.detail({}) : undefined);
  try {
    const result = await answer(runner, state, thread, {
      args,
      token,
      timeoutSeconds,
      heartbeatSeconds,
      events,
    });
    const output = toJson(result);
    checkLength(output, `The state/task '${state.name}' returned a result`);
    thread.emit(events.succeeded, events.detail({ output }));
    return output;
  } catch (failure) {
    if (failure instanceof StateFailure) {
      const { error, cause } = failure;
      const timedOut = error === 'States.Timeout' || error === 'States.HeartbeatTimeout';
      thread.emit(timedOut ? events.timedOut : events.failed, events.detail({ error, cause }));
    }
    throw failure;
  }
}

interface Attempt {
  readonly args: Json;
  readonly token: string | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly heartbeatSeconds: number | undefined;
  readonly events: TaskEvents;
}

function answer(
  { world, tasks, tokens }: TaskRunner,
  state: TaskState,
  thread: Thread,
  attempt: Attempt,
): Promise<unknown> {
  const { clock } = world;
  const { token, events } = attempt;
  const listening = new AbortController();
  return thread.lifetime.until<unknown>((resolve, reject) => {
    const cleanUp: (() => void)[] = [() => listening.abort('nobody waits for the answer')];
    const limit = (seconds: number, error: string) => {
      const timer = clock.after(seconds * 1000, () => reject(new StateFailure(error, '')));
      cleanUp.push(() => timer.cancel());
      return timer;
    };
    if (attempt.timeoutSeconds !== undefined) limit(attempt.timeoutSeconds, 'States.Timeout');
    if (token !== undefined) {
      const { heartbeatSeconds } = attempt;
      const beat = () =>
        heartbeatSeconds === undefined ? undefined : limit(heartbeatSeconds, 'States.HeartbeatTimeout');
      let silence = beat();
      cleanUp.push(
        tokens.hold(token, {
          succeed: resolve,
          fail: (error, cause) => reject(new StateFailure(error, cause)),
          heartbeat() {
            silence?.cancel();
            silence = beat();
          },
        }),
      );
    }
    const request = {
      resource: state.resource,
      args: attempt.args,
      execution: thread.execution,
      state: state.name,
    };
    (async () => tasks.run({ ...request, signal: listening.signal }))()
      .then(
        result => {
          if (token === undefined) resolve(result);
          else if (!listening.signal.aborted)
            thread.emit('TaskSubmitted', events.detail({ output: toJson(result) }));
        },
        error => {
          if (!(error instanceof TaskFailure)) clock.fail(error);
          reject(error);
        },
      )
      .catch(reject);
    return () => {
      for (const each of cleanUp) each();
    };
  });
}

type WorkDetails = Omit<Extract<EventDetails, { of: 'function' }>, 'of' | 'resource'>;

interface TaskEvents {
  readonly scheduled: HistoryEventType;
  readonly started: HistoryEventType;
  readonly succeeded: HistoryEventType;
  readonly failed: HistoryEventType;
  readonly timedOut: HistoryEventType;
  detail(told: WorkDetails): EventDetails;
}

function eventsOf({ resource }: TaskState): TaskEvents {
  if (resource.kind === 'function') {
    return {
      scheduled: 'LambdaFunctionScheduled',
      started: 'LambdaFunctionStarted',
      succeeded: 'LambdaFunctionSucceeded',
      failed: 'LambdaFunctionFailed',
      timedOut: 'LambdaFunctionTimedOut',
      detail: told => ({ of: 'function', ...(told.scheduled && { resource: resource.arn }), ...told }),
    };
  }
  const suffix = resource.waitsForToken ? '.waitForTaskToken' : '';
  const named =
    resource.kind === 'invoke'
      ? { resourceType: 'lambda', resource: `invoke${suffix}` }
      : {
          resourceType: resource.kind === 'sdk' ? `aws-sdk:${resource.service}` : resource.service,
          resource: `${resource.action}${suffix}`,
        };
  return {
    scheduled: 'TaskScheduled',
    started: 'TaskStarted',
    succeeded: 'TaskSucceeded',
    failed: 'TaskFailed',
    timedOut: 'TaskTimedOut',
    detail: told => ({ of: 'task', ...named, ...told }),
  };
}
