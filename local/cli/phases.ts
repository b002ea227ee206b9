import type { Entry } from '../account/journal.ts';

/** Where in the bracket a run is, in the bracket's own order, and where an adoption or a retirement is. */
const phaseNames = [
  'queued',
  'suppressing',
  'draining',
  'go-ahead',
  'deploying',
  'ready',
  'register',
  'in service',
  'evidence',
  'release',
  'released',
  'sample',
  'whole group',
  'promotion',
  'watched',
  'check',
  'left behind',
  'groups',
  'undoing',
] as const;
export type PhaseName = (typeof phaseNames)[number];

/** Times are milliseconds since the epoch. */
export interface Phase {
  readonly name: PhaseName;
  readonly began: number;
  readonly ended: number | undefined;
}

export interface RunPhases {
  readonly runId: string;
  readonly instanceIds: readonly string[];
  /** In the order in which they began; a phase that the bracket went back to is there twice. */
  readonly phases: readonly Phase[];
}

interface Turn {
  readonly begins?: PhaseName;
  readonly ends: PhaseName | 'all others' | 'none';
}

/** What entering a state of before-deploy, after-deploy, promote-check or retire-check says about the phase. Other states go on with it. */
export const turns: ReadonlyMap<string, Turn> = new Map<string, Turn>([
  ['WaitForTurn', { begins: 'queued', ends: 'all others' }],
  ['Suppress', { ends: 'all others' }],
  ['Lead', { begins: 'suppressing', ends: 'none' }],
  ['LeadOver', { ends: 'suppressing' }],
  ['Deregister', { begins: 'draining', ends: 'none' }],
  ['TrafficOver', { ends: 'draining' }],
  ['ObserveBoth', { begins: 'go-ahead', ends: 'all others' }],
  ['ObserveReady', { begins: 'ready', ends: 'all others' }],
  ['Register', { begins: 'register', ends: 'all others' }],
  ['ObserveInService', { begins: 'in service', ends: 'all others' }],
  ['ObserveEvidence', { begins: 'evidence', ends: 'all others' }],
  ['HandOver', { begins: 'release', ends: 'all others' }],
  ['Release', { begins: 'release', ends: 'all others' }],
  ['LetReleaseSpread', { begins: 'released', ends: 'all others' }],
  ['Sample', { begins: 'sample', ends: 'all others' }],
  ['ObserveGroup', { begins: 'whole group', ends: 'all others' }],
  ['Widen', { begins: 'whole group', ends: 'all others' }],
  ['Promote', { begins: 'promotion', ends: 'all others' }],
  ['ObserveHarm', { begins: 'watched', ends: 'all others' }],
  ['DeleteCheck', { begins: 'check', ends: 'all others' }],
  // Looked at until the end: what is left behind goes while groups are deleted.
  ['ObserveLeft', { begins: 'left behind', ends: 'check' }],
  ['DeleteGroups', { begins: 'groups', ends: 'none' }],
  ['Adopt', { begins: 'promotion', ends: 'all others' }],
  ['Fence', { ends: 'all others' }],
  ['LetActsEnd', { begins: 'undoing', ends: 'all others' }],
]);

/** The phases of every run, told from the journal as it is written. */
export class Timeline {
  readonly #runs = new Map<string, { readonly instanceIds: readonly string[]; readonly phases: Phase[] }>();

  run(runId: string): RunPhases | undefined {
    const known = this.#runs.get(runId);
    return known && { runId, instanceIds: known.instanceIds, phases: known.phases.toSorted(inOrder) };
  }

  /** The runs that are in some phase now, with only those phases: two while draining overlaps the suppression's spreading. */
  get open(): readonly RunPhases[] {
    return [...this.#runs]
      .map(([runId, { instanceIds, phases }]) => ({
        runId,
        instanceIds,
        phases: phases.filter(phase => phase.ended === undefined).toSorted(inOrder),
      }))
      .filter(({ phases }) => phases.length > 0);
  }

  /** From here on the run is followed. */
  begin(runId: string, instanceIds: readonly string[] = []): void {
    this.#runs.set(runId, { instanceIds, phases: [] });
  }

  /** @returns the phases that this entry ends, and their run */
  hear(entry: Entry): RunPhases | undefined {
    switch (entry.type) {
      case 'state-entered': {
        const turn = turns.get(entry.state);
        return turn && this.#turn(runOf(entry.executionArn), turn, entry.at);
      }
      case 'execution':
        if (entry.status === 'RUNNING') return undefined;
        return this.#turn(runOf(entry.executionArn), { ends: 'all others' }, entry.at);
      case 'deployment':
        return this.#hearDeployment(entry);
      default:
        return undefined;
    }
  }

  #hearDeployment({ state, detail, instanceIds, at }: Extract<Entry, { type: 'deployment' }>) {
    switch (state) {
      case 'batch':
        this.begin(detail, instanceIds);
        return undefined;
      case 'installing':
        return this.#turn(detail, { begins: 'deploying', ends: 'none' }, at);
      case 'installed':
        return this.#turn(detail, { ends: 'deploying' }, at);
      default:
        return undefined;
    }
  }

  #turn(runId: string, { begins, ends }: Turn, at: number): RunPhases | undefined {
    const run = this.#runs.get(runId);
    if (!run) return undefined;
    const { phases, instanceIds } = run;
    const ended: Phase[] = [];
    phases.forEach((phase, index) => {
      const over = ends === 'all others' ? phase.name !== begins : phase.name === ends;
      if (phase.ended !== undefined || !over) return;
      const closed = { ...phase, ended: at };
      phases[index] = closed;
      ended.push(closed);
    });
    const goesOn = phases.some(phase => phase.name === begins && phase.ended === undefined);
    if (begins && !goesOn) phases.push({ name: begins, began: at, ended: undefined });
    return { runId, instanceIds, phases: ended };
  }
}

const inOrder = (a: Phase, b: Phase): number =>
  a.began - b.began || phaseNames.indexOf(a.name) - phaseNames.indexOf(b.name);

/** The run of an execution that is named `before-<run>` or `after-<run>`, by callers of ours with a digest at the end (naming.ts). */
export const runOf = (executionArn: string): string =>
  executionArn
    .slice(executionArn.lastIndexOf(':') + 1)
    .replace(/^(before|after)-/, '')
    .replace(/-[0-9a-f]{16}$/, '');
