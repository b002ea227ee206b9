import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { renderTimeline } from '../../local/timeline.ts';
import { timelineData } from './helpers/timeline-data.ts';

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror='alert("2")'>`;

test('nothing from the data becomes markup', () => {
  const [lane] = timelineData(1).lanes;
  if (!lane) throw new Error('one lane was asked for');
  const page = renderTimeline(
    timelineData(1, {
      title: HOSTILE,
      description: HOSTILE,
      facts: [{ name: HOSTILE, value: HOSTILE }],
      outcome: { status: 'failed', error: HOSTILE, cause: HOSTILE },
      lanes: [
        { ...lane, instanceId: HOSTILE, zone: HOSTILE, marks: [{ at: 0, kind: 'go-ahead', text: HOSTILE }] },
      ],
      holds: [
        { group: HOSTILE, processes: [HOSTILE], from: lane.marks[0]?.at ?? 0, to: lane.marks[0]?.at ?? 0 },
      ],
      violations: [{ at: 0, rule: HOSTILE, what: HOSTILE }],
    }),
  );
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toContain('<img');
  expect(page).not.toContain(`onerror='`);
  expect(page).toContain('&lt;/script&gt;&lt;script&gt;alert(1)');
});

test('the page allows itself its own style sheet and script, and nothing else', () => {
  const page = renderTimeline(timelineData(2));
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  const directives = Object.fromEntries(
    policy
      .split('; ')
      .map(directive => [directive.split(' ')[0], directive.slice(directive.indexOf(' ') + 1)]),
  );
  const hashOf = (element: string) => {
    const [, text = ''] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(page) ?? [];
    return `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
  };
  expect(directives).toEqual({
    'default-src': '&#39;none&#39;',
    'style-src': hashOf('style'),
    'script-src': hashOf('script'),
    'base-uri': '&#39;none&#39;',
    'form-action': '&#39;none&#39;',
  });
  expect(page).not.toMatch(/https?:|url\(|@import|<link|src=|\sstyle="/);
});

test('200 instances fit into 500 KB', () => {
  expect(Buffer.byteLength(renderTimeline(timelineData(200)))).toBeLessThan(500_000);
});

test('every number of the header is told', () => {
  const text = renderTimeline(timelineData(2))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
  expect(text).toContain('BudgetSpent A check still failed.');
  for (const told of [
    'Instances replaced 1',
    'Requests failed 12 of 3,600',
    'Minutes 25.0',
    'Blind instance-minutes 8.5',
    'Violations 1',
    'State transitions 291',
    'Lambda invocations 101',
    'Price in US dollars 0.0075',
  ])
    expect(text).toContain(told);
});

test('a deployment whose requests nobody counted has no row of requests', () => {
  const { traffic, measures, ...rest } = timelineData(2);
  const { requests, ...counted } = measures;
  expect(traffic).toBeDefined();
  expect(requests).toBeDefined();
  expect(renderTimeline({ ...rest, measures: counted })).not.toContain('Requests');
});
