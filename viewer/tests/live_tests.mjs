// A run that is watched while it goes on: the command itself, pages in a real browser, and requests that no browser
// would make.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { folder, launch, open, settle } from './page.mjs';
import { assert } from './suite.mjs';

const model = `trammel: 1
title: Cart with a hanging pole
parameters: {M: 2, m: 0.7, l: 40 cm}
inputs:
  drive: {unit: N}
gravity: [0, 0, -9.81]
bodies:
  cart: {mass: M, inertia: [0.01, 0.01, 0.01], shape: {type: box, size: [0.3, 0.2, 0.1]}}
  pole: {mass: m, inertia: [m*l^2/3, m*l^2/3, 0.001], position: [0, 0, -l], shape: {type: box, size: [0.08, 0.08, 2*l]}}
joints:
  rail: {type: translational, between: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}
  hinge: {type: revolute, between: [cart, pole], at: [0, 0, 0], axis: [0, 1, 0]}
forces:
  motor: {type: force, frames: [ground, cart], fx: "drive - 40*dx(cart, ground) - 10*vx(cart, ground)"}
simulation: {end: 1000, step: 0.005, output_step: 0.01}
outputs:
  x: {expression: "dx(cart, ground)", unit: m}
`;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** `trammel run` with --view: its address, how it ends, and how to end it. */
async function watch(command, name, ...more) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, { odd, ball }[name] ?? model);
  const child = spawn(command, ['run', file, '-q', '-o', join(folder, `${name}.csv`), '--view', ...more], { cwd: folder });
  const run = { child, said: '', ended: once(child, 'close').then(([code]) => code) };
  child.stderr.on('data', (text) => (run.said += text));
  for (let i = 0; i < 600 && !/Watch it at \S+\n/.test(run.said); ++i) await pause(50);
  run.address = /Watch it at (\S+)/.exec(run.said)?.[1];
  assert.ok(run.address, `no address: ${run.said}`);
  run.url = new URL(run.address);
  run.end = () => {
    child.kill('SIGINT');
    return run.ended;
  };
  return run;
}

/** Asks what it is told to, headers as they are. Returns the status, or 101. */
function ask({ url }, path, headers = {}, method = 'GET', body = undefined) {
  return new Promise((done, fail) => {
    const request = http.request({ host: '127.0.0.1', port: url.port, path, method, headers: { Host: url.host, ...headers } });
    request.on('response', (response) => {
      let text = '';
      response.on('data', (part) => (text += part));
      response.on('end', () => done({ status: response.statusCode, headers: response.headers, text }));
    });
    request.on('upgrade', (response, socket, head) => done({ status: response.statusCode, socket, head }));
    request.on('error', fail);
    request.end(body);
  });
}

