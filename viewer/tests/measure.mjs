// node tests/measure.mjs [--bodies 1000 --bundle viewer.html.gz] [--sizes] PAGE.html ...: size, time to the first frame and
// frames per second of pages, drawn in software at 640 x 400; with --bodies, of a page with so many bodies that fall and
// bounce; with --sizes, no times, which a busy machine cannot tell.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch, open, writePage } from './page.mjs';
import { packRun } from './write_trv1.mjs';

const { values: options, positionals: pages } = parseArgs({
  allowPositionals: true,
  options: { bodies: { type: 'string' }, bundle: { type: 'string' }, sizes: { type: 'boolean' }, packages: { type: 'string' } },
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
const megabytes = (path) => `${path}: ${(statSync(path).size / 1e6).toFixed(2)} MB`;
if (options.sizes) {
  for (const path of pages) console.log(megabytes(path));
  process.exit(0);
}
const { browser, why } = await launch();
if (!browser) throw new Error(why);
try {
  for (const path of pages) {
    const { page } = await open(browser, `file://${resolve(path)}`, { width: 640, height: 400 });
    const result = await page.evaluate(async () => {
      const { view, state, timers } = window.trammel;
      state.set('playing', true);
      const before = view.frames, begun = performance.now();
      await new Promise((done) => setTimeout(done, 3000));
      const rate = (1000 * (view.frames - before)) / (performance.now() - begun);
      return { firstFrame: Math.round(timers.sincePageLoad), framesPerSecond: Number(rate.toFixed(1)), shadows: view.shadows };
    });
    console.log(`${megabytes(path)}, first frame ${result.firstFrame} ms, ${result.framesPerSecond} frames/s${result.shadows ? ' with shadows' : ', shadows switched off'}`);
    await page.context().close();
  }
} finally {
  await browser.close();
}
