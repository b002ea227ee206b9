import type {
  Hold,
  Lane,
  Mark,
  Span,
  TimelineData,
  TimelineViolation,
  Track,
  TrafficSeries,
} from './data.ts';
import { trackStates } from './data.ts';
import { type Html, html } from './html.ts';
import {
  counted,
  duration,
  grouped,
  markWords,
  phaseUse,
  phaseWords,
  roleWords,
  stateWords,
  trackWords,
} from './words.ts';

/** From so many lanes on they are drawn thin, without words in their spans. */
const COMPACT_FROM = 25;

/** The table of the timeline: what concerns the whole deployment, then a row an instance. The script positions it. */
export function timelineTable(data: TimelineData): Html {
  const scale = new Scale(data);
  const tracks = (Object.keys(trackStates) as Track[]).filter(track =>
    data.lanes.some(lane => lane.tracks[track].length > 0),
  );
  const compact = data.lanes.length >= COMPACT_FROM;
  return html`<table id="lanes" class="${compact ? 'lanes compact' : 'lanes'}" data-seconds="${scale.seconds}" aria-label="Timeline of every instance">
<colgroup><col class="head"><col></colgroup>
<thead><tr><th scope="col">Instance, zone</th><th scope="col" class="axis"><span class="unseen">Time since the start</span><ol id="ticks" aria-hidden="true"></ol></th></tr></thead>
<tbody class="bands">
${phaseBand(data, scale)}
${data.traffic && trafficBand(data.traffic, scale)}
${data.holds.length > 0 && holdBand(data.holds, scale)}
${data.violations && data.violations.length > 0 && violationBand(data.violations, scale)}
</tbody>
<tbody id="instances">
${data.lanes.map(lane => laneRow(lane, tracks, scale))}
</tbody>
</table>`;
}

/** Times as the page knows them: seconds since the timeline begins. */
class Scale {
  readonly seconds: number;
  readonly #from: number;

  constructor({ from, to }: TimelineData) {
    this.#from = from;
    this.seconds = this.at(to);
  }

