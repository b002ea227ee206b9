import type { Account } from '../account/account.ts';
import type { StatusView } from '../account/application-status.ts';
import type { Entry } from '../account/journal.ts';

/** From the first to the last of something. Instants are milliseconds since the epoch. */
export interface Span {
  from: number;
  to: number;
}

/** When things truly happened to the members of one run, and when the Describe operations showed it. */
export interface Milestones {
  readonly members: readonly string[];
  readonly before: Span;
  readonly after: Span;
  /** From the first Enable until the last member is shown `suppressed`. */
  readonly propagation: Span;
  /** From the first deregistration until the last target is gone. */
  readonly drain: Span;
  /** From the start of after-deploy until each check of each member is shown to have passed since. */
  readonly readiness: Span;
  /** From the first registration until the last target is healthy. */
  readonly registration: Span;
  /** From the last registration until each check of each member is shown to have passed as often as required since. */
  readonly evidence: Span;
  /** From the first Disable until the last member is shown as released. */
  readonly release: Span;
}

/** How often a watched member is looked at: the resolution of what the Describe operations show. */
const LOOK_MS = 1_000;

type Phase = 'idle' | 'before' | 'deploying' | 'after';

/** Something that members of the present run are yet to be seen in. */
interface Expectation {
  readonly span: Span;
  /** With what was last seen of each: the same view says the same again. */
  readonly missing: Map<string, StatusView | undefined>;
  readonly holds: (id: string, view: StatusView) => boolean;
}

/**
 * Follows runs from outside: by the journal, and by what the Describe operations show of the members. It asks the
 * account directly, so it neither calls an API nor changes what happens.
 */
export class MilestoneWatch {
  readonly runs: Milestones[] = [];
  readonly #account: Account;
  readonly #evaluations: number;
  #phase: Phase = 'idle';
  #current = emptyRun([]);
  #expected: Expectation[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param evaluations how many newer evaluations of each check after-deploy requires after the registration */
  constructor(account: Account, evaluations: number) {
    this.#account = account;
    this.#evaluations = evaluations;
    account.world.journal.listen(entry => this.#hear(entry));
    account.world.clock.observe(now => this.#look(now));
  }

  #hear(entry: Entry): void {
    switch (entry.type) {
      case 'deployment':
        if (entry.state === 'batch') this.#current = emptyRun(entry.instanceIds);
        return;
      case 'execution':
        this.#turn(entry);
        return;
      case 'suppression':
        this.#hearSuppression(entry);
        return;
      case 'target':
        this.#hearTarget(entry);
        return;
    }
  }

  #turn({ machine, status, at }: Extract<Entry, { type: 'execution' }>): void {
    const phase = machine.includes('BeforeDeploy') ? 'before' : 'after';
    const span = this.#current[phase];
    extend(span, at);
    if (status !== 'RUNNING') {
      this.#phase = phase === 'before' ? 'deploying' : 'idle';
      if (phase === 'after') this.runs.push(this.#current);
      return;
    }
    this.#phase = phase;
    if (phase === 'after') this.#expectPasses(this.#current.readiness, at, 1);
  }

  #hearSuppression({ state, at }: Extract<Entry, { type: 'suppression' }>): void {
    const { propagation, release } = this.#current;
    if (state === 'spreading' && !begun(propagation))
      this.#expect(propagation, at, (_, view) => view.status === 'suppressed');
    if (state === 'releasing' && !begun(release))
      this.#expect(release, at, (_, view) => view.status !== 'suppressed');
  }

  #hearTarget({ state, reason, at }: Extract<Entry, { type: 'target' }>): void {
    const { drain, registration, evidence } = this.#current;
    if (this.#phase === 'before' && (state === 'draining' || state === 'unused')) extend(drain, at);
    if (this.#phase !== 'after') return;
    if (reason === 'Elb.RegistrationInProgress') {
      if (!begun(evidence)) this.#expectPasses(evidence, at, this.#evaluations);
      evidence.from = at;
    }
    if (state === 'initial' || state === 'healthy') extend(registration, at);
  }

  /** Each check of each member passes in `times` evaluations that are newer than the span's beginning. */
  #expectPasses(span: Span, from: number, times: number): void {
    const passes = new Map<string, { count: number; last: number }>();
    this.#expect(span, from, (id, { results }) =>
      results.every(result => {
        const key = `${id} ${result.checkId}`;
        const known = passes.get(key) ?? { count: 0, last: 0 };
        passes.set(key, known);
        if (result.updatedAt <= Math.max(known.last, span.from)) return known.count >= times;
        const passed = result.status === 'passed' && result.outcome?.code === 'ResponseCodeMatched';
        known.count = passed ? known.count + 1 : 0;
        known.last = result.updatedAt;
        return known.count >= times;
      }),
    );
  }

  #expect(span: Span, from: number, holds: Expectation['holds']): void {
    extend(span, from);
    this.#expected.push({ span, missing: new Map(this.#current.members.map(id => [id, undefined])), holds });
  }

  #look(now: number): void {
    if (this.#expected.length === 0 || now < this.#lookedAt + LOOK_MS) return;
    this.#lookedAt = now;
    for (const { span, missing, holds } of this.#expected)
      for (const [id, last] of missing) {
        const view = this.#account.checks.described(id);
        if (!view || view === last) continue;
        missing.set(id, view);
        if (!holds(id, view)) continue;
        missing.delete(id);
        extend(span, now);
      }
    this.#expected = this.#expected.filter(({ missing }) => missing.size > 0);
  }
}

const emptyRun = (members: readonly string[]): Milestones => ({
  members,
  before: nothing(),
  after: nothing(),
  propagation: nothing(),
  drain: nothing(),
  readiness: nothing(),
  registration: nothing(),
  evidence: nothing(),
  release: nothing(),
});

const nothing = (): Span => ({ from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY });
const begun = ({ from }: Span): boolean => from !== Number.POSITIVE_INFINITY;

function extend(span: Span, at: number): void {
  span.from = Math.min(span.from, at);
  span.to = Math.max(span.to, at);
}

/** In seconds; 0 when it never began. */
export const secondsOf = (span: Span): number => (begun(span) ? (span.to - span.from) / 1000 : 0);
