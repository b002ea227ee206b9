import {
  type BatchRun,
  type PhaseName,
  phaseNames,
  type TimelineData,
  type TimelineViolation,
} from './data.ts';
import { type Html, html } from './html.ts';
import { counted, duration, grouped, phaseUse, phaseWords } from './words.ts';

/** Title, outcome and the numbers. */
export function heading(data: TimelineData): Html {
  const { title, description, facts, outcome, from, measures, cost, violations } = data;
  const { requests } = measures;
  const figures = [
    measures.replaced !== undefined &&
      figure('Instances replaced', grouped(measures.replaced), '', measures.replaced > 0),
    requests &&
      figure(
        'Requests failed',
        grouped(requests.failed),
        `of ${grouped(requests.sent)}`,
        requests.failed > 0,
      ),
    figure('Minutes', measures.minutes.toFixed(1), ''),
    figure('Blind instance-minutes', measures.blindInstanceMinutes.toFixed(1), ''),
    violations && figure('Violations', grouped(violations.length), '', violations.length > 0),
    figure('State transitions', grouped(cost.stateTransitions), ''),
    figure('Lambda invocations', grouped(cost.lambdaInvocations), ''),
    cost.usDollars !== undefined && figure('Price in US dollars', cost.usDollars.toFixed(4), ''),
  ];
  return html`<header>
<p class="kicker">Quiesce timeline</p>
<h1>${title} <span class="outcome ${outcome.status}">${outcome.status}</span></h1>
${outcome.error !== '' && html`<p class="cause"><b>${outcome.error}</b> ${outcome.cause}</p>`}
${description !== '' && html`<p class="description">${description}</p>`}
<p class="facts">${facts.map(({ name, value }) => html`<span>${name}: <b>${value}</b></span> `)}<span>Started: <b><time datetime="${iso(from)}">${iso(
    from,
  )
    .replace('T', ' ')
    .replace(/\.\d+Z/, ' UTC')}</time></b></span></p>
<dl class="figures">${figures}</dl>
</header>`;
}

const iso = (time: number): string => new Date(time).toISOString();

function figure(name: string, value: string, note: string, bad = false): Html {
  return html`<div${bad && html` class="bad"`}><dt>${name}</dt><dd><b>${value}</b>${note !== '' && html` <small>${note}</small>`}</dd></div>
`;
}

/** Each phase's use against its budget, a row a batch. */
export function budgetTable({ batches }: TimelineData): Html {
  const names = phaseNames.filter(name =>
    batches.some(({ phases }) => phases.some(phase => phase.name === name)),
  );
  if (names.length === 0) return html`<p>No batch was begun.</p>`;
  return html`<div class="wide" role="region" aria-labelledby="budgets" tabindex="0"><table class="budgets">
<thead><tr><th scope="col">Batch</th>${names.map(name => html`<th scope="col">${phaseWords[name]}</th>`)}</tr></thead>
<tbody>
${batches.map(batch => budgetRow(batch, names))}</tbody>
</table></div>`;
}

function budgetRow({ number, instanceIds, error, phases }: BatchRun, names: readonly PhaseName[]): Html {
  const cells = names.map(name => {
    const phase = phases.find(each => each.name === name);
    if (!phase) return html`<td><span class="unseen">none</span></td>`;
    const { from, to, budgetSeconds, completed } = phase;
    const use = budgetSeconds === undefined ? undefined : Math.round((to - from) / (10 * budgetSeconds));
    const bad = !completed || (use ?? 0) > 100;
    return html`<td${bad && html` class="broken"`}${use !== undefined && html` data-use="${use}"`}>${phaseUse(phase)}</td>`;
  });
  const note = [counted(instanceIds.length, 'instance'), error].filter(text => text !== '').join(', ');
  return html`<tr><th scope="row">${number} <small>${note}</small></th>${cells}</tr>
`;
}

/** What did not hold, in full. */
export function violationList(violations: readonly TimelineViolation[], from: number): Html {
  if (violations.length === 0) return html`<p>Nothing that must always hold was broken.</p>`;
  return html`<ol class="violations">${violations.map(
    ({ at, rule, what }) => html`<li><b>${duration(at - from)}</b> ${rule}: ${what}</li>`,
  )}</ol>`;
}
