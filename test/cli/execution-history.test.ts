import type { GetExecutionHistoryInput, HistoryEvent } from '@aws-sdk/client-sfn';
import { expect, onTestFinished, test } from 'vitest';
import { stepFunctions } from '../../functions/core/aws/clients.ts';
import { HistoryReader } from '../../local/cli/execution-history.ts';

/** GetExecutionHistory over `events`, in pages of what is asked for. Returns how many pages were read. */
function serve(events: readonly HistoryEvent[]): () => number {
  let pages = 0;
  const name = 'history of the test';
  stepFunctions().middlewareStack.add(
    () => async args => {
      const { maxResults = 100, nextToken = '0', reverseOrder } = args.input as GetExecutionHistoryInput;
      pages += 1;
      const from = Number(nextToken);
      const to = from + maxResults;
      const ordered = reverseOrder ? events.toReversed() : events;
      const output = {
        $metadata: {},
        events: ordered.slice(from, to),
        ...(to < events.length && { nextToken: String(to) }),
      };
      return { output, response: undefined };
    },
    { step: 'initialize', name },
  );
  onTestFinished(() => void stepFunctions().middlewareStack.remove(name));
  return () => pages;
}

test('R-PAGE: reads every event of a long history once, oldest first, and then only what is new', async () => {
  const events: HistoryEvent[] = [];
  const happen = (count: number) => {
    for (let n = 0; n < count; n++)
      events.push({ id: events.length + 1, type: 'WaitStateEntered', timestamp: new Date(0) });
  };
  const pages = serve(events);
  const reader = new HistoryReader('arn:aws:states:eu-west-1:111122223333:execution:machine:name');
  const ids = async () => (await reader.news()).map(({ id }) => id);

  happen(2500);
  expect(await ids()).toEqual(events.map(({ id }) => id));
  expect(pages()).toBe(3);
  happen(2);
  expect(await ids()).toEqual([2501, 2502]);
  expect(await ids()).toEqual([]);
  expect(pages()).toBe(5);
});
