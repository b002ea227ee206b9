import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { budgetOf, type PlannedBudgets, plannedBudgets } from './budgets.ts';
import { type Ended, endOf, HistoryReader } from './execution-history.ts';
import { ExecutionPhases } from './execution-phases.ts';
import { hours } from './format.ts';
import type { Phase } from './phases.ts';
import { Picture, type Span } from './picture.ts';
import type { Screen } from './progress.ts';

/** Soon enough to tell a refusal at once, */
const FIRST_LOOK_MS = 1_000;
/** and then seldom: an account may call GetExecutionHistory 20 times a second, for everybody together. */
const LOOK_EVERY_MS = 5_000;

export interface Following {
  readonly executionArn: string;
  readonly runId: string;
  readonly screen: Screen;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Lines to print besides, where an event says something of its own. */
  readonly tell?: (event: HistoryEvent) => readonly string[];
}

export interface Followed {
  readonly ended: Ended;
  readonly events: readonly HistoryEvent[];
  readonly phases: readonly Phase[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Follows one execution to its end: a line a phase that ends, and what it is in now at the bottom of a terminal. */
export async function follow({
  executionArn,
  runId,
  screen,
  pause,
  tell = () => [],
}: Following): Promise<Followed> {
  const reader = new HistoryReader(executionArn);
  const phases = new ExecutionPhases();
  const events: HistoryEvent[] = [];
  const startedAt = () => timeOf(events[0]);
  const view = new FollowView(screen);
  try {
    await pause(FIRST_LOOK_MS);
    for (;;) {
      for (const event of await reader.news()) {
        events.push(event);
        for (const phase of phases.hear(event)) view.print(lineOf(runId, phase, startedAt()));
        for (const said of tell(event))
          view.print(`+${hours(timeOf(event) - startedAt())}  ${runId}  ${said}`);
      }
      const last = events.at(-1);
      const ended = endOf(last);
      if (ended) return { ended, events, phases: phases.all, startedAt: startedAt(), endedAt: timeOf(last) };
      view.draw(nowIn(runId, phases.open, plannedBudgets(events), startedAt()));
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    view.close();
  }
}

const timeOf = (event: HistoryEvent | undefined): number => event?.timestamp?.getTime() ?? 0;

/** Lines that stay, above some that are drawn again; without a terminal only those that stay. */
class FollowView {
  readonly #screen: Screen;
  #picture: Picture | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  print(line: string): void {
    const { print } = this.#screen;
    if (!print) return;
    if (this.#picture) this.#picture.above(() => print(line));
    else print(line);
  }

  draw(lines: readonly (readonly Span[])[]): void {
    if (!this.#screen.terminal) return;
    this.#picture ??= new Picture(this.#screen.terminal);
    this.#picture.draw(lines);
  }

  close(): void {
    this.#picture?.close();
    this.#picture = undefined;
  }
}

function lineOf(runId: string, { name, began, ended = began }: Phase, startedAt: number): string {
  const took = ended - began < 1000 ? '' : `took ${hours(ended - began)}`;
  return `+${hours(ended - startedAt)}  ${runId}  ${name.padEnd(11)}  ${took}`.trimEnd();
}

function nowIn(
  runId: string,
  open: readonly Phase[],
  budgets: PlannedBudgets | undefined,
  startedAt: number,
): Span[][] {
  const lines = open.map(({ name, began }): Span[] => {
    const budget = budgets?.[budgetOf[name] ?? ''];
    const most = budget === undefined ? '' : `, at most ${hours(budget * 1000)}`;
    return [
      { text: `  ${name.padEnd(11)}`, style: 'bold' },
      { text: ` since +${hours(began - startedAt)}${most}` },
    ];
  });
  return [[{ text: `${runId} is under way`, style: 'dim' }], ...lines];
}
