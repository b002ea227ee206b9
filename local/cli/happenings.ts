import type { Entry } from '../account/journal.ts';
import type { Call } from '../wire/contract.ts';
import { grouped, hours, list, targetGroupName } from './format.ts';
import { runOf, Timeline } from './phases.ts';

/** Something in the account that a person who watches wants to know of. */
export interface Happened {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What kind of thing it happened to: one of a few words, so that columns line up. */
  readonly who: string;
  readonly what: string;
  /** Which one, and the rest. */
  readonly detail: string;
}

/** A part of what happened at one instant: those with the same `who`, `what` and `name` are told together. */
interface Part {
  readonly who: string;
  readonly what: string;
  /** Which of its kind. */
  readonly name?: string;
  readonly ids?: readonly string[];
  readonly count?: number;
  readonly detail?: string;
}

/** Tells the journal of an account as it goes on, what happened to many at one instant in one line. */
export class Happenings {
  readonly #tell: (happened: Happened) => void;
  readonly #timeline = new Timeline();
  #parts = new Map<string, Part>();
  #at = 0;

  constructor(tell: (happened: Happened) => void) {
    this.#tell = tell;
  }

  hear(entry: Entry): void {
    if (entry.at !== this.#at) this.flush();
    this.#at = entry.at;
    if (
      entry.type === 'execution' &&
      entry.status === 'RUNNING' &&
      !this.#timeline.run(runOf(entry.executionArn))
    )
      this.#timeline.begin(runOf(entry.executionArn));
    const over = this.#timeline.hear(entry);
    for (const { name, began } of over?.phases ?? [])
      this.#add({
        who: 'run',
        what: name,
        name: over?.runId ?? '',
        detail: `took ${hours(entry.at - began)}`,
      });
    const part = this.#partOf(entry);
    if (part) this.#add(part);
  }

  /** A call from outside that changes something. */
  hearCall({ service, action, at }: Call): void {
    if (/^(Describe|List|Get|BatchGet|Query|Scan)/.test(action)) return;
    this.flush();
    this.#tell({ at, who: 'call', what: service, detail: action });
  }

  /** Tells what has happened at the last instant. */
  flush(): void {
    const parts = this.#parts;
    this.#parts = new Map();
    for (const { who, what, name = '', ids = [], count, detail = '' } of parts.values()) {
      const counted = count === undefined ? '' : grouped(count);
      const told = [counted, list(ids), detail].filter(text => text !== '').join(' ');
      this.#tell({ at: this.#at, who, what, detail: [name, told].filter(text => text !== '').join(': ') });
    }
  }

  #add(part: Part): void {
    const key = [part.who, part.what, part.name, part.detail].join('\n');
    const known = this.#parts.get(key);
    const count = part.count === undefined ? undefined : part.count + (known?.count ?? 0);
    this.#parts.set(key, {
      ...part,
      ids: [...new Set([...(known?.ids ?? []), ...(part.ids ?? [])])],
      ...(count !== undefined && { count }),
    });
  }

  #partOf(entry: Entry): Part | undefined {
    switch (entry.type) {
      case 'suppression':
        return { who: 'suppression', what: entry.state, ids: [entry.instanceId] };
      case 'application-status':
        return { who: 'application status', what: entry.status, ids: [entry.instanceId] };
      case 'instance':
        return { who: 'instance', what: entry.state, ids: [entry.instanceId] };
      case 'target':
        return {
          who: 'target group',
          what: entry.state,
          name: targetGroupName(entry.targetGroupArn),
          ids: [`${entry.id}:${entry.port}`],
        };
      case 'requests-failed':
        return {
          who: 'target group',
          what: 'requests failed',
          name: targetGroupName(entry.targetGroupArn),
          count: entry.count,
          detail: `(${entry.cause})`,
        };
      case 'marked-unhealthy':
        return {
          who: 'Auto Scaling group',
          what: 'marks Unhealthy',
          name: entry.group,
          ids: [entry.instanceId],
          detail: `(${entry.by})`,
        };
      case 'activity':
        return {
          who: 'Auto Scaling group',
          what: entry.kind === 'launch' ? 'launches' : 'terminates',
          name: entry.group,
          ids: [entry.instanceId],
        };
      case 'process':
        return {
          who: 'Auto Scaling group',
          what: entry.suspended ? 'suspends' : 'resumes',
          name: entry.group,
          ids: [entry.process],
        };
      case 'execution':
        return {
          who: 'execution',
          what: entry.status,
          name: nameOf(entry.executionArn),
          ...(entry.error !== undefined && { detail: entry.error }),
        };
      default:
        return undefined;
    }
  }
}

const nameOf = (executionArn: string): string => executionArn.slice(executionArn.lastIndexOf(':') + 1);
