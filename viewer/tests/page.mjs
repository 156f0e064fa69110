// Pages for the tests: the bundled viewer with data, and a browser to open them in.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { load } from './packages.mjs';

export const folder = mkdtempSync(join(tmpdir(), 'trammel-viewer-'));

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** As app/view_page.cc does it, with one run or several. Returns the address of the page. */
export function writePage(bundle, title, packed, name = 'page.html') {
  const page = gunzipSync(readFileSync(bundle)).toString()
    .replace('{{trammel-data}}', () => [packed].flat().map((run) => Buffer.from(run).toString('base64')).join('\n'))
    .replace('{{trammel-title}}', () => escaped(title));
  const path = join(folder, name);
  writeFileSync(path, page);
  return `file://${path}`;
}

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** A browser that draws in software, or null with the reason. */
export async function launch() {
  if (!chromium) return { browser: null, why: 'chromium is not installed (apt-get install chromium)' };
  const playwright = load('playwright-core');
  if (!playwright) return { browser: null, why: 'playwright-core is not installed (npm ci in viewer/)' };
  const args = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];
  if (process.getuid?.() === 0) args.push('--no-sandbox');
  const browser = await playwright.chromium.launch({ executablePath: chromium, headless: true, args, timeout: 600_000 });
  return { browser };
}

/** Opens a page and waits for its first picture. Collects everything that must not happen; requests may go to `allowed`.
 * `before` runs in the page before its own script, `during` here while it opens. */
export async function open(browser, address, { width = 960, height = 600, colorScheme = 'light', patience = 60_000, allowed = null, before = null, during = null, hash = 'plain' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: 1, colorScheme, reducedMotion: 'reduce', acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !isAboutTheMachine(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url()) && new URL(request.url()).host !== allowed) wrong.push(`request: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  if (before) await page.addInitScript(before);
  const slow = { timeout: 600_000 }; // the first picture on a machine that is busy
  await page.goto(`${address}#${hash}`, slow);
  if (during) await during(page);
  await page.waitForSelector('html[data-ready]', { state: 'attached', ...slow });
  return { page, wrong, ready: await page.getAttribute('html', 'data-ready') };
}

// Software drawing is slow and chromium says so.
const isAboutTheMachine = (text) => /GPU stall|GL Driver Message|Automatic fallback to software/i.test(text);

/** Two frames later everything that was asked for is drawn. */
export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
