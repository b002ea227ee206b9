import { probe } from './check-probe.ts';
import { type Outcome, succeeded } from './check-result.ts';
import type { CheckSettings } from './check-settings.ts';
import type { Ec2, Ec2Instance } from './ec2.ts';
import { ProbeRota } from './probe-rota.ts';

/** A check that is due on an instance, with the settings that its probes go out with. */
export interface DueCheck {
  readonly checkId: string;
  readonly settings: CheckSettings;
}

/** What the two requests of a check came to; no outcome when no path leads from a checker to the instance. */
export interface Evaluation extends DueCheck {
  readonly outcome: Outcome | undefined;
}

interface Round {
  readonly instance: Ec2Instance;
  readonly probes: readonly (DueCheck & { readonly first: Outcome | undefined })[];
}

/**
 * Probes every instance once a cycle from two checkers, and reports the evaluations as soon as both of them know.
 *
 * INF: the checks of one instance are probed together, at the instance's own second of the minute; an evaluation
 * succeeds when at least one of the two requests does.
 */
export class ProbeCycle {
  readonly #ec2: Ec2;
  readonly #due: (instance: Ec2Instance) => readonly DueCheck[];
  readonly #report: (instance: Ec2Instance, evaluations: readonly Evaluation[]) => void;
  readonly #rota: ProbeRota;

  constructor(
    ec2: Ec2,
    due: (instance: Ec2Instance) => readonly DueCheck[],
    report: (instance: Ec2Instance, evaluations: readonly Evaluation[]) => void,
  ) {
    this.#ec2 = ec2;
    this.#due = due;
    this.#report = report;
    const { clock, physics } = ec2.world;
    this.#rota = new ProbeRota(clock, physics.probeIntervalSeconds, ids => this.#probe(ids));
  }

  add(instanceId: string, second: number): void {
    this.#rota.add(instanceId, second);
  }

  remove(instanceId: string, second: number): void {
    this.#rota.remove(instanceId, second);
  }

  #probe(instanceIds: readonly string[]): void {
    const { clock, physics } = this.#ec2.world;
    const rounds = instanceIds
      .flatMap(id => this.#ec2.instance(id) ?? [])
      .map(instance => ({
        instance,
        probes: this.#due(instance).map(due => ({ ...due, first: probe(this.#ec2, instance, due.settings) })),
      }))
      .filter(({ probes }) => probes.length > 0);
    if (rounds.length > 0) clock.after(physics.checkerOffsetMs, () => this.#probeAgain(rounds));
  }

  /** Rounds that end at the same instant share a timer. */
  #probeAgain(rounds: readonly Round[]): void {
    const { clock, physics } = this.#ec2.world;
    const ends = new Map<number, (() => void)[]>();
    for (const { instance, probes } of rounds) {
      let waitMs = 0;
      const evaluations = probes.map(({ checkId, settings, first }) => {
        const second = probe(this.#ec2, instance, settings);
        waitMs = Math.max(waitMs, (first?.tookMs ?? 0) - physics.checkerOffsetMs, second?.tookMs ?? 0);
        return { checkId, settings, outcome: first && succeeded(first) ? first : second };
      });
      const end = () => this.#report(instance, evaluations);
      const together = ends.get(waitMs);
      if (together) together.push(end);
      else ends.set(waitMs, [end]);
    }
    for (const [waitMs, together] of ends)
      clock.after(waitMs, () => {
        for (const end of together) end();
      });
  }
}
