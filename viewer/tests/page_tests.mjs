// The page in a real browser: drawn, steady, moving, true to the data, usable by keyboard and by name, and deaf to
// everything outside. Pictures are compared only with pictures of the same run.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { names, sampleBeam, sampleGears, sampleModel, sampleModes, sampleRun } from './sample.mjs';
import { folder, launch, open, settle, writePage } from './page.mjs';
import { countColours, difference, readPng } from './picture.mjs';
import { assert } from './suite.mjs';
import { packRun } from './write_trv1.mjs';

const tests = {
  'not blank, steady, and moved by time': async ({ page }) => {
    const picture = async () => readPng(await page.locator('canvas').first().screenshot());
    const seek = async (t) => {
      await page.evaluate((time) => window.trammel.seek(time), t);
      await settle(page);
    };
    const first = await picture();
    assert.ok(countColours(first) > 40, `${countColours(first)} colours`);
    await seek(1);
    const later = await picture();
    await seek(0);
    assert.equal(difference(first, await picture(), 1), 0); // chromium itself rounds the sky behind the canvas up or down
    assert.ok(difference(first, later, 24) > 0.02);
  },
  'bodies are where the result says': async ({ page, run }) => {
    for (const row of [0, 137, 300]) {
      const matrix = await page.evaluate((t) => {
        window.trammel.seek(t);
        window.trammel.view.moveTo(t);
        return window.trammel.view.bodyMatrix('slider');
      }, run.time[row]);
      [12, 13, 14].forEach((k, axis) => assert.ok(Math.abs(matrix[k] - run.bodies[2].pose[axis][row]) < 1e-5));
    }
  },
  'the keyboard moves time': async ({ page, run }) => {
    const t = () => page.evaluate(() => window.trammel.t);
    const near = async (expected) => assert.ok(Math.abs((await t()) - expected) < 1e-6, `${await t()} instead of ${expected}`);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('Home');
    await near(0);
    await page.keyboard.press('ArrowRight');
    await near(run.time[1]);
    await page.keyboard.press('Shift+ArrowRight');
    await near(run.time[1] + 0.3);
    await page.keyboard.press('ArrowLeft');
    await near(run.time[30]); // from between two rows to the one before
    await page.keyboard.press('End');
    await near(3);
    await page.keyboard.press(' ');
    await page.waitForFunction(() => window.trammel.state.get('playing') && window.trammel.t < 2.9 && window.trammel.t > 0);
    await page.keyboard.press(' ');
    assert.equal(await page.evaluate(() => window.trammel.state.get('playing')), false);
    await page.keyboard.press('Home');
  },
  'keys switch what is shown': async ({ page }) => {
    const get = (key) => page.evaluate((k) => window.trammel.state.get(k), key);
    for (const [key, name] of [['j', 'joints'], ['f', 'forces'], ['q', 'torques'], ['t', 'trace'], ['x', 'xray'], ['c', 'follow'], ['m', 'measure']]) {
      const before = await get(name);
      await page.keyboard.press(key);
      assert.equal(await get(name), !before, name);
      await page.keyboard.press(key);
      assert.equal(await get(name), before, name);
    }
    await page.keyboard.press(']');
    assert.equal(await get('speed'), 2);
    await page.keyboard.press('[');
    const theme = await get('theme');
    await page.keyboard.press('d');
    assert.notEqual(await get('theme'), theme);
    await page.keyboard.press('d');
    await page.keyboard.press('?');
    assert.ok(await page.getByRole('dialog', { name: 'Keys' }).isVisible());
    await page.keyboard.press('Escape');
    assert.ok(!(await page.getByRole('dialog', { name: 'Keys' }).isVisible()));
    await page.locator('input[type=search]').last().focus();
    await page.keyboard.press('j'); // types
    assert.equal(await get('joints'), true);
    await page.keyboard.press('Escape');
    await page.locator('canvas').first().focus();
  },
  'every control has a name': async ({ page }) => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, canvas, [role=img]')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent?.trim() || e.title))
        .map((e) => e.outerHTML));
    assert.deepEqual(nameless, []);
    assert.match(await page.getAttribute('.slider', 'aria-valuetext'), /seconds/);
  },
  'a click selects a body; its signals are plotted; Esc goes back': async ({ page }) => {
    const at = await page.evaluate(() => {
      const { view } = window.trammel, m = view.poses.of(2).elements, box = document.querySelector('canvas').getBoundingClientRect();
      const p = view.project(view.rig.controls.target.clone().set(m[12], m[13], m[14]), box.width, box.height);
      return { x: box.left + p.x, y: box.top + p.y };
    });
    const plots = () => page.locator('.plot h3').allTextContents();
    const before = await plots();
    await page.mouse.click(at.x, at.y);
    await settle(page);
    assert.deepEqual(await page.evaluate(() => window.trammel.state.get('selection')), { of: 'body', name: 'slider' });
    assert.ok(await page.locator('.card').isVisible());
    assert.deepEqual(await plots(), ['slider velocity [m/s]']);
    await page.keyboard.press('Escape');
    assert.deepEqual(await plots(), before);
  },
  'a joint shows its reaction and the caveat of the result': async ({ page }) => {
    await page.evaluate(() => window.trammel.select('pin', 'joint'));
    assert.deepEqual(await page.locator('.plot h3').allTextContents(), ['pin force [N]']);
    assert.match(await page.locator('.caveat').first().textContent(), /least-norm/);
    await page.evaluate(() => window.trammel.select(null));
  },
  'a signal is found and plotted': async ({ page }) => {
    const count = await page.locator('.plot').count();
    await page.getByLabel('Find a signal to plot').fill('guide z');
    await page.locator('.results .row').first().click();
    assert.equal(await page.locator('.plot').count(), count + 1);
    await page.getByLabel('Remove this plot').first().click();
    await page.getByLabel('Find a signal to plot').fill('');
    assert.equal(await page.locator('.plot').count(), count);
  },
  'a signal that is dragged onto a plot of its unit becomes a curve, onto another a plot of its own': async ({ page }) => {
    const groups = () => page.evaluate(() => window.trammel.plots.plots.map(({ signals }) => [...signals]));
    const found = async (text) => {
      await page.getByLabel('Find a signal to plot').fill(text);
      return page.locator('.results .row').first();
    };
    const before = await groups();
    await (await found('slider_x')).click();
    const target = page.locator('.plot').first().locator('.chart');
    await (await found('gap')).dragTo(target);
    assert.deepEqual(await groups(), [...before, [0, 1]]);
    assert.equal(await page.locator('.plot').first().locator('.legend-entry').count(), 2);
    await (await found('gap')).dragTo(target); // it is there already
    assert.deepEqual(await groups(), [...before, [0, 1], [1]]);
    await (await found('slider.velocity.x')).dragTo(page.locator('.plot').first().locator('.chart')); // m/s onto m
    assert.deepEqual(await groups(), [...before, [0, 1], [1], [2]]);
    for (let i = 0; i < 3; ++i) await page.getByLabel('Remove this plot').first().click();
    await page.getByLabel('Find a signal to plot').fill('');
    assert.deepEqual(await groups(), before);
  },
  'two clicks measure a distance, which is followed through time': async ({ page }) => {
    await page.evaluate(() => window.trammel.seek(0));
    await settle(page);
    const [one, other] = await page.evaluate(() => {
      const { view, run } = window.trammel, box = document.querySelector('canvas').getBoundingClientRect();
      return [['slider', 0], ['crank', 0.075]].map(([name, along]) => {
        const at = view.rig.controls.target.clone().set(along, 0, 0).applyMatrix4(view.poses.of(run.body(name)));
        const { x, y } = view.project(at, box.width, box.height);
        return { x: box.left + x, y: box.top + y, part: [(2 * x) / box.width - 1, 1 - (2 * y) / box.height] };
      });
    });
    const label = page.locator('.label.distance'), note = page.locator('.note');
    await page.locator('canvas').first().focus();
    await page.keyboard.press('m');
    assert.match(await note.textContent(), /first point/);
    await page.mouse.click(one.x, one.y);
    assert.match(await note.textContent(), /second point/);
    await page.mouse.click(other.x, other.y);
    await settle(page);
    const expected = await page.evaluate(([p, q]) => {
      const { view } = window.trammel, [a, b] = [p, q].map(([x, y]) => view.pick(x, y));
      return { far: a.point.distanceTo(b.point), bodies: [a.body, b.body] };
    }, [one.part, other.part]);
    assert.deepEqual(expected.bodies, [2, 0]);
    const shown = async () => Number(/^(\S+) m {2}\(/.exec(await label.textContent())[1]);
    assert.ok(await label.isVisible() && Math.abs((await shown()) - expected.far) < 2e-3 * expected.far, `${await shown()} m instead of ${expected.far} m`);
    assert.equal(await page.evaluate(() => window.trammel.state.get('selection')), null); // clicks measured and selected nothing
    await page.evaluate(() => window.trammel.seek(1));
    await settle(page);
    assert.ok(Math.abs((await shown()) - expected.far) > 0.01, 'later they are elsewhere');
    await page.keyboard.press('Escape');
    await settle(page);
    assert.equal(await page.evaluate(() => window.trammel.state.get('measure')), false);
    assert.ok(!(await label.isVisible()));
    await page.evaluate(() => window.trammel.seek(0));
  },
  'the keys 1 to 4 look from iso, front, side and top; 0 frames everything': async ({ page }) => {
    const look = () => page.evaluate(() => {
      const { camera, controls } = window.trammel.view.rig, way = camera.position.clone().sub(controls.target);
      return { far: way.length(), way: way.normalize().toArray(), target: controls.target.toArray() };
    });
    const near = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 2e-3);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('1');
    const iso = await look();
    for (const [key, way] of [['2', [0, -1, 0]], ['3', [1, 0, 0]], ['4', [0, 0, 1]]]) {
      await page.keyboard.press(key);
      const seen = await look();
      assert.ok(near(seen.way, way), `${key}: ${seen.way}`);
    }
    assert.ok(!near(iso.way, [0, 0, 1]));
    await page.evaluate(() => {
      const { camera, controls } = window.trammel.view.rig;
      controls.target.x += 3;
      camera.position.multiplyScalar(5);
    });
    await page.keyboard.press('0');
    const framed = await look();
    assert.ok(near(framed.way, iso.way) && near(framed.target, iso.target) && Math.abs(framed.far - iso.far) < 1e-6 * iso.far);
    await settle(page);
  },
  'a click in a plot sets the time': async ({ page }) => {
    const box = await page.locator('.plot .u-over').first().boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    assert.ok(Math.abs((await page.evaluate(() => window.trammel.t)) - 1.5) < 0.02);
    await page.evaluate(() => window.trammel.seek(0));
  },
  'a plot that is added keeps the zoom of the others': async ({ page }) => {
    const range = () => page.evaluate(() => window.trammel.plots.plots.map(({ chart }) => [chart.scales.x.min, chart.scales.x.max]));
    await page.evaluate(() => window.trammel.plots.plots[0].zoom(1, 2));
    await settle(page);
    await page.evaluate(() => window.trammel.plots.add([3]));
    await settle(page);
    for (const [min, max] of await range()) assert.deepEqual([min, max], [1, 2]);
    await page.getByLabel('Remove this plot').first().click();
    await page.evaluate(() => window.trammel.plots.plots[0].zoom(0, 3));
    await settle(page);
  },
  'torques are double arrows with a scale of their own': async ({ page }) => {
    const heads = () => page.evaluate(() => window.trammel.view.torques.heads.count);
    const scales = () => page.locator('.legend-of-arrows div').allTextContents();
    assert.equal((await scales()).length, 1);
    await page.keyboard.press('q');
    await settle(page);
    assert.equal(await heads(), 2); // of one torque
    assert.match((await scales())[1], /^double arrow of 10 % of the scene = .* m?N m$/);
    await page.keyboard.press('q');
    await settle(page);
  },
  'events and gaps are marked on the time line, and lead there': async ({ page }) => {
    const marks = page.locator('.mark');
    assert.deepEqual(await marks.evaluateAll((all) => all.map((m) => m.title)), ['gap has no value (1.010 s)', 'contact of bob and rail closes (1.200 s)']);
    await marks.last().click();
    assert.ok(Math.abs((await page.evaluate(() => window.trammel.t)) - 1.2) < 1e-6);
    await page.evaluate(() => window.trammel.seek(0));
  },
  'caveats of the result are listed': async ({ page }) => {
    await page.getByRole('button', { name: '1 caveat' }).click();
    assert.match(await page.getByRole('dialog', { name: 'Caveats' }).textContent(), /least-norm.*joint\.pin\.force\.x/);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('dialog[open]').count(), 0);
  },
  'nothing is drawn while nothing changes': async ({ page }) => {
    await settle(page);
    const frames = () => page.evaluate(() => window.trammel.view.frames);
    const before = await frames();
    await page.waitForTimeout(300);
    assert.equal(await frames(), before);
  },
  'on a narrow screen scene, plots and time line are there, and nothing hangs over': async ({ page }) => {
    for (const [width, height] of [[420, 700], [900, 640]]) {
      await page.setViewportSize({ width, height });
      await settle(page);
      const parts = [page.locator('.stage canvas').first(), page.locator('.plot').first(), page.getByRole('button', { name: 'Play (Space)' }), page.getByRole('slider', { name: 'Time' }), page.getByLabel('Find a signal to plot')];
      for (const part of parts) {
        const box = await part.boundingBox();
        assert.ok(box && box.width > 20 && box.x >= 0 && box.x + box.width <= width + 0.5 && box.y + Math.min(box.height, 20) <= height, `${width} px: ${JSON.stringify(box)}`);
      }
      assert.ok(!(await page.locator('.lists').isVisible()));
      const { wide, top } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, top: document.querySelector('header').offsetHeight }));
      assert.ok(wide <= width && top === 44, `${wide} px wide, a top bar of ${top} px`); // it scrolls and does not wrap
      assert.ok(countColours(readPng(await page.locator('canvas').first().screenshot())) > 40);
    }
    await page.setViewportSize({ width: 1200, height: 640 });
    await settle(page);
    assert.ok(await page.locator('.lists').isVisible());
  },
  'a picture is saved': async ({ page }) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('p')]);
    const path = join(folder, 'picture.png');
    await download.saveAs(path);
    assert.equal(download.suggestedFilename(), 'Slider_crank_by_formulas.png');
    assert.ok(statSync(path).size > 10_000);
  },
  'a film is saved': async ({ page }) => {
    await page.evaluate(() => window.trammel.state.set('speed', 5));
    const [download] = await Promise.all([page.waitForEvent('download', { timeout: 600_000 }), page.getByLabel('Save a film').click()]);
    const path = join(folder, 'film');
    await download.saveAs(path);
    assert.match(download.suggestedFilename(), /^Slider_crank_by_formulas\.(mp4|webm)$/);
    assert.ok(statSync(path).size > 2000, `${statSync(path).size} bytes`);
  },
};

