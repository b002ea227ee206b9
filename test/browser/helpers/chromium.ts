import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Where Debian's package `chromium` puts it. */
const EXECUTABLE = '/usr/bin/chromium';
export const hasChromium = existsSync(EXECUTABLE);

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** What the page complained of, in its console or by an exception. */
  readonly complaints: readonly string[];
  /** Everything that it asked for besides itself. */
  readonly requests: readonly string[];
}

/** Opens the HTML from a file, as a person would. */
export async function openPage(
  browser: Browser,
  html: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const folder = mkdtempSync(join(tmpdir(), 'timeline-'));
  const file = join(folder, 'timeline.html');
  writeFileSync(file, html);
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', message => complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => {
    if (request.url() !== url) requests.push(request.url());
  });
  await page.goto(url);
  return {
    page,
    complaints,
    requests,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(folder, { recursive: true });
    },
  };
}
