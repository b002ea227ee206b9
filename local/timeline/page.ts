import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type SpanState,
  type TimelineData,
  type TimelineViolation,
  type Track,
  trackStates,
} from './data.ts';
import { type Html, html, verbatim } from './html.ts';
import { timelineTable } from './lanes-html.ts';
import { budgetTable, heading, violationList } from './summary-html.ts';
import { stateWords, trackWords } from './words.ts';

const asset = (name: string): string => readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');

/** A deployment as one HTML page that needs nothing beside itself: no network, no further file. */
export function renderTimeline(data: TimelineData): string {
  const style = asset('timeline.css');
  const script = asset('timeline.js');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${data.title}: ${data.outcome.status} - Quiesce timeline</title>
<style>${verbatim(style)}</style>
</head>
<body>
<a class="skip" href="#scroller">Skip to the timeline</a>
${heading(data)}
<main>
<section id="timeline" aria-labelledby="timeline-title">
<h2 id="timeline-title">Timeline</h2>
${controls(data)}
${legend(data)}
<div id="scroller" role="region" aria-labelledby="timeline-title" tabindex="0">
${timelineTable(data)}
</div>
<p class="hint">Inside the timeline: Tab reaches a span, arrows move between spans, <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> or Ctrl and the wheel zoom.</p>
</section>
<section aria-labelledby="budgets">
<h2 id="budgets">Phases against their budgets</h2>
${budgetTable(data)}
</section>
${data.violations && violationSection(data.violations, data.from)}
</main>
<div id="tip" role="tooltip" hidden></div>
<script>${verbatim(script)}</script>
</body>
</html>
`.text;
}

function violationSection(violations: readonly TimelineViolation[], from: number): Html {
  return html`<section aria-labelledby="violations">
<h2 id="violations">Violations</h2>
${violationList(violations, from)}
</section>`;
}

/** Nothing may be loaded, sent or embedded; only this style sheet and this script run. */
function policy(style: string, script: string): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`;
}

function controls({ lanes }: TimelineData): Html {
  const zones = [...new Set(lanes.map(lane => lane.zone))].filter(zone => zone !== '').toSorted();
  const states = statesByTrack({ lanes }).map(
    ([track, kept]) =>
      html`<optgroup label="${trackWords[track]}">${kept.map(state => html`<option value="${state}">${stateWords[state]}</option>`)}</optgroup>`,
  );
  return html`<form id="controls" role="search" aria-label="Filter and zoom">
<label>Instance <input id="filter-id" type="search" autocomplete="off" spellcheck="false" placeholder="part of an id"></label>
<label>Zone <select id="filter-zone"><option value="">all</option>${zones.map(zone => html`<option>${zone}</option>`)}</select></label>
<label>Ever in state <select id="filter-state"><option value="">any</option>${states}</select></label>
<output id="shown" for="filter-id filter-zone filter-state" aria-live="polite">${lanes.length} of ${lanes.length} instances</output>
<span class="zoom" role="group" aria-label="Zoom"><button type="button" id="zoom-out" aria-label="Zoom out">-</button><output id="zoom" aria-live="polite">100 %</output><button type="button" id="zoom-in" aria-label="Zoom in">+</button><button type="button" id="zoom-fit">Fit</button></span>
</form>`;
}

function legend(data: TimelineData): Html {
  const tracks = statesByTrack(data).map(
    ([track, states]) =>
      html`<div><dt>${trackWords[track]}</dt>${states.map(state => html`<dd><i class="${state}"></i>${stateWords[state]}</dd>`)}</div>`,
  );
  return html`<dl class="legend" aria-label="Colours">${tracks}</dl>`;
}

/** The states that occur at all, so that neither legend nor filter offers others. */
function statesByTrack({ lanes }: Pick<TimelineData, 'lanes'>): readonly [Track, readonly SpanState[]][] {
  return (Object.keys(trackStates) as Track[])
    .map((track): [Track, readonly SpanState[]] => {
      const seen = new Set(lanes.flatMap(lane => lane.tracks[track].map(span => span.state)));
      return [track, trackStates[track].filter(state => seen.has(state))];
    })
    .filter(([, states]) => states.length > 0);
}