const upgrade = (origin) => ({ Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==', ...(origin ? { Origin: origin } : {}) });

/** A message as a browser sends it: masked, here with zeros. */
function sendText(socket, text) {
  const payload = Buffer.from(text), long = payload.length > 125;
  const head = Buffer.from([0x81, 0x80 | (long ? 127 : payload.length), ...(long ? [0, 0, 0, 0, 0, 0, 0, 0] : []), 0, 0, 0, 0]);
  if (long) head.writeBigUInt64BE(BigInt(payload.length), 2);
  socket.write(Buffer.concat([head, payload]));
}

// A busy machine may be slow, and two pages that draw in software at once are: what is waited for takes as long as it takes.
const openLive = (browser, run, more = {}) => open(browser, run.address, { width: 1280, height: 720, allowed: run.url.host, patience: 600_000, ...more });
/** Waits until this is so in the page; asked by a clock, since a page that hardly draws hardly has frames. */
const until = (page, condition, argument) => page.waitForFunction(condition, argument, { polling: 50 });
const time = (page) => page.evaluate(() => window.trammel.t);
const status = (page) => page.evaluate(() => window.trammel.live.status);
const state = (page) => page.locator('.live-state').textContent();
const waitForState = (page, words) => until(page, (text) => document.querySelector('.live-state').textContent.includes(text), words);
/** The last value of a signal. */
const last = (page, name) =>
  page.evaluate((wanted) => {
    const { run } = window.trammel, index = run.header.signals.findIndex((s) => s.name === wanted);
    return run.valueAt(index, run.end);
  }, name);
const pointOf = (page, body) =>
  page.evaluate((name) => {
    const { view } = window.trammel, m = view.bodyMatrix(name), box = document.querySelector('canvas').getBoundingClientRect();
    const p = view.project(view.rig.controls.target.clone().set(m[12], m[13], m[14]), box.width, box.height);
    return { x: box.left + p.x, y: box.top + p.y };
  }, body);

const withoutBrowser = {
  'only who has the token, from this host, is served': async (run) => {
    const { url } = run, token = url.searchParams.get('token'), origin = `http://${url.host}`;
    assert.match(token, /^[0-9a-f]{32}$/);
    const good = await ask(run, `/?token=${token}`);
    assert.equal(good.status, 200);
    assert.match(good.text, /^<!doctype html><!-- trammel-view -->/);
    assert.match(good.text, new RegExp(`connect-src ws://127.0.0.1:${url.port} ws://localhost:${url.port};`));
    assert.match(good.headers['content-security-policy'], /frame-ancestors 'none'/);
    for (const [name, value] of [['x-content-type-options', 'nosniff'], ['referrer-policy', 'no-referrer'], ['cross-origin-resource-policy', 'same-origin'], ['cache-control', 'no-store']])
      assert.equal(good.headers[name], value);
    const expected = [
      [200, `/?token=${token}`, { Host: `localhost:${url.port}` }],
      [403, '/', {}],
      [403, '/?token=', {}],
      [403, `/?token=${'0'.repeat(32)}`, {}],
      [403, `/?token=${token}0`, {}],
      [403, `/?x=token=${token}`, {}],
      [403, `/?token=${token}`, { Host: `evil.example:${url.port}` }],
      [403, `/?token=${token}`, { Host: '127.0.0.1' }],
      [404, `/etc/passwd?token=${token}`, {}],
      [404, `/..%2f..%2fetc/passwd?token=${token}`, {}],
      [405, `/?token=${token}`, {}, 'POST'],
      [400, `/ws?token=${token}`, {}],
      [403, '/ws', upgrade(origin)],
      [403, `/ws?token=${'f'.repeat(32)}`, upgrade(origin)],
      [403, `/ws?token=${token}`, upgrade()],
      [403, `/ws?token=${token}`, upgrade('http://evil.example')],
      [403, `/ws?token=${token}`, upgrade(`https://${url.host}`)],
      [403, `/ws?token=${token}`, { ...upgrade(`http://evil.example:${url.port}`), Host: `evil.example:${url.port}` }],
    ];
    for (const [status, path, headers, method] of expected) assert.equal((await ask(run, path, headers, method)).status, status, `${method ?? 'GET'} ${path} ${JSON.stringify(headers)}`);
    const { status: opened, socket } = await ask(run, `/ws?token=${token}`, upgrade(origin));
    assert.equal(opened, 101);
    socket.destroy();
  },
  'long requests, long messages and nonsense do no harm': async (run) => {
    const { url } = run, token = url.searchParams.get('token'), path = `/ws?token=${token}`;
    const long = await ask(run, `/?token=${token}`, { Filler: 'x'.repeat(20_000) }).catch(() => ({ status: 0 }));
    assert.notEqual(long.status, 200);
    const first = await ask(run, path, upgrade(`http://${url.host}`));
    for (const text of ['', '{', '[1]', '{"pause": 1}', '{"speed": 1e999}', '{"set": {"name": "none", "value": 1}}', '{"restart": {"M": "1\\n2"}}']) sendText(first.socket, text);
    sendText(first.socket, JSON.stringify({ pause: 'x'.repeat(100_000) })); // ends this connection
    await once(first.socket.resume(), 'close');
    assert.equal((await ask(run, `/?token=${token}`)).status, 200);
  },
  'a request with a body, a fifth page and other interfaces are refused': async (run) => {
    const { url } = run, token = url.searchParams.get('token'), path = `/ws?token=${token}`;
    const body = await ask(run, `/?token=${token}`, { 'Content-Length': '5' }, 'GET', 'hello').catch(() => ({ status: 0 }));
    assert.notEqual(body.status, 200);
    const pages = [];
    for (let i = 0; i < 4; ++i) pages.push(await ask(run, path, upgrade(`http://${url.host}`)));
    assert.deepEqual(pages.map(({ status }) => status), [101, 101, 101, 101]);
    assert.equal((await ask(run, path, upgrade(`http://${url.host}`))).status, 503);
    for (const { socket } of pages) socket.destroy();
    await pause(200);
    for (const { address, internal, family } of Object.values(networkInterfaces()).flat()) {
      if (internal || family !== 'IPv4') continue;
      const socket = net.connect({ host: address, port: Number(url.port) });
      const [failure] = await once(socket, 'error').catch((error) => [error]);
      assert.match(String(failure), /ECONNREFUSED/, address);
    }
  },
  'a seventeenth connection is closed, and there is room again when others leave': async (run) => {
    const { url } = run, connect = () => {
      const socket = net.connect({ host: '127.0.0.1', port: Number(url.port) });
      socket.on('error', () => {});
      return socket;
    };
    const held = [];
    for (let i = 0; i < 16; ++i) {
      held.push(connect());
      await once(held.at(-1), 'connect');
    }
    const one = connect();
    await once(one.resume(), 'close'); // at once; the others would have ten seconds
    assert.ok(held.every((socket) => !socket.closed && !socket.readableEnded), 'the others stay');
    for (const socket of held) socket.destroy();
    let status = 0;
    for (let i = 0; i < 100 && status !== 200; ++i) {
      await pause(50);
      ({ status } = await ask(run, `/?token=${url.searchParams.get('token')}`).catch(() => ({ status: 0 })));
    }
    assert.equal(status, 200);
  },
  'a page that does not read holds nobody up': async (run) => {
    const { url } = run, { socket } = await ask(run, `/ws?token=${url.searchParams.get('token')}`, upgrade(`http://${url.host}`));
    socket.pause();
    const other = await ask(run, `/ws?token=${url.searchParams.get('token')}`, upgrade(`http://${url.host}`));
    sendText(socket, '{"pause": false}');
    let bytes = 0;
    other.socket.on('data', (part) => (bytes += part.length));
    await pause(1000);
    const before = bytes;
    await pause(1000);
    assert.ok(bytes > before + 1000, `${bytes - before} bytes in a second`);
    sendText(socket, '{"pause": true}');
    for (const one of [socket, other.socket]) one.destroy();
  },
  'rows come while a slider is dragged': async (run) => {
    const page = await listen(run);
    page.say({ pause: false });
    await page.until(({ held }) => !held, 'running');
    const before = page.frames;
    for (let i = 0; i < 120; ++i) {
      page.say({ set: { name: 'drive', value: i % 3 } });
      await pause(16);
    }
    // Two seconds: 120 rows. There were none, for a status went in each of their places.
    assert.ok(page.frames > before + 30, `${page.frames - before} rows`);
    page.say({ set: { name: 'drive', value: 0 } });
    page.say({ pause: true });
    await page.until(({ inputs, held }) => inputs[0].value === 0 && held, 'the last value');
    page.close();
  },
};

const frameOf = (data) => ({ length: data[1] < 126 ? data[1] : data[1] === 126 ? data.readUInt16BE(2) : Number(data.readBigUInt64BE(2)), head: [2, 4, 10][Math.max(0, data[1] - 125)], text: (data[0] & 15) === 1 });

/** A page without a browser: what it is told, and a way to say something. */
async function listen(run) {
  const { socket, head } = await ask(run, `/ws?token=${run.url.searchParams.get('token')}`, upgrade(`http://${run.url.host}`));
  const page = { status: null, headers: 0, frames: 0, say: (command) => sendText(socket, JSON.stringify(command)), close: () => socket.destroy() };
  let data = Buffer.alloc(0);
  const take = (part) => {
    data = Buffer.concat([data, part]);
    while (data.length >= 10) {
      const { length, head: at, text } = frameOf(data);
      if (data.length < at + length) return;
      const payload = data.subarray(at, at + length);
      if (text) page.status = JSON.parse(payload.toString());
      else if (payload[0] === 72) page.headers += 1;
      else if (payload[0] === 70) page.frames += 1;
      data = data.subarray(at + length);
    }
  };
  take(head);
  socket.on('data', take);
  page.until = async (good, what) => {
    for (let i = 0; i < 600 && !(page.status && good(page.status)); ++i) await pause(20);
    assert.ok(page.status && good(page.status), `${what}: ${JSON.stringify(page.status)}`);
  };
  return page;
}

const odd = `trammel: 1
units: {length: mm}
parameters: {L: 160 mm, n: 2}
inputs: {drive: {unit: N, value: 1}}
bodies: {a: {mass: 1 kg, inertia: [1, 1, 1], position: [L, 0, 0]}}
joints: {rail: {type: translational, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {motor: {type: force, frames: [ground, a], fx: "sqrt(drive) - 1"}}
simulation: {end: 1000, step: 0.005, output_step: 0.01}
`;

const ball = `trammel: 1
gravity: [0, 0, -9.81]
inputs: {drive: {unit: N}}
bodies: {ball: {kind: point, mass: 2, position: [0, 0, 0.5]}}
forces:
  floor: {type: impact, frames: [ground, ball], restitution: 0.8}
  motor: {type: force, frames: [ground, ball], fx: drive}
simulation: {end: 2, tolerance: 1e-8, output_step: 0.01}
`;

/** The summary in the result of a run that has ended. */
const summaryOf = (name) => JSON.parse(/^# summary: (.*)$/m.exec(readFileSync(join(folder, `${name}.csv`), 'utf8'))[1].replaceAll('\\\\', '\\'));

const onItsOwn = {
  'a parameter has the unit it is shown with': async (run) => {
    const page = await listen(run);
    await page.until(({ parameters }) => parameters.length === 2, 'parameters');
    assert.deepEqual(page.status.parameters, [{ name: 'L', value: 0.16, unit: 'm' }, { name: 'n', value: 2, unit: '' }]);
    page.say({ restart: { L: '0.2 m' } });
    await page.until(({ parameters, run: number }) => number === 2 && parameters[0].value === 0.2, 'a new start');
    page.close();
  },
  'an input that leaves no accelerations is refused, and shown as it was': async (run) => {
    const page = await listen(run);
    page.say({ speed: 1 });
    page.say({ pause: false });
    page.say({ set: { name: 'drive', value: 4 } });
    await page.until(({ inputs }) => inputs[0].value === 4, 'a good input');
    await pause(200);
    page.say({ set: { name: 'drive', value: -1 } });
    await page.until(({ inputs, message }) => inputs[0].value === 4 && /^not changed/.test(message), 'refused');
    page.close();
  },
  'an input that is set in the middle of a push does not end it': async (run) => {
    const page = await listen(run);
    const push = setInterval(() => page.say({ push: { body: 'a', point: [0, 0, 0], target: [1, 0, 0] } }), 50);
    await pause(300);
    page.say({ set: { name: 'drive', value: 1 } });
    await pause(300);
    clearInterval(push);
    page.say({ push: null });
    await pause(200);
    page.close();
  },
};

/** What those tests have done, in the result. */
function toldInTheSummary() {
  const { live } = summaryOf('odd');
  assert.deepEqual(live.filter(({ input }) => input).map(({ value }) => value), [4, 1]);
  const pushes = live.filter(({ pushed }) => pushed);
  assert.equal(pushes.length, 1);
  const between = live.find(({ value }) => value === 1).t;
  assert.ok(pushes[0].t < between && pushes[0].until > between, JSON.stringify(live));
}

const inBrowser = {
  'held at first; steps go row by row; play and pause': async ({ page, wrong }) => {
    assert.equal(await state(page), 'paused');
    assert.equal(await time(page), 0);
    assert.equal(page.url().includes('token'), false);
    await page.locator('canvas').first().focus();
    for (const t of [0.01, 0.02]) {
      await page.keyboard.press('ArrowRight');
      await until(page, (expected) => Math.abs(window.trammel.t - expected) < 1e-9, t);
      await pause(100);
      assert.ok(Math.abs((await time(page)) - t) < 1e-9);
    }
    await page.keyboard.press('ArrowLeft'); // in what there is already
    assert.ok(Math.abs((await time(page)) - 0.01) < 1e-9);
    await page.getByRole('button', { name: 'Play (Space)' }).click();
    await until(page, () => window.trammel.t > 0.2);
    assert.equal(await state(page), 'running at 1× the clock');
    await page.keyboard.press(' ');
    await waitForState(page, 'paused');
    await pause(100);
    const stopped = await time(page);
    await pause(400);
    assert.equal(await time(page), stopped);
    assert.ok(Math.abs(await last(page, 'x')) < 1e-9); // nothing has pushed it
    assert.deepEqual(wrong, []);
  },
  'the speed is that of the run': async ({ page }) => {
    await page.locator('footer select').selectOption('0.1');
    await page.keyboard.press('Escape');
    await page.locator('canvas').first().focus();
    await page.keyboard.press(' ');
    await waitForState(page, '0.1× the clock');
    // From one row that has just come to another, 0.2 s of the run later: at full speed they would be 0.2 s apart.
    const fresh = (least) => page.evaluate(async (t) => {
      const { live, run } = window.trammel, before = live.received;
      while (live.received === before || run.end < t) await new Promise((done) => setTimeout(done, 5));
      return [run.end, performance.now()];
    }, least);
    const [t, clock] = await fresh(0), [later, end] = await fresh(t + 0.2), speed = (1000 * (later - t)) / (end - clock);
    assert.ok(speed < 0.2, `${speed} times the clock`); // slower on a busy machine
    await page.evaluate(() => window.trammel.live.send({ speed: 3 })); // as --speed 3 does
    await waitForState(page, '3× the clock');
    assert.equal(await page.locator('footer select').inputValue(), '3');
    await page.keyboard.press('Escape');
    await page.locator('canvas').first().focus();
    await page.keyboard.press(']');
    await waitForState(page, '5× the clock');
    await page.evaluate(() => window.trammel.live.send({ speed: 3 }));
    await waitForState(page, '3× the clock');
    await page.keyboard.press('[');
    await waitForState(page, '2× the clock');
    await page.locator('footer select').selectOption('1');
    await waitForState(page, '1× the clock');
  },
  'an input moves the mechanism and is recorded': async ({ page }) => {
    await page.getByLabel('drive, as a number').fill('8');
    await page.getByLabel('drive, as a number').press('Enter');
    await until(page, () => window.trammel.live.status.inputs[0].value === 8);
    await until(page, () => {
      const { run } = window.trammel, index = run.header.signals.findIndex((s) => s.name === 'x');
      return run.valueAt(index, run.end) > 0.05;
    });
    assert.equal(await last(page, 'input.drive'), 8);
    await page.getByRole('slider', { name: 'drive' }).focus();
    await page.keyboard.press('Home'); // of the slider: its least value
    await until(page, () => window.trammel.live.status.inputs[0].value < 0);
    await page.getByLabel('drive, as a number').fill('0');
    await page.getByLabel('drive, as a number').press('Enter');
    await until(page, () => window.trammel.live.status.inputs[0].value === 0);
  },
  'a push is a force of the model, and its work is booked': async ({ page }) => {
    await page.keyboard.press('Escape');
    await page.evaluate(() => window.trammel.live.send({ pause: true })); // what moves is hard to grab
    await waitForState(page, 'paused');
    await pause(100);
    await page.evaluate(() => window.trammel.view.frame('front'));
    await settle(page);
    const at = await pointOf(page, 'pole');
    await page.keyboard.down('Control');
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x + 60, at.y, { steps: 5 });
    await page.evaluate(() => window.trammel.live.send({ pause: false }));
    const name = await page.evaluate(() => {
      const { run } = window.trammel, [x] = run.vector('force', 'push.pole', 'force_on_second');
      return run.header.signals[x].name;
    });
    // On a busy machine messages may come too seldom to keep it up: it is enough that it pushed.
    await until(page, (signal) => {
      const { run } = window.trammel;
      return run.signal(run.header.signals.findIndex((s) => s.name === signal)).some((newtons) => Math.abs(newtons) > 0.1);
    }, name);
    assert.ok(await page.locator('.label.distance').isVisible());
    assert.match(await page.locator('.label.distance').textContent(), / N$/);
    await pause(300);
    await page.mouse.up();
    await page.keyboard.up('Control');
    await until(page, (signal) => {
      const { run } = window.trammel;
      return run.valueAt(run.header.signals.findIndex((s) => s.name === signal), run.end) === 0;
    }, name);
    const work = await page.evaluate(() => {
      const { run } = window.trammel, all = run.signal(run.header.signals.findIndex((s) => s.name === 'energy.external'));
      return Math.max(...all) - Math.min(...all);
    });
    const imbalance = Math.abs(await last(page, 'energy.imbalance'));
    assert.ok(work > 0.01 && imbalance < 0.01 * work, `${imbalance} J of ${work} J`);
    assert.equal(await page.evaluate(() => window.trammel.state.get('selection')), null); // the click was not one
  },
  'two pages show and steer the same run; one may leave': async ({ page, browser, run }) => {
    const other = await openLive(browser, run);
    assert.equal(other.ready, '1');
    assert.ok((await time(other.page)) > 0);
    await other.page.locator('canvas').first().focus();
    await other.page.keyboard.press(' ');
    for (const each of [page, other.page]) await waitForState(each, 'paused');
    // Nothing is computed any more, and both get the newest row, however long it takes.
    const ends = () => Promise.all([page, other.page].map((one) => one.evaluate(() => window.trammel.run.end)));
    let [one, two] = await ends();
    for (let i = 0; i < 2000 && Math.abs(one - two) > 1e-6; ++i) {
      await pause(50);
      [one, two] = await ends();
    }
    assert.ok(Math.abs(one - two) <= 1e-6, `${one} and ${two}`);
    await other.page.keyboard.press(' ');
    await waitForState(page, 'running');
    assert.deepEqual(other.wrong, []);
    await other.page.context().close();
    const t = await time(page);
    await until(page, (before) => window.trammel.t > before + 0.1, t);
  },
  'the policy of a live page stops what is not its own, requests to its own server too': async ({ browser, run }) => {
    const other = await openLive(browser, run);
    const done = await other.page.evaluate(async () => {
      const add = (tag, text, attributes = {}) => document.body.append(Object.assign(document.createElement(tag), attributes, { textContent: text }));
      const violations = new Set();
      document.addEventListener('securitypolicyviolation', (event) => violations.add(event.effectiveDirective));
      add('script', 'window.wasRun = true');
      add('style', 'body { display: none }');
      add('iframe', '', { src: 'data:text/html,x' });
      document.body.append(Object.assign(document.createElement('img'), { src: `${location.origin}/x.png` }));
      const request = await fetch('/').then(() => 'sent', () => 'stopped');
      let socket = 'opened';
      try {
        socket = await new Promise((end) => {
          const elsewhere = new WebSocket('ws://127.0.0.1:1/ws');
          elsewhere.onerror = () => end('stopped');
        });
      } catch {
        socket = 'stopped';
      }
      await new Promise((later) => setTimeout(later, 300));
      return { ran: window.wasRun === true, hidden: getComputedStyle(document.body).display === 'none', request, socket, violations: [...violations].sort() };
    });
    assert.deepEqual(done, { ran: false, hidden: false, request: 'stopped', socket: 'stopped', violations: ['connect-src', 'frame-src', 'img-src', 'script-src-elem', 'style-src-elem'] });
    const meta = await other.page.getAttribute('meta[http-equiv=Content-Security-Policy]', 'content');
    assert.match(meta, new RegExp(`^default-src 'none'; connect-src ws://127\\.0\\.0\\.1:${run.url.port} ws://localhost:${run.url.port}; script-src 'sha256-[^ ]*'; style-src 'sha256-[^ ]*';`));
    assert.doesNotMatch(meta, /unsafe|\*|https?:/);
    await other.page.context().close();
  },
  'what comes while a page unpacks its first rows is not lost': async ({ page, browser, run }) => {
    await page.evaluate(() => window.trammel.live.send({ pause: true }));
    await waitForState(page, 'paused');
    const other = await openLive(browser, run, {
      before: () => { // rows wait until they are let go, the header comes twice
        const held = (window.held = []), listen = WebSocket.prototype.addEventListener;
        let free = false;
        WebSocket.prototype.addEventListener = function (type, listener) {
          return listen.call(this, type, (event) => {
            if (type === 'message' && typeof event.data !== 'string' && !free) held.push(() => listener.call(this, event));
            else listener.call(this, event);
          });
        };
        window.letGo = () => {
          free = true;
          for (const tell of [held[0], ...held]) tell();
        };
      },
      during: async (opening) => {
        for (let rows = 1; rows <= 3; ++rows) {
          await until(opening, (count) => window.held.length >= count, rows);
          await page.evaluate(() => window.trammel.live.send({ step: true }));
        }
        await until(opening, () => window.held.length >= 4);
        await opening.evaluate(() => window.letGo());
      },
    });
    assert.equal(other.ready, '1');
    await until(other.page, (end) => window.trammel.run.end === end, await page.evaluate(() => window.trammel.run.end));
    assert.deepEqual(other.wrong, []);
    await other.page.context().close();
  },
  'rows that cannot be read are told, and the page goes on with those it has': async ({ browser, run }) => {
    const other = await openLive(browser, run, {
      before: () => {
        const listen = WebSocket.prototype.addEventListener;
        WebSocket.prototype.addEventListener = function (type, listener) {
          if (type === 'message') window.deliver = (data) => listener.call(this, new MessageEvent('message', { data }));
          return listen.call(this, type, listener);
        };
      },
    });
    assert.equal(other.ready, '1');
    await other.page.evaluate(() => {
      const damaged = new ArrayBuffer(64);
      new Uint32Array(damaged).set(['H'.charCodeAt(0), window.trammel.live.status.run]);
      window.deliver(damaged);
    });
    await until(other.page, () => /cannot be read: .*damaged/.test(document.querySelector('.freedoms .caveat').textContent));
    await other.page.evaluate(() => window.trammel.live.send({ pause: true }));
    await waitForState(other.page, 'paused');
    const end = await other.page.evaluate(() => window.trammel.run.end);
    await other.page.evaluate(() => window.trammel.live.send({ step: true }));
    // They waited for ever. Rows are not counted: of a long run, as on a slow machine, every second one leaves.
    await until(other.page, (before) => window.trammel.run.end > before, end);
    assert.deepEqual(other.wrong, []);
    await other.page.evaluate(() => window.trammel.live.send({ pause: false }));
    await other.page.context().close();
  },
  'a run that fits into no page says so': async ({ browser, run }) => {
    const other = await openLive(browser, run, {
      before: () => {
        const listen = WebSocket.prototype.addEventListener;
        WebSocket.prototype.addEventListener = function (type, listener) {
          return listen.call(this, type, (event) => {
            if (type !== 'message') return listener.call(this, event);
            if (typeof event.data === 'string') listener.call(this, new MessageEvent('message', { data: JSON.stringify({ ...JSON.parse(event.data), cannot_show: 'it is too large' }) }));
          });
        };
      },
    });
    assert.equal(other.ready, 'failed');
    assert.match(await other.page.locator('.refusal').textContent(), /it is too large/);
    await other.page.context().close();
  },
  'a new start takes other parameters and keeps the look; bad ones are refused': async ({ page }) => {
    await page.getByText('Parameters').click();
    await page.getByLabel('Parameter M', { exact: true }).fill('nonsense');
    await page.getByRole('button', { name: 'Start anew' }).click();
    await until(page, () => /no new start/.test(document.querySelector('.freedoms .caveat').textContent));
    const before = await status(page);
    assert.equal(before.status, 'running');
    await page.getByLabel('Parameter M', { exact: true }).fill('4');
    await page.getByLabel('Parameter l', { exact: true }).fill('0.5'); // in the unit that stands beside it
    await page.evaluate(() => window.trammel.select('pole'));
    await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Start anew' }).click()]);
    await page.waitForSelector('html[data-ready="1"]', { state: 'attached' });
    const after = await status(page);
    assert.equal(after.run, before.run + 1);
    assert.deepEqual(after.parameters, [{ name: 'M', value: 4, unit: '' }, { name: 'm', value: 0.7, unit: '' }, { name: 'l', value: 0.5, unit: 'm' }]);
    assert.deepEqual(await page.evaluate(() => window.trammel.state.get('selection')), { of: 'body', name: 'pole' });
    await page.evaluate(() => window.trammel.select(null));
  },
  'every control of the live panel has a name': async ({ page }) => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, canvas, [role=img]')].filter((e) => !(e.getAttribute('aria-label') || e.textContent?.trim() || e.title)).map((e) => e.outerHTML));
    assert.deepEqual(nameless, []);
  },
  'half a request is given up while the server goes on': async ({ run, slow }) => {
    assert.doesNotMatch(await slow.ended, /^HTTP\/1.1 200/);
    assert.equal((await ask(run, `/?token=${run.url.searchParams.get('token')}`)).status, 200);
  },
  'Ctrl-C ends the run in good order; the page keeps what it has': async ({ page, run, wrong }) => {
    assert.equal(await run.end(), 5, run.said);
    await waitForState(page, 'the program has ended');
    assert.ok((await page.evaluate(() => window.trammel.run.rows)) > 1);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('Home');
    assert.equal(await time(page), 0);
    assert.deepEqual(wrong, []);
  },
};

/** A ball that bounces while a page looks on: first without any force, then with impacts, then to its end. */
async function eventsAndFirstForces(command, browser) {
  const run = await watch(command, 'ball', '--speed', '0');
  try {
    const { page, wrong, ready } = await openLive(browser, run);
    assert.equal(ready, '1');
    assert.equal(await page.locator('.mark').count(), 0);
    const say = (command) => page.evaluate((what) => window.trammel.live.send(what), command);
    await say({ pause: false });
    await until(page, () => document.querySelectorAll('.mark').length > 0 && window.trammel.run.end > 1);
    await say({ pause: true });
    await waitForState(page, 'paused');
    assert.equal(await page.evaluate(() => window.trammel.view.forces.perTenth), 0); // nothing has pushed
    await say({ set: { name: 'drive', value: 3 } });
    for (let i = 0; i < 2; ++i) { // too few rows for a new scale by the length of the run
      await pause(250);
      await say({ step: true });
    }
    await until(page, () => window.trammel.view.forces.perTenth > 0);
    await say({ pause: false });
    const mark = page.locator('.mark').first(), left = () => mark.evaluate((element) => parseFloat(element.style.left));
    assert.match(await mark.getAttribute('title'), /^force 'floor'.*impulse/);
    const before = await left();
    await until(page, (was) => parseFloat(document.querySelector('.mark').style.left) < was, before); // the run grows
    await waitForState(page, 'the run is over');
    await until(page, () => Math.abs(window.trammel.run.end - 2) < 1e-9);
    const [shown, known] = await page.evaluate(() => [document.querySelectorAll('.mark').length, window.trammel.run.events.map(({ time }) => time)]);
    assert.equal(shown, known.length);
    assert.ok(Math.abs(known[0] - Math.sqrt(1 / 9.81)) < 1e-6 && known.length >= 3, `${known}`);
    assert.ok(Math.abs((await left()) - 50 * known[0]) < 0.5, 'where it was in the whole run');
    assert.deepEqual(wrong, []);
    await page.context().close();
  } finally {
    run.child.kill('SIGKILL');
  }
}

/** Half a request and then nothing: whoever does not go on is let go, here while other tests run. */
function slowRequest({ url }) {
  const socket = net.connect({ host: '127.0.0.1', port: Number(url.port) });
  let got = '';
  socket.on('data', (part) => (got += part));
  socket.on('error', () => {});
  socket.write(`GET /?token=${url.searchParams.get('token')} HTTP/1.1\r\nHost: ${url.host}\r\n`);
  return { socket, ended: once(socket, 'close').then(() => got) };
}

/** A run that is over before a page opens. */
async function afterTheEnd(command, browser) {
  const run = await watch(command, 'over', '--end', '0.5');
  try {
    for (let i = 0; i < 200 && !run.said.includes('The run is over'); ++i) await pause(50);
    assert.match(run.said, /The run is over, its page stays open; Ctrl-C ends it/);
    const { page, wrong, ready } = await openLive(browser, run);
    assert.equal(ready, '1');
    assert.equal(await state(page), 'the run is over: finished');
    assert.equal(await page.evaluate(() => window.trammel.run.rows), 51);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('End');
    assert.ok(Math.abs((await time(page)) - 0.5) < 1e-6);
    assert.deepEqual(wrong, []);
    await page.context().close();
    assert.equal(await run.end(), 0);
  } finally {
    run.child.kill('SIGKILL');
  }
}

export async function liveTests(suite, command) {
  const count = Object.keys(withoutBrowser).length + Object.keys(onItsOwn).length + 1 + Object.keys(inBrowser).length + 3;
  if (!command) return suite.skip(count, 'no --command to run');
  const run = await watch(command, 'live', '--speed', '0');
  try {
    for (const [name, test] of Object.entries(withoutBrowser)) await suite.test(`live: ${name}`, () => test(run));
  } finally {
    await run.end();
  }
  const alone = await watch(command, 'odd', '--speed', '0');
  try {
    for (const [name, test] of Object.entries(onItsOwn)) await suite.test(`live: ${name}`, () => test(alone));
  } finally {
    await alone.end();
  }
  await suite.test('live: the summary tells what was done', toldInTheSummary);
  const { browser, why } = await launch();
  if (!browser) return suite.skip(Object.keys(inBrowser).length + 3, why);
  const seen = await watch(command, 'seen', '--speed', '0');
  try {
    const slow = slowRequest(seen);
    const opened = await openLive(browser, seen);
    await suite.test('live: the page opens', () => assert.equal(opened.ready, '1'));
    for (const [name, test] of Object.entries(inBrowser)) await suite.test(`live: ${name}`, () => test({ ...opened, browser, run: seen, slow }));
    await suite.test('live: a run that is over is shown whole', () => afterTheEnd(command, browser));
    await suite.test('live: events are marks while the run goes on, and the first force has an arrow', () => eventsAndFirstForces(command, browser));
  } finally {
    seen.child.kill('SIGKILL');
    await browser.close();
  }
}
