import type { Flow, MapState, ParallelState } from './definition.ts';
import { isTerminal, QueryEvaluationFailure, StateFailure } from './failure.ts';
import type { Json } from './json.ts';
import { Stopped } from './lifetime.ts';
import { checkLength } from './limits.ts';
import type { Thread, Visit } from './visit.ts';

/** Runs a branch or an iteration to its output. */
export type RunFlow = (flow: Flow, input: Json, thread: Thread) => Promise<Json>;

/** One attempt at a Parallel state: every branch's output, or the first failure once the siblings have stopped. */
export async function runParallel(state: ParallelState, visit: Visit, run: RunFlow): Promise<Json> {
  const { thread } = visit;
  const input = state.args ? await state.args(visit.bindings()) : visit.input;
  checkLength(input, `The state '${state.name}' gives its branches an input`);
  thread.emit('ParallelStateStarted');
  const lifetime = thread.lifetime.child();
  try {
    const outputs = await allOrFirstFailure(
      state.branches.map(branch => () => run(branch, input, thread.inner(lifetime))),
      () => lifetime.end(),
    );
    thread.emit('ParallelStateSucceeded');
    return outputs;
  } catch (failure) {
    if (failure instanceof StateFailure) thread.emit('ParallelStateFailed');
    throw failure;
  } finally {
    lifetime.end();
  }
}

/** One attempt at an INLINE Map state. */
export async function runMap(state: MapState, visit: Visit, run: RunFlow): Promise<Json> {
  const { thread } = visit;
  const bindings = visit.bindings();
  const items = state.items ? await state.items(bindings) : arrayOf(visit.input);
  const maxConcurrency = (await state.maxConcurrency?.(bindings)) || Number.POSITIVE_INFINITY;
  const tolerance = {
    count: await state.toleratedFailureCount?.(bindings),
    percentage: await state.toleratedFailurePercentage?.(bindings),
  };
  thread.emit('MapStateStarted', { of: 'map', length: items.length });
  const lifetime = thread.lifetime.child();
  const outputs = new Map<number, Json>();
  let started = 0;
  let failed = 0;
  const worker = async (): Promise<null> => {
    while (started < items.length) {
      const index = started++;
      const item = { Index: index, Value: items[index] ?? null };
      const selected = state.itemSelector
        ? await state.itemSelector(visit.bindings({}, { Map: { Item: item } }))
        : item.Value;
      checkLength(selected, `The state '${state.name}' gives an iteration an input`);
      try {
        outputs.set(index, await iterate(state, thread.inner(lifetime, item), selected, run));
      } catch (failure) {
        if (!(failure instanceof StateFailure) || isTerminal(failure.error)) throw failure;
        failed++;
        judge(failure, failed, items.length, tolerance);
      }
    }
    return null;
  };
  try {
    const workers = Array.from({ length: Math.min(maxConcurrency, items.length) }, () => worker);
    await allOrFirstFailure(workers, () => lifetime.end());
    thread.emit('MapStateSucceeded');
    // Items whose failure was tolerated have no output.
    return [...outputs].sort(([a], [b]) => a - b).map(([, output]) => output);
  } catch (failure) {
    if (failure instanceof StateFailure) thread.emit('MapStateFailed');
    throw failure;
  } finally {
    lifetime.end();
  }
}

async function iterate(state: MapState, thread: Thread, input: Json, run: RunFlow): Promise<Json> {
  const details = { of: 'iteration', name: state.name, index: thread.mapItem?.Index ?? 0 } as const;
  thread.emit('MapIterationStarted', details);
  try {
    const output = await run(state.processor, input, thread);
    thread.emit('MapIterationSucceeded', details);
    return output;
  } catch (failure) {
    if (failure instanceof Stopped) thread.emitAborted('MapIterationAborted', details);
    if (failure instanceof StateFailure) thread.emit('MapIterationFailed', details);
    throw failure;
  }
}

/** @throws StateFailure when this failure is one too many: the item's own while nothing is tolerated */
function judge(
  failure: StateFailure,
  failed: number,
  total: number,
  { count, percentage }: { readonly count: number | undefined; readonly percentage: number | undefined },
): void {
  if (count === undefined && percentage === undefined) throw failure;
  if (failed > (count ?? total) || (100 * failed) / total > (percentage ?? 100)) {
    throw new StateFailure(
      'States.ExceedToleratedFailureThreshold',
      'The specified tolerated failure threshold was exceeded',
    );
  }
}

/** Runs all at once. At the first failure it calls `stop`, waits until every other has stopped, and fails with it. */
async function allOrFirstFailure(runs: readonly (() => Promise<Json>)[], stop: () => void): Promise<Json[]> {
  let first: { readonly failure: unknown } | undefined;
  const outputs = await Promise.all(
    runs.map(async run => {
      try {
        return await run();
      } catch (failure) {
        first ??= { failure };
        stop();
        return null;
      }
    }),
  );
  if (first) throw first.failure;
  return outputs;
}

function arrayOf(input: Json): readonly Json[] {
  if (Array.isArray(input)) return input;
  throw new QueryEvaluationFailure('Items', 'Without Items the state input must be an array.');
}
