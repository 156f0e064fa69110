// The format: what the C++ writer puts in comes out to half a quantum, and damaged data are refused with words.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BadView, Run, decode, openRun, unpack } from './decoder.mjs';
import { sampleBeam, sampleModes, sampleRun } from './sample.mjs';
import { assert } from './suite.mjs';
import { packRun } from './write_trv1.mjs';

/** Every value within `allowed(column)` of the original, and missing exactly where that is. */
function compare(columns, chunk, chunks, allowed) {
  const values = decode(chunk, chunks, Float64Array);
  columns.forEach((column, c) =>
    column.forEach((x, row) => {
      const read = values[c * chunk.rows + row];
      if (x === null) assert.ok(Number.isNaN(read), `column ${c}, row ${row}: should be missing, is ${read}`);
      else assert.ok(Math.abs(read - x) <= allowed(c, x), `column ${c}, row ${row}: ${read} instead of ${x}`);
    }),
  );
}

export async function formatTests(suite, samples) {
  if (samples && existsSync(join(samples, 'samples.trv1'))) {
    const packed = readFileSync(join(samples, 'samples.trv1'));
    const { columns, base64 } = JSON.parse(readFileSync(join(samples, 'samples.json'), 'utf8'));
    const { header, chunks } = unpack(new Uint8Array(gunzipSync(packed)));
    await suite.test('C++ writes, Node reads: to half a quantum, missing values included', () =>
      compare(columns, header.quantised, chunks, (c, x) => 0.5000001 * header.quantised.step[c] + 1e-15 * Math.abs(x)));
    await suite.test('C++ writes, Node reads: 32-bit floats', () => compare(columns, header.floats, chunks, (_, x) => 6e-8 * Math.abs(x) + 1e-45));
    await suite.test('C++ writes, Node reads: base64 and text of the header', () => {
      assert.ok(Buffer.from(base64, 'base64').equals(packed));
      assert.equal(header.title, '</script> "\u202e');
    });
  } else suite.skip(3, 'no samples of the C++ writer (target viewer-samples, --samples FOLDER)');

  const bytes = gunzipSync(packRun(sampleRun()));
  const refused = async (packed, words) => assert.rejects(openRun(new Uint8Array(packed)), (e) => e instanceof BadView && words.test(e.message));
  await suite.test('a run is read', async () => {
    const run = await openRun(new Uint8Array(packRun(sampleRun())));
    assert.equal(run.rows, 301);
    assert.ok(Math.abs(run.end - 3) < 1e-7);
    assert.equal(run.body('slider'), 2);
    assert.equal(run.body('ground'), -1);
    assert.equal(run.vector('joint', 'pin', 'force').length, 3);
    assert.equal(run.vector('joint', 'pivot', 'force'), undefined);
    assert.ok(Number.isNaN(run.signal(1)[120]));
    assert.deepEqual(run.place(-1), { row: 0, part: 0 });
    assert.deepEqual(run.place(99), { row: 300, part: 0 });
  });
  await suite.test('a run grows by rows, in bounded memory, and takes all rows of another', async () => {
    const pose = [0, 0, 0, 1, 0, 0, 0].map((x) => [x]), names = ['x', 'y', 'z', 'qw', 'qx', 'qy', 'qz'];
    const signals = [...names.map((name, i) => ({ info: { name, pose: i }, values: pose[i] })), { info: { name: 'double' }, values: [0] }];
    const start = { title: 'Growing', time: [0], bodies: [{ name: 'a', pose }], signals };
    const run = await openRun(new Uint8Array(packRun(start)));
    let most = 0;
    for (let i = 1; i <= 25_000; ++i) {
      run.append(i, Float32Array.of(i, 0, 0, 1, 0, 0, 0, 2 * i));
      most = Math.max(most, run.rows);
      if (i % 997 !== 0) continue;
      assert.equal(run.end, i);
      assert.equal(run.time[0], 0);
      run.time.forEach((t, row) => {
        assert.equal(run.signal(0)[row], t);
        assert.equal(run.signal(7)[row], 2 * t);
        assert.equal(run.poses[row], t);
        assert.equal(run.poses[3 * run.stride + row], 1);
      });
      assert.equal(run.valueAt(7, i), 2 * i);
    }
    assert.ok(most > 4000 && most <= 10_000, `${most} rows`);
    const { rows } = run;
    run.append(25_000, new Float32Array(8)); // not later
    run.append(30_000, new Float32Array(7)); // not a row of this run
    assert.equal(run.rows, rows);
    const whole = { ...start, time: [0, 1, 2], bodies: [{ name: 'a', pose: pose.map(([x]) => [x, x, x]) }], signals: signals.map(({ info, values: [x] }) => ({ info, values: [x, x, 5] })) };
    assert.equal(run.adopt(await openRun(new Uint8Array(packRun(whole)))), true);
    assert.deepEqual([run.rows, run.end, run.time.length], [3, 2, 3]);
    assert.ok(Math.abs(run.signal(7)[2] - 5) < 1e-5);
    run.append(3, Float32Array.of(1, 0, 0, 1, 0, 0, 0, 7));
    assert.deepEqual([run.rows, run.signal(7)[3], run.signal(0)[3]], [4, 7, 1]);
    assert.equal(run.adopt(await openRun(new Uint8Array(packRun(sampleRun())))), false);
  });
  await suite.test('a run that goes on takes events one by one, and all of them with all rows', async () => {
    const pose = [0, 0, 0, 1, 0, 0, 0].map((x) => [x]), start = { title: 'Growing', time: [0], bodies: [{ name: 'a', pose }], signals: [{ info: { name: 'y', of: 'output' }, values: [0] }] };
    const run = await openRun(new Uint8Array(packRun(start))), texts = () => run.events.map(({ text }) => text);
    run.addEvents([{ time: 1, text: 'one' }, { time: 1, text: 'at once' }]);
    run.addEvents([{ time: 1, text: 'one' }, { time: 1, text: 'at once' }, { time: 1, text: 'late' }, { time: 2, text: 'two' }]); // each message repeats the last ones
    assert.deepEqual(texts(), ['one', 'at once', 'late', 'two']);
    for (let t = 3; t < 20_000; ++t) run.addEvents([{ time: t, text: 'again' }]);
    assert.equal(run.events.length, 10_000);
    const whole = { ...start, events: [{ time: 1, text: 'all' }], status: 'failed', failure: { t: 1, what: 'it broke' } };
    assert.equal(run.adopt(await openRun(new Uint8Array(packRun(whole)))), true);
    assert.deepEqual([texts(), run.failure.what], [['all'], 'it broke']);
    // Stretches without a value: of the rows that came at once, and of those that came one by one.
    const broken = { ...start, time: [0, 1, 2, 3], bodies: [{ name: 'a', pose: pose.map(([x]) => [x, x, x, x]) }], signals: [{ info: { name: 'y', of: 'output' }, values: [0, NaN, NaN, 1] }] };
    const gappy = await openRun(new Uint8Array(packRun(broken)));
    assert.deepEqual(gappy.gaps(0), [[1, 2]]);
    for (const [t, y] of [[4, NaN], [5, 2], [6, NaN], [7, NaN]]) gappy.append(t, Float32Array.of(y));
    assert.deepEqual(gappy.gaps(0), [[1, 2], [4, 4], [6, 7]]);
  });
  await suite.test('a cut file is refused', async () => {
    const packed = packRun(sampleRun());
    await refused(packed.subarray(0, packed.length / 2), /damaged|cut off/);
    for (const length of [0, 3, 7, 100, bytes.length - 10]) await refused(gzipSync(bytes.subarray(0, length)), /./);
  });
  await suite.test('a foreign file is refused', async () => {
    await refused(Buffer.from('hello'), /damaged/);
    await refused(gzipSync('TRV2aaaabbbb'), /TRV1/);
    await refused(gzipSync(Buffer.concat([Buffer.from('TRV1'), Buffer.from([8, 0, 0, 0]), Buffer.from('[1, 2   ')])), /header/);
  });
  await suite.test('counts that do not fit are refused before anything is allocated', () => {
    const { header, chunks } = unpack(new Uint8Array(bytes));
    for (const change of [{ rows: 1e9 }, { count: -1 }, { at: 2 ** 40 }, { kind: 'zip' }, { step: [] }, { missing: [[0, 0, 1e9]] }, { bytes: 0 }])
      assert.throws(() => decode({ ...header.poses, ...change }, chunks, Float32Array), BadView);
    assert.throws(() => new Run({ ...header, bodies: header.bodies.slice(1) }, chunks), BadView);
  });
  await suite.test('bodies that bend are read, damaged ones refused', async () => {
    const sample = sampleBeam(), one = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    sample.freedoms = [{ of: 'body', element: 'beam', quantity: 'mode 2', unit: '', drawn: 1, ends: [false, false], values: [-1, 0, 1], poses: one.map((v) => [v, v, v]), modal: [[0, 0, 0], [-0.1, 0, 0.3]] }];
    const mode = { frequency: 1, damping: 0.1, eigenvalue: [-1, 6], oscillates: true, kind: '', bodies: ['beam'] }, still = (count) => Array.from({ length: count }, () => [0, 0]);
    sample.modes = { around: 'x', notes: [], sets: [{ damped: true, found: 2, modes: [mode, mode], shapes: still(24), modal: [[1, 2], [3, 4], [5, 6], [7, 8]] }] };
    const { header, chunks } = unpack(new Uint8Array(gunzipSync(packRun(sample)))), run = new Run(header, chunks), [beam] = run.bending;
    const near = (values, expected) => expected.forEach((x, i) => assert.ok(Math.abs(values[i] - x) < 1e-5, `${[...values]} instead of ${expected}`));
    assert.deepEqual([beam.body, beam.count, beam.modes, beam.first, beam.signals], [1, 5, 2, 0, [1, 0]]); // by their axis, whatever their order
    near(beam.shapes.subarray(10, 15), [0, 0.0625, 0.25, 0.5625, 1]);
    assert.ok(Math.abs(run.modalOfSweep(0, 0.5, 1) - 0.15) < 1e-5 && run.modalOfSweep(0, 0.5, 0) === 0);
    const { real, imaginary } = run.modalOfMode(run.modeSets[0], 1);
    near(real, [2, 4]);
    near(imaginary, [6, 8]);
    const [info] = header.flexible;
    for (const change of [{ shapes: info.points }, { points: info.segments }, { segments: { ...info.segments, step: [1000, 1000] } }, { radii: info.points }, { shapes: null }, { round: info.points }, { stresses: info.shapes }, { round: undefined }])
      assert.throws(() => new Run({ ...header, flexible: [{ ...info, ...change }] }, chunks), BadView, JSON.stringify(change));
  });
  await suite.test('modes are read, damaged ones refused', () => {
    const { header, chunks } = unpack(new Uint8Array(gunzipSync(packRun(sampleModes()))));
    const run = new Run(header, chunks), [undamped, damped] = run.modeSets;
    const near = (values, expected) => expected.forEach((x, i) => assert.ok(Math.abs(values[i] - x) < 2e-6, `${values} instead of ${expected}`));
    near(run.shape(undamped, 1), [-0.5, 0, 0, 0, 1, 0, ...Array(18).fill(0)]);
    near(run.shape(damped, 2), [-0.5, 0, 0, 0, 1, 0, ...Array(12).fill(0), -0.5, 0, 0, 0, 1, 0]);
    const { modes } = header, [set] = modes.sets, first = set.modes[0];
    const sets = [{ damped: true }, { modes: [] }, { modes: set.modes.slice(1) }, { modes: null }, { found: 1 }, { shapes: { ...set.shapes, at: 2 ** 40 } }, { shapes: null }]
      .concat([{ frequency: null }, { bodies: [3] }, { eigenvalue: [1] }, { kind: 7 }].map((change) => ({ modes: [{ ...first, ...change }, ...set.modes.slice(1)] })));
    for (const change of sets) assert.throws(() => new Run({ ...header, modes: { ...modes, sets: [{ ...set, ...change }] } }, chunks), BadView, JSON.stringify(change));
    for (const change of [{ sets: {} }, { sets: [null] }, { notes: [1] }, { around: null }]) assert.throws(() => new Run({ ...header, modes: { ...modes, ...change } }, chunks), BadView, JSON.stringify(change));
  });
}