const refusals = {
  'a page without data says so': ['', /no data/],
  'a page with cut data says so': ['H4sIAAAAAAAAA', /damaged or cut off/],
  'a page with foreign data says so': [Buffer.from('hello world').toString('base64'), /damaged or cut off/],
};
const others = [hostile, policy, ghost, model, modes, gears, oldResult, stopped, contact, bending];
const otherTests = 20; // of those functions

export async function pageTests(suite, bundle) {
  const all = Object.keys(tests).length + Object.keys(refusals).length + otherTests + 1;
  if (!bundle) return suite.skip(all, 'no bundle (--bundle viewer.html.gz)');
  const { browser, why } = await launch();
  if (!browser) return suite.skip(all, why);
  try {
    const run = sampleRun();
    const { page, wrong, ready } = await open(browser, writePage(bundle, run.title, packRun(run)), { width: 1200, height: 640 });
    assert.equal(ready, '1');
    for (const [name, body] of Object.entries(tests)) await suite.test(name, () => body({ page, run }));
    await suite.test('no message in the console, no request to the network', () => assert.deepEqual(wrong, []));
    await page.context().close();
    for (const other of others) await other(suite, browser, bundle);
    for (const [name, [data, words]] of Object.entries(refusals)) {
      await suite.test(name, async () => {
        const { page: bad, ready: state } = await open(browser, writePage(bundle, 'x', Buffer.from(data, 'base64'), 'bad.html'));
        assert.equal(state, 'failed');
        assert.match(await bad.locator('.refusal').textContent(), words);
        await bad.context().close();
      });
    }
  } finally {
    await browser.close();
  }
}

