// node tests/measure.mjs [--bodies 1000 --bundle viewer.html.gz] [--times 5] [--sizes] PAGE.html ...: of pages drawn in software
// at 640 x 400 the size, the time to the first frame, and frames a second with shadows, which otherwise a slow machine does
// without; what is made anew while a run plays; frames drawn while nothing changes. With --bundle also its size, and with
// --bodies a page with so many bodies that fall and bounce. Of several times the best, since others share the machine, and
// the worst; with --sizes no times at all.
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch, open, writePage } from './page.mjs';
import { packRun } from './write_trv1.mjs';

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: { bodies: { type: 'string' }, bundle: { type: 'string' }, sizes: { type: 'boolean' }, times: { type: 'string', default: '1' }, packages: { type: 'string' } },
});

function bouncing(count, rows) {
  const time = Array.from({ length: rows }, (_, i) => (5 * i) / (rows - 1));
  const side = Math.ceil(Math.sqrt(count));
  const bodies = Array.from({ length: count }, (_, k) => {
    const column = (f) => time.map(f), phase = 0.37 * k, height = 1 + 0.5 * Math.sin(k);
    const half = (t) => 0.5 * (phase + (1 + (k % 5)) * t);
    return {
      name: `ball_${k}`,
      pose: [
        column(() => k % side), column(() => Math.floor(k / side)), column((t) => Math.abs(Math.sin(2 * t + phase)) * height),
        column((t) => Math.cos(half(t))), column(() => 0), column((t) => Math.sin(half(t))), column(() => 0),
      ],
    };
  });
  const shapes = bodies.map(({ name }, k) => ({ name, type: ['sphere', 'box', 'cylinder'][k % 3], body: name, size: [[0.3], [0.5, 0.4, 0.3], [0.2, 0.5]][k % 3], position: [0, 0, 0], quaternion: [1, 0, 0, 0] }));
  return { title: `${count} bodies`, time, bodies, shapes, signals: [] };
}

if (options.bodies) pages.push(fileURLToPath(writePage(options.bundle, 'bodies', packRun(bouncing(Number(options.bodies), 1001)))));
const megabytes = (path) => `${basename(path)}: ${(statSync(path).size / 1e6).toFixed(2)} MB`;
if (options.bundle) console.log(`bundle: ${(statSync(options.bundle).size / 1e3).toFixed(0)} kB gzipped`);
if (options.sizes) {
  for (const path of pages) console.log(megabytes(path));
  process.exit(0);
}

/** In the page: three seconds of play, then one of rest. */
async function measure() {
  const { view, state, timers } = window.trammel, wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
  view.simplify = () => false;
  const made = () => { const { geometries, textures } = view.renderer.info.memory; return geometries + textures + view.renderer.info.programs.length; };
  await wait(0.5);
  state.set('playing', true);
  const before = view.frames, madeBefore = made(), begun = performance.now();
  await wait(3);
  const rate = (1000 * (view.frames - before)) / (performance.now() - begun);
  state.set('playing', false);
  await wait(0.5);
  const still = view.frames;
  await wait(1);
  return { first: timers.sincePageLoad, rate, shadows: view.shadows, made: made() - madeBefore, idle: view.frames - still };
}

const { browser, why } = await launch();
if (!browser) throw new Error(why);
const range = (values, digits, better) => {
  const sorted = values.map((x) => Number(x.toFixed(digits))).sort((a, b) => (better === 'less' ? a - b : b - a));
  return sorted.length > 1 ? `${sorted[0]} (worst ${sorted.at(-1)})` : String(sorted[0]);
};
try {
  for (const path of pages) {
    const all = [];
    for (let i = 0; i < Number(options.times); ++i) {
      const { page } = await open(browser, `file://${resolve(path)}`, { width: 640, height: 400 });
      all.push(await page.evaluate(measure));
      await page.context().close();
    }
    const most = (key) => Math.max(...all.map((result) => result[key]));
    console.log(`${megabytes(path)}, first frame ${range(all.map(({ first }) => first), 0, 'less')} ms, ${range(all.map(({ rate }) => rate), 1, 'more')} frames/s ${all.every(({ shadows }) => shadows) ? 'with' : 'without'} shadows, ${most('made')} geometries, textures and programs made while playing, ${most('idle')} frames while nothing changes`);
  }
} finally {
  await browser.close();
}
