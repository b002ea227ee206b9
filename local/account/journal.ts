/** What happens in the simulated account, as it happens. Invariants, progress and reports read this, never the product. */
export type Happening =
  | { readonly type: 'instance'; readonly instanceId: string; readonly state: string }
  | {
      readonly type: 'check';
      readonly instanceId: string;
      readonly checkId: string;
      readonly status: string;
      readonly code: string;
    }
  | {
      /** A check has been included, or excluded. */
      readonly type: 'aggregation';
      readonly checkId: string;
      readonly aggregation: 'included' | 'excluded';
    }
  | { readonly type: 'application-status'; readonly instanceId: string; readonly status: string }
  | {
      /** `spreading` from Enable, `suppressed` when it holds, `releasing` from Disable or its end, then `released`. */
      readonly type: 'suppression';
      readonly instanceId: string;
      readonly state: 'spreading' | 'extended' | 'suppressed' | 'releasing' | 'released';
      readonly resumesAt: number | undefined;
    }
  | {
      readonly type: 'target';
      readonly targetGroupArn: string;
      readonly id: string;
      readonly port: number;
      readonly state: string;
      readonly reason: string | undefined;
    }
  | {
      /** `count` requests of one kind that failed. `durationMs` is what they would have taken. */
      readonly type: 'requests-failed';
      readonly targetGroupArn: string;
      readonly targetId: string | undefined;
      readonly cause: 'no-target' | 'refused' | 'error-status' | 'timed-out' | 'cut';
      readonly durationMs: number;
      readonly count: number;
    }
  | {
      readonly type: 'lifecycle';
      readonly group: string;
      readonly instanceId: string;
      readonly state: string;
    }
  | {
      readonly type: 'marked-unhealthy';
      readonly group: string;
      readonly instanceId: string;
      readonly by: 'ec2' | 'application-status' | 'elb' | 'custom';
    }
  | {
      readonly type: 'activity';
      readonly group: string;
      readonly kind: 'launch' | 'terminate';
      readonly instanceId: string;
      readonly cause: string;
    }
  | {
      readonly type: 'process';
      readonly group: string;
      readonly process: string;
      readonly suspended: boolean;
    }
  | {
      readonly type: 'interface';
      readonly interfaceId: string;
      readonly state: 'created' | 'lingering' | 'removed';
    }
  | {
      /** An alarm, or one contributor of it, has entered a state. */
      readonly type: 'alarm';
      readonly alarm: string;
      readonly contributor: string | undefined;
      readonly state: string;
      readonly reason: string;
    }
  | {
      /** A machine has put an event on the bus; `about` is the check, the run or the alarm that it names. */
      readonly type: 'announced';
      readonly detailType: string;
      readonly about: string | undefined;
    }
  /** A topic has sent this to people. */
  | { readonly type: 'told'; readonly subject: string }
  | {
      readonly type: 'execution';
      readonly executionArn: string;
      readonly machine: string;
      readonly status: string;
      readonly error: string | undefined;
    }
  | {
      readonly type: 'state-entered';
      readonly executionArn: string;
      readonly machine: string;
      readonly state: string;
    }
  | {
      /** A person, or another program, acts on the fleet besides the deployment; `act` as scenarios name it. */
      readonly type: 'person';
      readonly act: string;
      readonly instanceId: string;
    }
  | {
      /** `batch` when a batch begins. Its detail, and that of its go-ahead and its installing, is its run's id. */
      readonly type: 'deployment';
      readonly state: 'started' | 'batch' | 'go-ahead' | 'installing' | 'installed' | 'succeeded' | 'failed';
      readonly instanceIds: readonly string[];
      readonly detail: string;
    };

export type Entry = Happening & { readonly at: number };

export class Journal {
  readonly entries: Entry[] = [];
  readonly #now: () => number;
  readonly #listeners = new Set<(entry: Entry) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  record(happening: Happening): void {
    const entry = { ...happening, at: this.#now() };
    this.entries.push(entry);
    for (const hear of this.#listeners) hear(entry);
  }

  /** Calls `hear` for every later entry. Returns how to stop. */
  listen(hear: (entry: Entry) => void): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }
}