async function ghost(suite, browser, bundle) {
  await suite.test('a second run is drawn as a ghost, its curves too', async () => {
    const run = sampleRun(), other = sampleRun();
    other.signals[0].values = other.signals[0].values.map((x) => x + 0.1);
    other.bodies[2].pose[2] = other.bodies[2].pose[2].map((_, i) => 0.0002 * i); // rises by 60 mm
    const { page, wrong, ready } = await open(browser, writePage(bundle, run.title, [packRun(run), packRun(other)], 'ghost.html'), { width: 640, height: 400 });
    assert.equal(ready, '1');
    assert.ok(Math.abs((await page.evaluate(() => window.trammel.view.ghost.greatest)) - 0.06) < 1e-3);
    assert.match(await page.locator('.legend-of-arrows').textContent(), /blue together, red (60|59) mm apart/);
    const colourAt = (t) => page.evaluate((time) => {
      window.trammel.view.moveTo(time);
      const { sets } = window.trammel.view.ghost.bodies, box = sets.find((set) => set.instances.some(({ body }) => body === 2));
      return Array.from(box.mesh.instanceColor.array.slice(3 * box.instances.findIndex(({ body }) => body === 2)).slice(0, 3));
    }, t);
    await page.evaluate(() => window.trammel.view.moveTo(2));
    assert.ok(await page.evaluate(() => window.trammel.view.ghost.group.visible));
    assert.ok((await colourAt(3))[0] > (await colourAt(0))[0] + 0.3, 'redder at the end');
    assert.ok(await page.evaluate(() => window.trammel.plots.ghostOf(0)[0] - window.trammel.run.signal(0)[0]) > 0.099);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

/** Whatever might get into the page: the policy stops it. */
async function policy(suite, browser, bundle) {
  await suite.test('the content security policy stops scripts, styles, requests and frames of others', async () => {
    const { page } = await open(browser, writePage(bundle, 'x', packRun(sampleRun()), 'policy.html'), { width: 640, height: 400 });
    const done = await page.evaluate(async () => {
      const add = (tag, text, attributes = {}) => document.body.append(Object.assign(document.createElement(tag), attributes, { textContent: text }));
      const violations = new Set();
      document.addEventListener('securitypolicyviolation', (event) => violations.add(event.effectiveDirective));
      add('script', 'window.wasRun = true');
      add('style', 'body { display: none }');
      add('iframe', '', { src: 'data:text/html,x' });
      document.body.append(Object.assign(document.createElement('img'), { src: 'file:///etc/hostname' }));
      const request = await fetch('data:text/plain,x').then(() => 'sent', () => 'stopped');
      await new Promise((later) => setTimeout(later, 300));
      return { ran: window.wasRun === true, hidden: getComputedStyle(document.body).display === 'none', request, violations: [...violations].sort() };
    });
    assert.deepEqual(done, { ran: false, hidden: false, request: 'stopped', violations: ['connect-src', 'frame-src', 'img-src', 'script-src-elem', 'style-src-elem'] });
    const meta = await page.getAttribute('meta[http-equiv=Content-Security-Policy]', 'content');
    assert.match(meta, /^default-src 'none'; script-src 'sha256-[^ ]*'; style-src 'sha256-[^ ]*';/);
    assert.doesNotMatch(meta, /unsafe|connect-src|http/);
    await page.context().close();
  });
}

async function model(suite, browser, bundle) {
  const { page, wrong, ready } = await open(browser, writePage(bundle, 'x', packRun(sampleModel()), 'model.html'), { width: 1200, height: 640 });
  const matrix = () => page.evaluate(() => window.trammel.view.bodyMatrix('crank'));
  const slider = page.getByRole('slider', { name: 'pivot angle' });
  await suite.test('a model without a run: a slider moves each freedom as far as it was assembled', async () => {
    assert.equal(ready, '1');
    assert.equal(await slider.getAttribute('aria-valuetext'), '0.0°');
    await slider.fill('0.75');
    await settle(page);
    assert.ok(Math.abs((await matrix())[0] - Math.cos(0.75)) < 1e-3, `${await matrix()}`);
    await slider.press('End');
    await settle(page);
    assert.ok(Math.abs((await matrix())[0] - Math.cos(1)) < 1e-5);
    assert.match(await page.locator('.freedom .range').textContent(), /^cannot be assembled beyond 57\.3°$/);
    await page.getByRole('button', { name: 'As drawn' }).click();
    await settle(page);
    assert.ok(Math.abs((await matrix())[0] - 1) < 1e-6);
  });
  await suite.test('triangles of a mesh are drawn and can be clicked', async () => {
    const hit = await page.evaluate(() => {
      const { view } = window.trammel, seen = [];
      for (let x = -0.9; x < 1; x += 0.1) for (let y = -0.9; y < 1; y += 0.1) if (view.pick(x, y)?.body === 0) seen.push([x, y]);
      return seen.length;
    });
    assert.ok(hit > 10, `${hit} of 361 points`);
    assert.deepEqual(wrong, []);
  });
  await page.context().close();
}

async function modes(suite, browser, bundle) {
  const { page, wrong, ready } = await open(browser, writePage(bundle, 'x', packRun(sampleModes()), 'modes.html'), { width: 1200, height: 640 });
  const get = (key) => page.evaluate((k) => window.trammel.state.get(k), key);
  const set = async (key, value) => {
    await page.evaluate(([k, v]) => window.trammel.state.set(k, v), [key, value]);
    await settle(page);
  };
  const chosen = async (...expected) => assert.deepEqual(Object.values(await get('mode')), expected);
  /** Where a point of a body is, in its axes. */
  const point = (body, z) => page.evaluate(([name, at]) => {
    const { view, run } = window.trammel, m = view.poses.of(run.body(name)).elements;
    return [12, 13, 14].map((k) => m[k] + at * m[k - 4]);
  }, [body, z]);
  const near = (a, b, allowed = 1e-5) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) < allowed, `${a} instead of ${b}`));
  const picture = async () => readPng(await page.locator('canvas').first().screenshot());
  const list = page.getByRole('listbox', { name: 'Damped modes' });
  await suite.test('modes are listed with frequency, damping and what is rigid or unstable', async () => {
    assert.equal(ready, '1');
    await chosen(1, 1); // damped ones, and the first that deforms anything
    assert.equal(await get('playing'), false); // reduced motion
    const labels = await list.getByRole('option').evaluateAll((all) => all.map((option) => option.getAttribute('aria-label')));
    assert.deepEqual(labels, [
      `Mode 1, 0 Hz, rigid: left, ${names.hostileBody}`, 'Mode 2, 0.3000 Hz, damping ratio -0.02000, unstable: left',
      `Mode 3, 1.500 Hz, damping ratio 0.1000: left, ${names.hostileBody}`,
    ]);
    assert.equal(await page.locator('.big-clock').textContent(), 'Mode 2: 0.3000 Hz');
    assert.equal(await page.getByRole('listbox').count(), 1); // undamped modes wait behind their button
    assert.match(await page.getByRole('group', { name: 'Modes', exact: true }).textContent(), /about the static equilibrium \(stable\).*a note of the analysis/);
  });
  await suite.test('a click chooses a mode, and so do the keys of the list and of the page', async () => {
    await list.getByRole('option').nth(2).click();
    await chosen(1, 2);
    assert.equal(await list.getByRole('option', { selected: true }).count(), 1);
    await list.focus();
    await page.keyboard.press('Home');
    await chosen(1, 0);
    await page.keyboard.press('ArrowDown');
    await chosen(1, 1);
    assert.equal(await list.getAttribute('aria-activedescendant'), await list.getByRole('option', { selected: true }).getAttribute('id'));
    await page.keyboard.press('PageDown');
    await chosen(1, 2);
    await page.keyboard.press('ArrowDown'); // there are no more
    await chosen(1, 2);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('ArrowUp');
    await chosen(1, 1);
    await page.keyboard.press('ArrowDown');
    await chosen(1, 2);
    await page.getByRole('button', { name: 'Undamped', exact: true }).click();
    await chosen(0, 1);
    assert.match(await page.locator('.mode-set:not([hidden])').textContent(), /The page holds the lowest 3 of 7 modes\./);
  });
  await suite.test('a mode moves, at a rate that can be watched, and its picture with it', async () => {
    await set('mode', { set: 0, mode: 2 }); // 120 Hz
    assert.equal(await page.locator('footer .clock').textContent(), 'drawn at 0.5 Hz');
    const before = await picture();
    await page.locator('canvas').first().focus();
    await page.keyboard.press(' ');
    await page.waitForFunction(() => window.trammel.state.get('phase') > 0.1);
    await page.keyboard.press(' ');
    assert.equal(await get('playing'), false);
    await set('phase', 0.5);
    assert.ok(difference(before, await picture(), 24) > 0.005);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    assert.equal(await get('phase'), 1 / 16);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await get('phase'), 0);
    await settle(page);
    assert.equal(difference(before, await picture(), 1), 0);
    const frames = await page.evaluate(() => window.trammel.view.frames);
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => window.trammel.view.frames), frames); // paused: nothing is drawn
  });
  await suite.test('what turns about a hinge stays on it; the size of the motion is the one that is said', async () => {
    await set('mode', { set: 0, mode: 1 });
    const slider = page.getByRole('slider', { name: 'Amplitude' });
    await slider.fill('3');
    await settle(page);
    near(await point('left', 0.5), [0, 0, 0]);
    const [x, , z] = await point('left', -0.5), said = (await slider.getAttribute('aria-valuetext')).match(/^(.*) (m?)m, (.*)°$/);
    assert.ok(Math.abs(Math.hypot(x, z) - 1) < 1e-5 && Math.abs(x) > 0.1, `${x} ${z}`);
    assert.ok(Math.abs(Math.atan2(-x, -z) * 180 / Math.PI - Number(said[3])) < 0.06, `${x} ${z} ${said}`);
    await slider.press('Home'); // not the extreme of the phase
    await settle(page);
    near(await point('left', -0.5), [0, 0, -1]);
    await slider.dblclick();
    assert.equal(await get('amplitude'), 1);
  });
  await suite.test('a damped mode keeps the phases between its bodies', async () => {
    await set('mode', { set: 1, mode: 2 });
    const low = [await point('left', -0.5), await point(names.hostileBody, -0.5)];
    assert.ok(low[0][0] < -0.05, `${low[0]}`);
    near(low[1], [0, 0.4, -1]);
    await set('phase', 0.25);
    near(await point('left', -0.5), [0, 0, -1]);
    near(await point(names.hostileBody, -0.5), [-low[0][0], 0.4, low[0][2]], 1e-4);
    await set('phase', 0);
  });
  await suite.test('the mechanism at rest is a ghost that can be switched off; hostile names are text', async () => {
    assert.equal(await page.evaluate(() => window.trammel.view.rest.group.visible), true);
    const heights = await page.evaluate(() => window.trammel.view.rest.sets.flatMap(({ mesh, instances }) => instances.flatMap(({ body }, i) => (body < 0 ? [] : [mesh.instanceMatrix.array[16 * i + 14]]))));
    assert.deepEqual(heights.map((z) => Number(z.toFixed(5))), [-0.5, -0.5]);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('g');
    assert.equal(await page.evaluate(() => window.trammel.view.rest.group.visible), false);
    await page.getByRole('button', { name: 'At rest' }).click();
    assert.equal(await page.evaluate(() => window.trammel.view.rest.group.visible), true);
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas, [role=option], [role=listbox]')].filter((e) => !(e.getAttribute('aria-label') || e.textContent?.trim())).length);
    assert.equal(nameless, 0);
    assert.equal(await page.locator('img').count(), 0);
  });
  await suite.test('dark and on a narrow screen the modes are still there', async () => {
    await page.keyboard.press('d');
    await page.setViewportSize({ width: 420, height: 700 });
    await settle(page);
    for (const shown of [list, page.getByRole('slider', { name: 'Amplitude' }), page.getByRole('button', { name: 'Play (Space)' })]) {
      const box = await shown.boundingBox();
      assert.ok(box && box.width > 20 && box.x >= 0 && box.x + box.width <= 420 && box.y + Math.min(box.height, 40) <= 700, JSON.stringify(box));
    }
    assert.ok(countColours(await picture()) > 40);
    assert.deepEqual(wrong, []);
  });
  await page.context().close();
}

