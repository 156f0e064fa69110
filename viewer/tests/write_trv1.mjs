// Writes the format TRV1, for tests of the page that need no simulation. app/view_format.cc is the real writer.
import { gzipSync } from 'node:zlib';

const foldSign = (x) => (x < 0 ? -2 * x - 1 : 2 * x);

/** Columns as second differences of quanta; what is not finite is listed as missing. */
function addChunk(parts, columns, steps) {
  const rows = columns[0]?.length ?? 0, n = rows * columns.length;
  const words = new Uint32Array(n), missing = [];
  columns.forEach((column, c) => {
    let before = 0, now = 0;
    column.forEach((x, row) => {
      const gap = missing.at(-1);
      if (!Number.isFinite(x) && gap?.[0] === c && gap[1] + gap[2] === row) ++gap[2];
      else if (!Number.isFinite(x)) missing.push([c, row, 1]);
      const next = Number.isFinite(x) ? Math.round(x / steps[c]) : now;
      words[c * rows + row] = foldSign(next - (row < 2 ? now : 2 * now - before));
      before = now;
      now = next;
    });
  });
  const bytes = Buffer.alloc(4 * n);
  for (let plane = 0; plane < 4; ++plane) for (let i = 0; i < n; ++i) bytes[plane * n + i] = (words[i] >>> (8 * plane)) & 255;
  const at = parts.reduce((sum, part) => sum + part.length, 0);
  parts.push(bytes);
  return { at, bytes: bytes.length, rows, count: columns.length, kind: 'dd', step: steps, missing };
}

const stepFor = (column, part) => (Math.max(0, ...column.filter(Number.isFinite).map(Math.abs)) || 1) * part;

/**
 * run: {title, bodies: [{name, pose: [7 columns]}], signals: [{info, values}], time, freedoms: [{values, poses: columns}],
 * meshes: [{points: [3 columns], triangles: [3 columns]}], flexible: [{points: [3 columns], segments: [2 columns], radii: [column],
 * shapes: columns, round: [column], stresses: columns}], modes: {sets: [{shapes: columns, modal: columns}]}, ...}; the rest goes to the header.
 */
export function packRun({ time, bodies, signals, freedoms = [], meshes = [], flexible = [], modes, ...header }) {
  const parts = [];
  const finely = (columns) => addChunk(parts, columns, columns.map((c) => stepFor(c, 1e-6)));
  const poses = bodies.flatMap((body) => body.pose);
  const full = {
    program: 'trammel test', status: 'finished', method: 'hht-i3', date: '', model_file: '', failure: null,
    shapes: [], elements: [], plots: [], gravity: [0, 0, -9.81],
    ...header,
    bodies: bodies.map(({ pose, ...info }) => info),
    signals: signals.map(({ info }) => ({ unit: '', table: 0, ...info })),
    poses: addChunk(parts, poses, poses.map((c) => stepFor(c, 1e-6))),
    freedoms: freedoms.map(({ values, poses: columns, modal, ...info }) => ({
      ...info,
      ...(modal ? { modal: finely(modal) } : {}),
      values: addChunk(parts, [values], [stepFor(values, 2 ** -28)]),
      poses: addChunk(parts, columns, columns.map((c) => stepFor(c, 1e-6))),
    })),
    meshes: meshes.map(({ points, triangles }) => ({
      points: addChunk(parts, points, points.map((c) => stepFor(c, 2 ** -16))),
      triangles: addChunk(parts, triangles, [1, 1, 1]),
    })),
    flexible: flexible.map(({ points, segments, radii, shapes, round, stresses, ...info }) => ({
      ...info, points: finely(points), segments: addChunk(parts, segments, [1, 1]), radii: finely(radii), shapes: finely(shapes),
      ...(stresses ? { round: addChunk(parts, round, [1]), stresses: finely(stresses) } : {}),
    })),
    modes: modes && { ...modes, sets: modes.sets.map((set) => ({ ...set, shapes: finely(set.shapes), ...(set.modal ? { modal: finely(set.modal) } : {}) })) },
    tables: [{ name: 'output', time: addChunk(parts, [time], [stepFor(time, 2 ** -28)]), values: [] }],
  };
  if (signals.length > 0) {
    const columns = signals.map((s) => s.values);
    full.tables[0].values.push({ ...addChunk(parts, columns, columns.map((c) => stepFor(c, 2 ** -20))), signals: signals.map((_, i) => i) });
  }
  let text = Buffer.from(JSON.stringify(full));
  text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, ' ')]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return gzipSync(Buffer.concat([Buffer.from('TRV1'), length, text, ...parts]));
}
