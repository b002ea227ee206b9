import { GetExecutionHistoryCommand, type HistoryEvent } from '@aws-sdk/client-sfn';
import { send } from '../../functions/core/aws/call.ts';
import { stepFunctions } from '../../functions/core/aws/clients.ts';

/** API: the greatest page of GetExecutionHistory. */
const PAGE_SIZE = 1000;

/** Reads the history of one execution, each event once. */
export class HistoryReader {
  readonly #executionArn: string;
  #newestId = 0;

  constructor(executionArn: string) {
    this.#executionArn = executionArn;
  }

  /** The events since the last reading, oldest first. Newest first on the wire, so that it ends where the last one began. */
  async news(): Promise<HistoryEvent[]> {
    const news: HistoryEvent[] = [];
    let nextToken: string | undefined;
    do {
      const page = await this.#page(nextToken);
      const fresh = (page.events ?? []).filter(({ id = 0 }) => id > this.#newestId);
      news.push(...fresh);
      nextToken = fresh.length === page.events?.length ? page.nextToken : undefined;
    } while (nextToken);
    news.reverse();
    this.#newestId = news.at(-1)?.id ?? this.#newestId;
    return news;
  }

  #page(nextToken: string | undefined) {
    return send('states:GetExecutionHistory', () =>
      stepFunctions().send(
        new GetExecutionHistoryCommand({
          executionArn: this.#executionArn,
          reverseOrder: true,
          maxResults: PAGE_SIZE,
          nextToken,
        }),
      ),
    );
  }
}

/** How an execution ended, and why. */
export interface Ended {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';
  /** The named error and its sentence; empty when it succeeded. */
  readonly error: string;
  readonly cause: string;
}

/** @param event the last one; undefined when it does not end the execution */
export function endOf(event: HistoryEvent | undefined): Ended | undefined {
  switch (event?.type) {
    case 'ExecutionSucceeded':
      return { status: 'SUCCEEDED', error: '', cause: '' };
    case 'ExecutionFailed':
      return told('FAILED', event.executionFailedEventDetails);
    case 'ExecutionTimedOut':
      return told('TIMED_OUT', event.executionTimedOutEventDetails);
    case 'ExecutionAborted':
      return told('ABORTED', event.executionAbortedEventDetails);
    default:
      return undefined;
  }
}

const told = (
  status: Ended['status'],
  { error, cause }: { readonly error?: string | undefined; readonly cause?: string | undefined } = {},
): Ended => ({ status, error: error ?? status, cause: cause ?? '' });
