// node tests/measure_live.mjs --command TRAMMEL [--bodies 100] [--seconds 10]: a run of so many pendulums in time with the
// clock, watched by one page: what the thread of the server takes of a core, and how many rows the page gets a second.
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { folder, launch, open } from './page.mjs';

const { values: options } = parseArgs({
  options: { command: { type: 'string' }, bodies: { type: 'string', default: '100' }, seconds: { type: 'string', default: '10' }, packages: { type: 'string' } },
});
const count = Number(options.bodies), seconds = Number(options.seconds), each = (line) => Array.from({ length: count }, (_, i) => line(i, i % 10, Math.floor(i / 10))).join('\n');
const model = `trammel: 1
title: ${count} pendulums
gravity: [0, 0, -9.81]
bodies:
${each((i, x, y) => `  p${i}: {mass: 1, inertia: [0.02, 0.02, 0.01], position: [${x}, ${y}, ${-0.2 - 0.002 * i}], shape: {type: box, size: [0.1, 0.1, 0.4]}}`)}
joints:
${each((i, x, y) => `  j${i}: {type: revolute, between: [ground, p${i}], at: [${x + 0.1}, ${y}, 0], axis: [0, 1, 0]}`)}
simulation: {end: 1000, step: 0.005, output_step: 0.01}
`;

const perSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** Seconds that a thread has run, of the one with this name. */
function secondsOf(pid, name) {
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    if (readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim() !== name) continue;
    const fields = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / perSecond; // utime and stime, in user and in system mode
  }
  throw new Error(`there is no thread '${name}'`);
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const file = join(folder, 'many.yaml');
writeFileSync(file, model);
const child = spawn(resolve(options.command), ['run', file, '-q', '-o', join(folder, 'many.h5'), '--view', '--speed', '1'], { stdio: ['ignore', 'ignore', 'pipe'] });
let said = '', browser = null;
child.stderr.on('data', (text) => (said += text));
try {
  for (let i = 0; i < 1200 && !/Watch it at \S+\n/.test(said); ++i) await pause(50);
  const address = /Watch it at (\S+)/.exec(said)?.[1];
  if (!address) throw new Error(`no address: ${said}`);
  const launched = await launch();
  browser = launched.browser;
  if (!browser) throw new Error(launched.why);
  const { page, ready } = await open(browser, address, { width: 640, height: 400, allowed: new URL(address).host });
  if (ready !== '1') throw new Error(await page.locator('.refusal').textContent());
  await pause(2000);
  const now = () => page.evaluate(() => ({ t: window.trammel.run.end, rows: window.trammel.live.received, clock: performance.now() }));
  const first = await now(), before = secondsOf(child.pid, 'live-server');
  await pause(1000 * seconds);
  const last = await now(), passed = (last.clock - first.clock) / 1000;
  const share = (100 * (secondsOf(child.pid, 'live-server') - before)) / passed;
  console.log(`${count} bodies: the thread of the server takes ${share.toFixed(2)} % of a core, the page gets ${((last.rows - first.rows) / passed).toFixed(1)} rows a second, the run goes at ${((last.t - first.t) / passed).toFixed(2)} times the clock`);
} finally {
  await browser?.close();
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
