// Reads the format "TRV1" that app/view_format.cc writes; that file describes it. Knows nothing of the page, so that
// the tests can run it in Node.

export interface Chunk {
  at: number;
  bytes: number;
  rows: number;
  count: number;
  kind: 'dd' | 'f32';
  step?: number[];
  missing?: [column: number, first: number, rows: number][];
}

/** A file that is no view, or not a whole one. The message is shown to people. */
export class BadView extends Error {}

export interface Unpacked {
  header: Record<string, unknown>;
  chunks: Uint8Array;
}

/** Splits the decompressed bytes into header and chunks. */
export function unpack(bytes: Uint8Array): Unpacked {
  if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 4)) !== 'TRV1')
    throw new BadView('its data are not in the format TRV1.');
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  if (8 + length > bytes.length) throw new BadView('its data are cut off in the header.');
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  } catch {
    throw new BadView('the header of its data is damaged.');
  }
  if (typeof header !== 'object' || header === null) throw new BadView('the header of its data is damaged.');
  return { header: header as Record<string, unknown>, chunks: bytes.subarray(8 + length) };
}

const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;

/** Sizes are checked against what is there before anything is allocated. */
export function check(chunk: Chunk, chunks: Uint8Array): void {
  const ok =
    isCount(chunk?.at) && isCount(chunk.bytes) && isCount(chunk.rows) && isCount(chunk.count) &&
    chunk.rows * chunk.count * 4 === chunk.bytes && chunk.at + chunk.bytes <= chunks.length &&
    (chunk.kind === 'f32' || (chunk.kind === 'dd' && chunk.step?.length === chunk.count && chunk.step.every((s) => s > 0)));
  if (!ok) throw new BadView('a part of its data is missing or cut off.');
}

/** The columns of a chunk, one after the other: value (column, row) is at column * rows + row. */
export function decode<T extends Float32Array | Float64Array>(chunk: Chunk, chunks: Uint8Array, make: new (n: number) => T): T {
  check(chunk, chunks);
  const n = chunk.rows * chunk.count;
  const p0 = chunks.subarray(chunk.at, chunk.at + n);
  const p1 = chunks.subarray(chunk.at + n, chunk.at + 2 * n);
  const p2 = chunks.subarray(chunk.at + 2 * n, chunk.at + 3 * n);
  const p3 = chunks.subarray(chunk.at + 3 * n, chunk.at + 4 * n);
  const out = new make(n);
  if (chunk.kind === 'f32') {
    const word = new Uint32Array(1);
    const float = new Float32Array(word.buffer);
    for (let i = 0; i < n; ++i) {
      word[0] = p0[i] | (p1[i] << 8) | (p2[i] << 16) | (p3[i] << 24);
      out[i] = float[0];
    }
  } else {
    for (let column = 0, i = 0; column < chunk.count; ++column) {
      const step = chunk.step![column];
      let now = 0, slope = 0;
      for (let row = 0; row < chunk.rows; ++row, ++i) {
        const folded = (p0[i] | (p1[i] << 8) | (p2[i] << 16) | (p3[i] << 24)) >>> 0;
        const difference = folded & 1 ? -(folded + 1) / 2 : folded / 2;
        slope = row < 2 ? difference : slope + difference;
        now += slope;
        out[i] = now * step;
      }
    }
  }
  for (const [column, first, rows] of chunk.missing ?? []) {
    if (!(isCount(column) && isCount(first) && isCount(rows) && column < chunk.count && first + rows <= chunk.rows))
      throw new BadView('the list of missing values is damaged.');
    out.fill(NaN, column * chunk.rows + first, column * chunk.rows + first + rows);
  }
  return out;
}
