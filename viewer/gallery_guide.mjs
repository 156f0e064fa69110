// node gallery_guide.mjs --command TRAMMEL: the pictures of docs/guide/gallery.md. Each row of its table holds a picture, the
// commands that make its page, which are run as they stand there, and a comment with what is to be seen:
//   | ![...](../images/gallery/NAME.jpg) | text `trammel run ...` `trammel view ... -o NAME.html` <!-- part=0.3 view=front --> |
// part: of the run; view: iso, front, side, top; select: a body; show, hide: toggles of the page; mode: its number.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch, open, settle } from './tests/page.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values: options } = parseArgs({ options: { command: { type: 'string' }, only: { type: 'string' }, packages: { type: 'string' } } });
const command = resolve(options.command), guide = join(root, 'docs/guide/gallery.md');
const size = { width: 480, height: 320 }, mostBytes = 80_000;

function entryOf(row) {
  const picture = row.match(/!\[[^\]]*\]\(([^)]*)\)/)?.[1];
  if (!picture) return null;
  const commands = [...row.matchAll(/`trammel ([^`]*)`/g)].map((match) => match[1].split(/\s+/));
  const page = commands.flat().find((word) => word.endsWith('.html'));
  const wanted = Object.fromEntries((row.match(/<!--(.*?)-->/)?.[1] ?? '').split(/\s+/).filter(Boolean).map((pair) => pair.split('=')));
  if (!page) throw new Error(`no page is made for ${picture}`);
  return { picture: resolve(dirname(guide), picture), commands, page, wanted };
}

/** In the page. */
function prepare({ part = 0, view = 'iso', select, show = '', hide = '', mode }) {
  const { trammel } = window, number = Number(mode);
  if (mode) trammel.state.set('mode', { set: trammel.state.get('mode').set, mode: number - 1 });
  for (const key of show.split(',').filter(Boolean)) trammel.state.set(key, true);
  for (const key of hide.split(',').filter(Boolean)) trammel.state.set(key, false);
  if (select) trammel.select(select);
  trammel.seek(Number(part) * trammel.run.end);
  trammel.view.frame(view);
  // What is written over the scene is too small to be read in a picture of this size.
  for (const text of document.querySelectorAll('.stage > :not(canvas)')) text.style.display = 'none';
}

const entries = readFileSync(guide, 'utf8').split('\n').map(entryOf).filter((entry) => entry && (!options.only || basename(entry.picture).startsWith(options.only)));
const folder = mkdtempSync(join(tmpdir(), 'trammel-gallery-'));
symlinkSync(join(root, 'models'), join(folder, 'models'));
const { browser, why } = await launch();
try {
  if (!browser) throw new Error(why);
  for (const { picture, commands, page: name, wanted } of entries) {
    for (const words of commands) execFileSync(command, words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const { page, wrong, ready } = await open(browser, `file://${join(folder, name)}`, { ...size, hash: 'bare' });
    if (ready !== '1' || wrong.length > 0) throw new Error(`${name}: ${JSON.stringify(wrong)}`);
    await page.evaluate(prepare, wanted);
    await settle(page);
    const bytes = await page.screenshot({ type: 'jpeg', quality: 85 });
    if (bytes.length > mostBytes) throw new Error(`${picture}: ${bytes.length} bytes`);
    mkdirSync(dirname(picture), { recursive: true });
    writeFileSync(picture, bytes);
    console.log(`${picture}: ${Math.round(bytes.length / 1000)} kB`);
    await page.context().close();
  }
} finally {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
