import type { Entry } from '../account/journal.ts';
import type { Lane, Mark, SpanState, Track } from './data.ts';
import { SpanRecorder } from './span-recorder.ts';

interface SeenTarget {
  readonly state: string;
  readonly reason: string | undefined;
}

interface State {
  readonly state: SpanState;
  readonly note?: string | undefined;
}

/** Follows one instance through the journal and keeps what its lane shows. */
export class InstanceView {
  readonly #tracks: Readonly<Record<Track, SpanRecorder>>;
  readonly #marks: Mark[] = [];
  readonly #targets = new Map<string, SeenTarget>();
  readonly #checks = new Map<string, { readonly status: string; readonly code: string }>();
  #suppression: SpanState | undefined;
  #life = 'running';
  #overall = '';
  #deploying = false;
  #endedByAutoScaling = false;

  constructor(windowFrom: number) {
    this.#tracks = {
      suppression: new SpanRecorder(windowFrom),
      traffic: new SpanRecorder(windowFrom),
      application: new SpanRecorder(windowFrom),
    };
  }

  /** @param entry one that concerns this instance */
  hear(entry: Entry): void {
    switch (entry.type) {
      case 'suppression':
        if (entry.state !== 'extended')
          this.#suppression = entry.state === 'released' ? undefined : entry.state;
        break;
      case 'target':
        this.#targets.set(`${entry.targetGroupArn} ${entry.id}:${entry.port}`, entry);
        break;
      case 'check':
        this.#checks.set(entry.checkId, entry);
        break;
      case 'application-status':
        this.#overall = entry.status;
        break;
      case 'instance':
        this.#life = entry.state;
        break;
      case 'deployment':
        if (entry.state === 'installing') this.#deploying = true;
        if (entry.state === 'installed' || entry.state === 'failed') this.#deploying = false;
        break;
      case 'marked-unhealthy':
        this.mark({ at: entry.at, kind: 'marked-unhealthy', text: `marked Unhealthy by ${entry.by}` });
        break;
      case 'activity':
        if (entry.kind === 'launch') break;
        this.#endedByAutoScaling = true;
        this.mark({ at: entry.at, kind: 'ended-by-auto-scaling', text: entry.cause });
        break;
    }
    this.#show(entry.at);
  }

  mark(mark: Mark): void {
    this.#marks.push(mark);
  }

  lane(until: number): Pick<Lane, 'tracks' | 'marks'> {
    const { suppression, traffic, application } = this.#tracks;
    return {
      tracks: {
        suppression: suppression.spansUntil(until),
        traffic: traffic.spansUntil(until),
        application: application.spansUntil(until),
      },
      marks: this.#marks.toSorted((a, b) => a.at - b.at),
    };
  }

  #show(at: number): void {
    const gone = this.#life === 'terminated' || this.#life === 'shutting-down';
    const traffic = gone ? undefined : trafficState([...this.#targets.values()]);
    const application = gone
      ? { state: this.#endedByAutoScaling ? ('replaced' as const) : ('terminated' as const) }
      : this.#application();
    this.#tracks.suppression.set(at, gone ? undefined : this.#suppression);
    this.#tracks.traffic.set(at, traffic?.state, traffic?.note);
    this.#tracks.application.set(at, application?.state, application?.note);
  }

  #application(): State | undefined {
    if (this.#life === 'pending') return { state: 'launching' };
    if (this.#deploying) return { state: 'deploying' };
    const checks = [...this.#checks.values()];
    const failing = checks.find(({ status }) => status === 'failed');
    if (this.#overall === 'impaired') return { state: 'impaired', note: failing?.code };
    if (failing) return { state: 'not-ready', note: failing.code };
    if (checks.some(({ status }) => status === 'initializing')) return { state: 'initializing' };
    return checks.length > 0 && checks.every(({ status }) => status === 'passed')
      ? { state: 'ready' }
      : undefined;
  }
}

/** The state that a person would worry about first, over all targets of an instance. */
function trafficState(targets: readonly SeenTarget[]): State | undefined {
  if (targets.length === 0) return undefined;
  const unhealthy = targets.find(({ state }) => state.startsWith('unhealthy'));
  if (unhealthy) return { state: 'unhealthy', note: unhealthy.reason };
  for (const state of ['draining', 'initial'] as const)
    if (targets.some(target => target.state === state)) return { state };
  const unused = targets.filter(({ state }) => state === 'unused');
  const idle = unused.find(({ reason }) => reason !== 'Target.NotRegistered');
  if (unused.length === targets.length) return { state: 'out', note: idle?.reason };
  const serving = targets.length - unused.length;
  return {
    state: 'healthy',
    ...(idle || unused.length > 0 ? { note: `${serving} of ${targets.length} targets` } : {}),
  };
}