async function gears(suite, browser, bundle) {
  await suite.test('wheels of gears are drawn by their teeth', async () => {
    const { page, wrong } = await open(browser, writePage(bundle, 'x', packRun(sampleGears()), 'gears.html'), { width: 640, height: 400 });
    const kinds = await page.evaluate(() => window.trammel.view.bodies.kinds);
    assert.deepEqual(kinds.filter((kind) => /gear/.test(kind)).sort(), ['gear 10', 'gear 20', 'gear 40', 'ring_gear 60']);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

async function bending(suite, browser, bundle) {
  const { page, wrong, ready } = await open(browser, writePage(bundle, 'x', packRun(sampleBeam()), 'bending.html'), { width: 1200, height: 640 });
  const near = (a, b, allowed = 1e-5) => assert.ok(b.every((x, i) => Math.abs(a[i] - x) < allowed), `${a} instead of ${b}`);
  /** The far end of its last piece, the sign of the hinge and the foot of the arrow. */
  const drawn = () => page.evaluate(() => {
    const { view } = window.trammel, [{ mesh }] = view.flex.parts, m = mesh.instanceMatrix.array, at = 16 * (mesh.count - 1);
    const colour = (i) => [...mesh.instanceColor.array.slice(3 * i, 3 * i + 3)];
    return {
      tip: [0, 1, 2].map((k) => m[at + 12 + k] + m[at + 8 + k]), hinge: [...view.joints.sets[0].mesh.instanceMatrix.array.slice(12, 15)],
      arrow: [...view.forces.shafts.instanceMatrix.array.slice(12, 15)], root: colour(0), end: colour(mesh.count - 1),
    };
  });
  await suite.test('a body that bends is drawn bent and coloured, and what attaches to it goes along', async () => {
    assert.equal(ready, '1');
    near((await drawn()).tip, [1, 0, 0]);
    await page.evaluate(() => window.trammel.seek(1));
    await settle(page);
    const bent = await drawn();
    for (const place of [bent.tip, bent.hinge, bent.arrow]) near(place, [1, 0, 0.05]);
    assert.ok(bent.end[0] > bent.end[2] + 0.3 && bent.root[2] > bent.root[0] + 0.3, `red at the tip, ${bent.end}, blue at the root, ${bent.root}`);
    assert.equal(await page.getByRole('img', { name: /^Displacement by bending/ }).getAttribute('aria-label'), 'Displacement by bending: blue none, red 50 mm');
    await page.evaluate(() => window.trammel.seek(0.55)); // between two rows
    await settle(page);
    near((await drawn()).tip, [1, 0, 0.0275]);
  });
  await suite.test('a body whose stress is known is coloured by it, with a scale of its own', async () => {
    const choice = page.getByRole('combobox', { name: 'Colours of bodies that bend' });
    await page.evaluate(() => window.trammel.seek(1));
    await choice.selectOption('stress');
    await settle(page);
    // Of rectangles and round sections alike that of bending and torsion together, at the end nearer to the root.
    const stresses = () => page.evaluate(() => {
      const { flex } = window.trammel.view, [part] = flex.parts;
      return [flex.greatestStress, ...[0, 1, 2, 3].map((piece) => flex.stressOf(part, piece))];
    });
    const q = 0.05, bend = [1, 0.75, 0.5, 0.25].map((s) => 2e9 * s * q), torsion = 1e8 * q, all = (sigma, tau) => Math.hypot(sigma, Math.sqrt(3) * tau);
    const expected = bend.map((sigma) => all(sigma, torsion));
    (await stresses()).forEach((x, i) => assert.ok(Math.abs(x - [expected[0], ...expected][i]) < 1e-4 * expected[0], `${x} instead of ${[expected[0], ...expected][i]}`));
    const { root, end } = await drawn();
    assert.ok(root[0] > root[2] + 0.3 && end[2] > end[0] + 0.3, `red at the root, ${root}, blue at the tip, ${end}`);
    assert.equal(await page.getByRole('img', { name: /^Von Mises stress/ }).getAttribute('aria-label'), 'Von Mises stress: blue none, red 100 MPa');
    await choice.selectOption('displacement');
    await settle(page);
    assert.equal(await page.getByRole('img', { name: /^Displacement by bending/ }).count(), 1);
  });
  await suite.test('deformations are drawn larger by a slider, and a bent beam can be clicked', async () => {
    await page.evaluate(() => window.trammel.seek(1));
    const slider = page.getByRole('slider', { name: /^Deformation/ });
    await slider.fill('1'); // its logarithm
    await settle(page);
    const bent = await drawn();
    for (const place of [bent.tip, bent.hinge, bent.arrow]) near(place, [1, 0, 0.5]);
    assert.equal(await slider.getAttribute('aria-valuetext'), '10 times');
    const at = await page.evaluate(() => {
      const { view } = window.trammel, box = document.querySelector('canvas').getBoundingClientRect();
      const p = view.project(view.rig.controls.target.clone().set(0.75, 0, 5 * 0.05625), box.width, box.height); // 0.75^2 of the tip
      return { x: box.left + p.x, y: box.top + p.y };
    });
    await page.mouse.click(at.x, at.y);
    assert.deepEqual(await page.evaluate(() => window.trammel.state.get('selection')), { of: 'body', name: 'beam' });
    await page.keyboard.press('x');
    await page.keyboard.press('Escape');
    await slider.dblclick();
    await settle(page);
    near((await drawn()).tip, [1, 0, 0.05]);
    assert.ok(countColours(readPng(await page.locator('canvas').first().screenshot())) > 40);
    assert.deepEqual(wrong, []);
  });
  await page.context().close();
}

/** A box on its edge: the force of the floor acts there, not at the frame of the box, and its shape is that of the contact. */
async function contact(suite, browser, bundle) {
  await suite.test('a contact force begins at its place, and a body in contact has the shape of the contact', async () => {
    const time = [0, 1], column = (x) => time.map(() => x);
    const frame = (body, position = [0, 0, 0]) => ({ body, position, quaternion: [1, 0, 0, 0] });
    const vector = (quantity, unit, xyz) => xyz.map((x, i) => ({ info: { name: `force.floor.${quantity}.${'xyz'[i]}`, unit, of: 'force', element: 'floor', quantity, axis: 'xyz'[i] }, values: column(x) }));
    const run = {
      title: 'Contact', time, bodies: [{ name: 'box', pose: [0.5, 0, 0.3, 1, 0, 0, 0].map(column) }, { name: 'puck', pose: [2, 0, 0.3, 1, 0, 0, 0].map(column) }, { name: 'wheel', pose: [1, 0, 0.3, 1, 0, 0, 0].map(column) }, { name: 'link', pose: [1, 1, 0.3, 1, 0, 0, 0].map(column) }],
      elements: [
        { name: 'floor', of: 'force', type: 'contact', attachment: 'two_points', frames: [frame('ground'), frame('box')], numbers: { size_b: [0.4, 0.3, 0.2] }, words: { shape_a: 'plane', shape_b: 'box' } },
        { name: 'track', of: 'force', type: 'contact', attachment: 'two_points', frames: [frame('wheel'), frame('link')], numbers: { teeth_a: 12, pitch_a: 0.1, pocket_a: 0.02, tip_a: 0.02, radius_b: 0.02, length_b: 0.3 }, words: { shape_a: 'sprocket', shape_b: 'rail' } },
        { name: 'hit', of: 'force', type: 'contact', attachment: 'two_points', frames: [frame('puck', [0, 0, 0.1]), frame('box')], numbers: { radius_a: 0.2, rounding_a: 0.05 }, words: { shape_a: 'disc', shape_b: 'hollow_sphere' } },
      ],
      signals: [...vector('force_on_second', 'N', [0, 0, 20]), ...vector('place', 'm', [0.7, 0.1, 0])],
    };
    const { page, wrong, ready } = await open(browser, writePage(bundle, 'x', packRun(run), 'contact.html'), { width: 640, height: 400 });
    assert.equal(ready, '1');
    const [from, kinds] = await page.evaluate(() => {
      const { view } = window.trammel;
      return [[...view.forces.shafts.instanceMatrix.array.slice(12, 15)], view.bodies.kinds];
    });
    [0.7, 0.1, 0].forEach((x, i) => assert.ok(Math.abs(from[i] - x) < 1e-5, `${from}`)); // it was 0.5, 0, 0.3
    for (const kind of ['box', 'cylinder', 'gear 12', 'capsule']) assert.ok(kinds.some((known) => known.startsWith(kind)), `${kind}: ${kinds}`);
    // A rail is along x of its frame.
    const rail = await page.evaluate(() => {
      const { bodies, poses } = window.trammel.view, set = bodies.sets.find(({ instances }) => instances.some(({ body }) => body === 3));
      bodies.update(poses);
      const m = set.mesh.instanceMatrix.array, at = 16 * set.instances.findIndex(({ body }) => body === 3), long = [8, 9, 10].map((k) => m[at + k]);
      return Math.abs(long[0]) / Math.hypot(...long);
    });
    assert.ok(rail > 0.999, `${rail}`);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

/** More events than there is room for, contacts that no event locates, and a run that did not reach its end. */
async function stopped(suite, browser, bundle) {
  await suite.test('marks: that a run stopped is told whatever came before, contacts close and open, and what is left out is counted', async () => {
    const run = sampleRun(), depth = (time) => 1e-3 * (0.25 - ((time - 1.5) ** 2)); // from 1 s to 2 s
    run.events = Array.from({ length: 250 }, (_, i) => ({ time: 0.01 * i, text: `event ${i}` }));
    Object.assign(run, { status: 'failed', failure: { t: 2.5, what: 'steps became too small' } });
    const contact = (element) => ({ info: { name: `force.${element}.penetration`, unit: 'm', of: 'force', element, quantity: 'penetration' }, values: run.time.map(depth) });
    run.signals.push(contact('foot'));
    const open_ = async (changed, name) => (await open(browser, writePage(bundle, 'x', packRun(changed), name), { width: 640, height: 400 }));
    const many = await open_(run, 'stopped.html');
    const titles = (page) => page.locator('.mark').evaluateAll((all) => all.map((mark) => mark.title));
    const all = await titles(many.page);
    assert.equal(all.length, 200);
    assert.equal(all.at(-1), 'the run stopped: steps became too small (2.500 s)');
    assert.equal(await many.page.locator('.more-marks').textContent(), '+54'); // 250 events, a gap and two of a contact are 253; 199 are shown
    assert.match(await many.page.getByRole('group', { name: /^Marks on the time line, 54 more/ }).getAttribute('aria-label'), /are not shown/);
    assert.match(await many.page.getByRole('button', { name: /caveats?$/ }).textContent(), /^2 caveats/);
    await many.page.context().close();
    // One contact whose events are located has no other marks.
    run.events = [{ time: 1, text: "force 'hand': contact, falling" }];
    run.signals.push(contact('hand'));
    const few = await open_(run, 'contacts.html'), marks = await titles(few.page);
    assert.deepEqual(marks, ['gap has no value (1.010 s)', "force 'hand': contact, falling (1.000 s)", 'contact foot closes (1.000 s)', 'contact foot opens (2.000 s)', 'the run stopped: steps became too small (2.500 s)']);
    assert.equal(await few.page.locator('.more-marks').count(), 0);
    await few.page.getByRole('button', { name: /^contact foot opens/ }).click();
    assert.ok(Math.abs((await few.page.evaluate(() => window.trammel.t)) - 2) < 1e-3);
    assert.deepEqual([many.wrong, few.wrong], [[], []]);
    await few.page.context().close();
  });
}

/** Before 0027 a result had shapes and names of signals only; `trammel view` makes this of it. */
async function oldResult(suite, browser, bundle) {
  await suite.test('a result of an earlier version opens: shapes and signals by name', async () => {
    const { events, ...run } = sampleRun();
    run.elements = [];
    run.gravity = null;
    run.bodies = run.bodies.filter(({ name }) => name !== 'bob').map(({ name, pose }) => ({ name, pose }));
    run.signals = run.signals.map(({ info: { name, unit }, values }) => ({ info: { name, unit }, values }));
    run.plots = [[0], [1], [2]];
    const { page, wrong, ready } = await open(browser, writePage(bundle, run.title, packRun(run), 'old.html'), { width: 1200, height: 640 });
    assert.equal(ready, '1');
    assert.deepEqual(await page.locator('.plot h3').allTextContents(), ['slider_x [m]', 'gap [m]', 'body.slider.velocity.x [m/s]']);
    await page.evaluate(() => window.trammel.select('slider'));
    await settle(page);
    assert.ok(countColours(readPng(await page.locator('canvas').first().screenshot())) > 40);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

async function hostile(suite, browser, bundle) {
  const run = sampleRun({ title: names.hostileTitle, rodName: names.hostileBody });
  run.shapes[0].color = 'url(javascript:alert(3))';
  const { page, wrong, ready } = await open(browser, writePage(bundle, run.title, packRun(run), 'hostile.html'), { width: 1200, height: 640 });
  await suite.test('hostile names are shown as text', async () => {
    assert.equal(ready, '1');
    assert.equal(await page.title(), names.hostileTitle);
    assert.equal(await page.locator('h1').textContent(), names.hostileTitle);
    await page.evaluate((name) => window.trammel.select(name), names.hostileBody);
    await settle(page);
    assert.equal(await page.locator('.stage .label').first().textContent(), names.hostileBody);
    assert.equal(await page.locator('img').count(), 0);
  });
  await suite.test('hostile names start nothing', async () => {
    await page.waitForTimeout(200);
    assert.deepEqual(wrong, []);
  });
  await page.context().close();
}
