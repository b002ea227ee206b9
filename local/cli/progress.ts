import type { Entry } from '../account/journal.ts';
import type { ScenarioEvent } from '../simulate/scenario.ts';
import type { Scene } from '../simulate/simulation.ts';
import { counted, grouped, hours } from './format.ts';
import { drawLane, lanes } from './lanes.ts';
import { Timeline } from './phases.ts';
import { Picture, type Span, type Terminal } from './picture.ts';

/** Where progress is shown; without a terminal there is no picture, without `print` there are no lines. */
export interface Screen {
  readonly terminal: Terminal | undefined;
  readonly print: ((line: string) => void) | undefined;
}

export const nowhere: Screen = { terminal: undefined, print: undefined };

const ACTIVITY = { launch: 'launches', terminate: 'terminates' };

/** What people do to the whole fleet, and not to one instance. */
const ON_THE_FLEET: ReadonlySet<string> = new Set<ScenarioEvent['do']>([
  'close-security-group',
  'delete-check',
  'disassociate-check',
  'include-check',
  'open-security-group',
  'refer-to-own-group',
  'refresh-instances',
  'scale-in',
  'scale-out',
  'stop-deployment',
  'stop-execution',
  'use-own-group',
]);

/** Without the product's own name, which every name of its alarms and events begins with. */
const ours = (name: string): string => name.replace(/^quiesce[- /]/i, '');

// Fast enough for the eye, and seldom enough not to slow the simulation down.
const FRAME_MS = 40;

/** Follows one simulation: keeps its timeline, prints a line for each phase that ends, and draws the fleet as it is. */
export class Progress {
  readonly timeline = new Timeline();
  readonly #screen: Screen;
  readonly #title: string;
  #picture: Picture | undefined;
  #startedAt = 0;
  #widest = 10;
  #stopObserving = () => {};

  constructor(screen: Screen, title: string) {
    this.#screen = screen;
    this.#title = title;
  }

  readonly begun = (scene: Scene): void => {
    this.#startedAt = scene.startedAt;
    if (!this.#screen.terminal) return;
    const picture = new Picture(this.#screen.terminal);
    this.#picture = picture;
    let last = Number.NEGATIVE_INFINITY;
    this.#stopObserving = scene.account.world.clock.observe(now => {
      if (performance.now() - last < FRAME_MS) return;
      last = performance.now();
      picture.draw(this.#frame(scene, now));
    });
  };

  readonly hear = (entry: Entry): void => {
    const { at } = entry;
    const over = this.timeline.hear(entry);
    for (const { name, began } of over?.phases ?? [])
      this.#print(at, over?.runId ?? '', name, at - began < 1000 ? '' : `took ${hours(at - began)}`);
    switch (entry.type) {
      case 'deployment':
        if (entry.state === 'batch')
          this.#print(at, entry.detail, 'begins', counted(entry.instanceIds.length, 'instance'));
        if (entry.state === 'failed') this.#print(at, 'deployment', 'failed', entry.detail);
        if (entry.state === 'succeeded') this.#print(at, 'deployment', 'succeeded', '');
        return;
      case 'marked-unhealthy':
        this.#print(at, `group ${entry.group}`, 'marks', `${entry.instanceId} Unhealthy (${entry.by})`);
        return;
      case 'activity':
        this.#print(at, `group ${entry.group}`, ACTIVITY[entry.kind], entry.instanceId);
        return;
      case 'person': {
        const which = ON_THE_FLEET.has(entry.act) ? '' : entry.instanceId;
        this.#print(at, 'people', entry.act.replaceAll('-', ' '), which);
        return;
      }
      case 'aggregation':
        this.#print(at, 'check', entry.aggregation, entry.checkId);
        return;
      case 'announced':
        this.#print(
          at,
          'Quiesce',
          'announces',
          [ours(entry.detailType), ...(entry.about ? [entry.about] : [])].join(': '),
        );
        return;
      case 'told':
        this.#print(at, 'people', 'are told', entry.subject);
        return;
      case 'alarm':
        if (entry.state === 'ALARM')
          this.#print(at, 'alarm', 'rings', [ours(entry.alarm), entry.contributor ?? ''].join(' '));
        return;
    }
  };

  close(): void {
    this.#stopObserving();
    this.#picture?.close();
    this.#picture = undefined;
  }

  #print(at: number, who: string, what: string, detail: string): void {
    const { print } = this.#screen;
    if (!print) return;
    // A batch says that it begins before anything else is said: its name makes room for all that follows.
    this.#widest = Math.max(this.#widest, who.length);
    const line = `${this.#stamp(at)}  ${who.padEnd(this.#widest)}  ${what.padEnd(11)}  ${detail}`.trimEnd();
    if (this.#picture) this.#picture.above(() => print(line));
    else print(line);
  }

  #stamp = (at: number): string => `+${hours(at - this.#startedAt)}`;

  #frame(scene: Scene, now: number): Span[][] {
    const { open } = this.timeline;
    const deploying = open.filter(({ phases }) => phases.some(phase => phase.name === 'deploying'));
    const { sent, failed } = scene.account.traffic.totals();
    return [
      [],
      [
        { text: this.#title, style: 'bold' },
        { text: `  ${this.#stamp(now)}`, style: 'cyan' },
        ...open.flatMap(({ runId, phases }): Span[] => [
          { text: `  ${runId} ` },
          { text: phases.map(phase => phase.name).join(', '), style: 'bold' },
        ]),
      ],
      ...lanes(scene, new Set(deploying.flatMap(run => run.instanceIds))).map(drawLane),
      [
        { text: `requests: ${grouped(sent)} sent, ` },
        { text: `${grouped(failed)} failed`, style: failed > 0 ? 'red' : 'green' },
      ],
    ];
  }
}
