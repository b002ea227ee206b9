import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderTimeline } from '../../local/timeline.ts';
import { timelineData } from '../timeline/helpers/timeline-data.ts';
import { hasChromium, launchChromium, openPage } from './helpers/chromium.ts';
import { lowContrast } from './helpers/contrast.ts';

const why = hasChromium ? '' : ' (skipped: no /usr/bin/chromium; install the package chromium)';

describe.skipIf(!hasChromium)(`the timeline in Chromium${why}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  const open = (instances: number, options: Parameters<typeof openPage>[2] = {}) =>
    openPage(browser, renderTimeline(timelineData(instances)), options);

  const SHOWN = '#instances tr:not([hidden])';

  test('loads without a complaint and asks for nothing', async () => {
    await using opened = await open(6);
    expect(await opened.page.locator('html.live').count()).toBe(1);
    expect(opened.complaints).toEqual([]);
    expect(opened.requests).toEqual([]);
  });

  test('draws a lane an instance, each span where its time is', async () => {
    await using opened = await open(6);
    const { page } = opened;
    expect(await page.locator('#instances tr').count()).toBe(6);
    const axis = await page.locator('#ticks').boundingBox();
    const span = await page.locator('#instances tr .suppressed').first().boundingBox();
    // Suppressed from minute 3 to minute 20 of 30.
    expect(((span?.x ?? 0) - (axis?.x ?? 0)) / (axis?.width ?? 1)).toBeCloseTo(3 / 30, 2);
    expect((span?.width ?? 0) / (axis?.width ?? 1)).toBeCloseTo(17 / 30, 2);
  });

  test('filters by id, zone and state from the keyboard', async () => {
    await using opened = await open(6);
    const { page } = opened;
    await page.focus('#filter-id');
    await page.keyboard.type('abc00002');
    expect(await page.locator(`${SHOWN} th b`).allTextContents()).toEqual(['i-000000000abc00002']);
    expect(await page.locator('#shown').textContent()).toBe('1 of 6 instances');

    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.press('Tab');
    await page.keyboard.type('eu-west-1b');
    expect(await page.locator(SHOWN).count()).toBe(2);

    await page.keyboard.press('Home');
    await page.keyboard.press('Tab');
    await page.keyboard.type('replaced');
    expect(await page.locator(SHOWN).count()).toBe(1);
    expect(await page.locator(`${SHOWN} .replaced`).count()).toBe(1);
  });

  test('zooms by button, key and wheel, and back to everything', async () => {
    await using opened = await open(6);
    const { page } = opened;
    const width = async () => (await page.locator('#ticks').boundingBox())?.width ?? 0;
    const ticks = () => page.locator('#ticks li').count();
    const [whole, few] = [await width(), await ticks()];
    await page.click('#zoom-in');
    expect((await width()) / whole).toBeCloseTo(2, 1);
    expect(await ticks()).toBeGreaterThan(few);
    await page.focus('#scroller');
    await page.keyboard.press('+');
    expect((await width()) / whole).toBeCloseTo(4, 1);
    await page.keyboard.press('-');
    expect((await width()) / whole).toBeCloseTo(2, 1);
    await page.hover('#instances tr:first-child .suppressed');
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await expect.poll(async () => (await width()) / whole).toBeCloseTo(4, 1);
    await page.focus('#scroller');
    await page.keyboard.press('0');
    expect(await width()).toBeCloseTo(whole, 0);
    expect(await page.locator('#zoom').textContent()).toBe('100 %');
  });

  test('the moment under the pointer stays there while the wheel zooms', async () => {
    await using opened = await open(6);
    const { page } = opened;
    const left = async () => (await page.locator('#instances tr:first-child .initial').boundingBox())?.x ?? 0;
    const before = await left();
    await page.mouse.move(before, (await page.locator('#ticks').boundingBox())?.y ?? 0);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -400);
    await page.keyboard.up('Control');
    await expect.poll(() => page.locator('#zoom').textContent()).toBe('400 %');
    expect(Math.abs((await left()) - before)).toBeLessThan(3);
  });

  test('tells a span under the pointer and one reached by arrows', async () => {
    await using opened = await open(6);
    const { page } = opened;
    const tip = page.locator('#tip');
    await page.hover('#instances tr:first-child .not-ready');
    expect(await tip.locator('div').allTextContents()).toEqual([
      'i-000000000abc00000 eu-west-1a',
      'check failing (ConnectionRefused), 8:00 to 12:00',
      'Application, for 4:00',
    ]);
    await page.keyboard.press('Escape');
    expect(await tip.isVisible()).toBe(false);

    await page.focus('#scroller');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate('document.activeElement.textContent');
    expect(await focused()).toContain('Before');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toContain('Deployment');
    expect(await tip.textContent()).toContain('Deployment: 4:00 of 1:00:00');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('#lanes [tabindex]').count()).toBe(1);
  });

  test('everything in focus order has a name', async () => {
    await using opened = await open(6);
    const session = await opened.page.context().newCDPSession(opened.page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const focusable = nodes.filter(node =>
      node.properties?.some(({ name, value }) => name === 'focusable' && value.value === true),
    );
    // The page, the skip link, three filters, three zoom buttons less the disabled one, two regions, one span.
    expect(focusable.length).toBeGreaterThanOrEqual(9);
    expect(focusable.filter(node => !node.name?.value).map(node => node.role?.value)).toEqual([]);
  });

  test('reads as a table with a row an instance and a list a track', async () => {
    await using opened = await open(2);
    const lane = opened.page.getByRole('row', { name: 'i-000000000abc00000' });
    expect(
      await lane.getByRole('list', { name: 'Suppression' }).getByRole('listitem').allTextContents(),
    ).toEqual([
      'suppression spreading, 0:00 to 3:00',
      'suppressed, 3:00 to 20:00',
      'release spreading, 20:00 to 22:00',
    ]);
    expect(await lane.getByRole('list', { name: 'Marks' }).getByRole('listitem').allTextContents()).toEqual([
      'go-ahead for batch 1, 4:00',
      'marked Unhealthy by elb, 13:00',
    ]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`text stands out from what is behind it (${colorScheme})`, async () => {
      await using opened = await open(6, { colorScheme });
      await opened.page.hover('#instances tr:first-child .suppressed');
      const { checked, low } = await opened.page.evaluate<{ checked: number; low: unknown[] }>(
        lowContrast(4.5),
      );
      expect(low).toEqual([]);
      expect(checked).toBeGreaterThan(60);
    });

  for (const width of [1280, 400])
    test.for([6, 200])(`fits a window ${width} pixels wide with %i instances`, async instances => {
      await using opened = await open(instances, { viewport: { width, height: 800 } });
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await opened.page.evaluate(overflow)).toBe(0);
    });

  test('the first column and the axis stay in sight', async () => {
    await using opened = await open(200);
    const { page } = opened;
    await page.click('#zoom-in');
    const corner = page.locator('#lanes thead th').first();
    const before = await corner.boundingBox();
    await page.evaluate('document.getElementById("scroller").scrollBy(300, 900)');
    expect(await corner.boundingBox()).toEqual(before);
  });

  test('200 instances are drawn within a second', async () => {
    const times: number[] = [];
    // The best of three: what else runs on the machine is not the page's.
    for (let load = 0; load < 3; load++) {
      await using opened = await open(200);
      expect(await opened.page.locator('#instances tr').count()).toBe(200);
      times.push(
        await opened.page.evaluate<number>('performance.getEntriesByType("navigation")[0].loadEventEnd'),
      );
    }
    expect(Math.min(...times)).toBeLessThan(1000);
  });
});