  at(time: number): number {
    return Math.round((time - this.#from) / 100) / 10;
  }

  range({ from, to }: { readonly from: number; readonly to: number }): string {
    return `${this.at(from)} ${this.at(to)}`;
  }

  clock(time: number): string {
    return duration(time - this.#from);
  }

  words({ from, to }: { readonly from: number; readonly to: number }): string {
    return `${this.clock(from)} to ${this.clock(to)}`;
  }
}

function laneRow(
  { instanceId, zone, role, tracks, marks }: Lane,
  shown: readonly Track[],
  scale: Scale,
): Html {
  return html`<tr data-zone="${zone}"><th scope="row"><b>${instanceId}</b> <small>${zone} ${roleWords[role]}</small></th><td>${shown.map(track => trackList(track, tracks[track], scale))}${markList(marks, scale)}</td></tr>
`;
}

function trackList(track: Track, spans: readonly Span[], scale: Scale): Html {
  const items = spans.map(
    span =>
      html`<li class="${span.state}" data-at="${scale.range(span)}">${stateWords[span.state]}${span.note ? ` (${span.note})` : ''}, ${scale.words(span)}</li>`,
  );
  return html`<ol role="list" class="track" aria-label="${trackWords[track]}">${items}</ol>`;
}

function markList(marks: readonly Mark[], scale: Scale): Html | undefined {
  if (marks.length === 0) return undefined;
  return html`<ol role="list" class="marks" aria-label="Marks">${marks.map(
    ({ at, kind, text }) =>
      html`<li class="${kind}" data-at="${scale.at(at)}">${text.startsWith(markWords[kind]) ? text : `${markWords[kind]}: ${text}`}, ${scale.clock(at)}</li>`,
  )}</ol>`;
}

function band(name: string, note: string, content: readonly (Html | undefined)[]): Html {
  return html`<tr><th scope="row"><b>${name}</b> <small>${note}</small></th><td>${content}</td></tr>
`;
}

function phaseBand({ batches, endedAt, to, outcome }: TimelineData, scale: Scale): Html {
  const phases = batches.flatMap(({ number, phases }) => phases.map(phase => ({ ...phase, number })));
  const rows = packed(phases).map(
    row =>
      html`<ol role="list" class="track phases" aria-label="Phases of the runs">${row.map(
        phase =>
          html`<li class="phase ${phase.name}" data-at="${scale.range(phase)}">${phaseWords[phase.name]}${batches.length > 1 ? `, batch ${phase.number}` : ''}: ${phaseUse(phase)}, from ${scale.clock(phase.from)}</li>`,
      )}</ol>`,
  );
  const goAheads = batches.flatMap(({ number, goAheadAt }): Mark[] =>
    goAheadAt === undefined
      ? []
      : [{ at: goAheadAt, kind: 'go-ahead', text: `go-ahead for batch ${number}` }],
  );
  const end: Mark = { at: endedAt, kind: 'ended', text: `deployment ended, ${outcome.status}` };
  return band('Phases', counted(batches.length, 'batch', 'batches'), [
    ...rows,
    markList(endedAt < to ? [...goAheads, end] : goAheads, scale),
  ]);
}

/** Rows in which nothing overlaps; an item goes into the first row that is free by then. */
function packed<T extends { readonly from: number; readonly to: number }>(
  items: readonly T[],
): readonly T[][] {
  const rows: T[][] = [];
  for (const item of items) {
    const free = rows.find(row => (row.at(-1)?.to ?? 0) <= item.from);
    if (free) free.push(item);
    else rows.push([item]);
  }
  return rows;
}

function trafficBand({ bucketMs, buckets }: TrafficSeries, scale: Scale): Html {
  const all = buckets.map((bucket, index) => {
    const from = (index * bucketMs) / 1000;
    const to = Math.min(from + bucketMs / 1000, scale.seconds);
    return { ...bucket, from, to, perSecond: Math.max(bucket.sent, bucket.failed) / (to - from) };
  });
  // What is left of the last bucket may be shorter than the page's resolution.
  const bars = all.filter(({ from, to }) => to > from);
  const most = Math.max(0, ...bars.map(({ perSecond }) => perSecond));
  const items = bars.map(({ from, to, perSecond, sent, failed, causes }) => {
    const why = Object.entries(causes).map(([cause, count]) => `${grouped(count)} ${cause}`);
    const told = failed === 0 ? 'none failed' : `${grouped(failed)} failed (${why.join(', ')})`;
    const words = `${counted(sent, 'request')}, ${told}, ${duration(from * 1000)} to ${duration(to * 1000)}`;
    const high = Math.round((100 * perSecond) / (most || 1));
    return failed === 0
      ? html`<li data-at="${from} ${to}" data-high="${high}">${words}</li>`
      : html`<li class="failed" data-at="${from} ${to}" data-high="${high}" data-failed="${failed}" data-of="${Math.max(sent, failed)}">${words}</li>`;
  });
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  const note = `${failed === 0 ? 'none' : grouped(failed)} failed; at most ${grouped(Math.round(most))} a second`;
  return band('Requests', note, [
    html`<ol role="list" class="track chart" aria-label="Requests over time">${items}</ol>`,
  ]);
}

function holdBand(holds: readonly Hold[], scale: Scale): Html {
  const rows = packed(holds).map(
    row =>
      html`<ol role="list" class="track phases" aria-label="Auto Scaling holds">${row.map(
        hold =>
          html`<li class="phase hold" data-at="${scale.range(hold)}">${hold.group} suspended: ${hold.processes.join(', ')}, ${scale.words(hold)}</li>`,
      )}</ol>`,
  );
  return band('Auto Scaling holds', '', rows);
}

function violationBand(violations: readonly TimelineViolation[], scale: Scale): Html {
  const marks = violations.map(
    ({ at, rule, what }): Mark => ({ at, kind: 'violation', text: `breaks ${rule}: ${what}` }),
  );
  return band('Violations', grouped(violations.length), [
    html`<ol class="track" role="presentation"></ol>`,
    markList(marks, scale),
  ]);
}
