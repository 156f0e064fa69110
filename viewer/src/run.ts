// A result in memory: bodies, elements and shapes as the run described them, poses and signals by row.
import { BadView, check, type Chunk, decode, unpack } from './trv1.ts';

export type Vec3 = [number, number, number];
export type Quaternion = [w: number, x: number, y: number, z: number];

export interface BodyInfo {
  name: string;
  kind?: string;
  mass?: number;
  center_of_mass?: Vec3;
  modes?: number; // of one that bends
}

export interface ShapeInfo {
  name: string;
  type: string;
  body: string;
  size: number[];
  position: Vec3;
  quaternion: Quaternion;
  color?: string;
  mesh?: number; // of a mesh: its number
}

/** Points by columns, triangles as numbers of points, three by three. */
export interface Mesh {
  points: Float32Array;
  count: number;
  triangles: Uint32Array;
}

export interface FrameInfo {
  body: string;
  position: Vec3;
  quaternion: Quaternion;
}

export interface ElementInfo {
  name: string;
  of: 'joint' | 'motion' | 'force';
  type: string;
  attachment: string;
  frames: FrameInfo[];
  numbers?: Record<string, number | number[] | boolean>; // its fields: stiffness, teeth, internal ...
  words?: Record<string, string>; // those that choose: the shapes of a contact
}

/** A field that is a number; not-a-number where it is none. */
export function numberOf({ numbers = {} }: ElementInfo, field: string): number {
  const value = numbers[field];
  return typeof value === 'number' ? value : NaN;
}

export function numbersOf({ numbers = {} }: ElementInfo, field: string): number[] {
  const value = numbers[field];
  return Array.isArray(value) ? value : [];
}

export interface SignalInfo {
  name: string;
  unit: string;
  table: number;
  text?: string;
  flag?: string; // a caveat
  of?: string; // what it belongs to: body, joint, force, output, energy ...
  element?: string; // its name
  quantity?: string;
  axis?: string;
  on?: string; // the body that it acts on, where there is a choice
  pose?: number; // its column among the poses, if it is one
}

/** A body that bends: points of its beams, x of all, then y, z; how a unit of each mode moves them, likewise; the pieces
 * between, first ends, then second ones. Where its stress is known, `stresses` are what a unit of each mode makes of it, in
 * ten columns of all pieces (trammel/run/drawing.h). */
export interface Bending {
  body: number;
  count: number; // of points
  points: Float32Array;
  shapes: Float32Array;
  segments: Float32Array;
  radii: Float32Array;
  round: Float32Array | null; // 1: the section of a piece is round
  stresses: Float32Array | null;
  modes: number;
  first: number; // of its modal coordinates among those of all bodies
  signals: number[]; // its modal coordinates; none if they were not put into the page
}

interface BendingInfo {
  body: string;
  points: Chunk;
  segments: Chunk;
  radii: Chunk;
  shapes: Chunk;
  round?: Chunk;
  stresses?: Chunk;
}

/** One freedom of a model without a run: the mechanism at each of its values, the other freedoms as drawn. */
export interface FreedomInfo {
  of: string;
  element: string;
  quantity: string;
  unit: string;
  drawn: number; // the row in which it is as drawn
  ends: [low: boolean, high: boolean]; // it cannot be assembled beyond
  values: Chunk;
  poses: Chunk;
  modal?: Chunk; // coordinates of all bodies that bend
}

/** A mode of vibration, or one that does not oscillate. */
export interface ModeInfo {
  frequency: number; // Hz
  damping: number; // ratio
  eigenvalue: [real: number, imaginary: number]; // rad/s
  oscillates: boolean;
  kind: string; // 'rigid', 'unstable' or nothing
  bodies: string[]; // that move most
}

/** All modes of one sort. `shapes`: a row for each mode; the columns are the parts of every body, see `shape`. */
export interface ModeSet {
  damped: boolean;
  found: number; // the page may hold fewer
  modes: ModeInfo[];
  shapes: Chunk;
  modal?: Chunk; // coordinates of the bodies that bend; of damped modes real ones of a body, then imaginary ones
}

/** Poses by columns over an axis: the time of a run, or the values of a freedom. */
export interface Course {
  values: Float64Array;
  poses: Float32Array;
  stride?: number; // from one column to the next, if there is room for more rows than there are
}

/** Something that happened at an instant: a contact that closed, a switch that turned. */
export interface EventInfo {
  time: number;
  text: string;
}

interface TableInfo {
  name: string;
  time: Chunk;
  values: (Chunk & { signals: number[] })[];
}

export interface Header {
  title: string;
  program: string;
  status: string;
  method: string;
  date: string;
  model_file: string;
  failure: { what?: string; t?: number } | null;
  events?: EventInfo[];
  gravity: Vec3 | null;
  bodies: BodyInfo[];
  shapes: ShapeInfo[];
  elements: ElementInfo[];
  signals: SignalInfo[];
  plots: number[][];
  tables: TableInfo[];
  poses: Chunk;
  flexible?: BendingInfo[];
  freedoms?: FreedomInfo[];
  modes?: { around: string; notes: string[]; sets: ModeSet[] };
  meshes?: { points: Chunk; triangles: Chunk }[];
}

export const ground = -1;
export const poseColumns = 7; // x y z, then w x y z
export const stressColumns = 10; // of each mode and piece: five stresses at one end, five at the other
export const shapeColumns = 12; // of each body: displacement and rotation, x y z each; the same again, imaginary

const mostValues = 8_000_000; // of a run that goes on: 32 MB
const mostEvents = 10_000; // of such a run

export class Run {
  time: Float64Array;
  rows: number;
  poses: Float32Array; // by columns, each `stride` long
  stride: number;
  private room: Float32Array[] | null = null; // of a run that goes on: each signal, as long as `stride`
  private times: Float64Array = new Float64Array();
  private readonly bodyByName = new Map<string, number>();
  private readonly signalsByElement = new Map<string, number[]>();
  private tableTimes: (Float64Array | undefined)[] = [];
  private values: (Float32Array | undefined)[] = [];
  private readonly meshes: (Mesh | undefined)[] = [];
  private readonly sweeps: (Course | undefined)[] = [];
  private readonly shapes = new Map<ModeSet, Float32Array>();
  private readonly modals = new Map<Chunk, Float32Array>();
  /** The bodies that bend and are drawn so. */
  readonly bending: Bending[];
  /** The first modal coordinate of each body among all, and how many there are. */
  private readonly modalOf: number[] = [];
  private readonly modalCount: number;

  constructor(readonly header: Header, private chunks: Uint8Array) {
    for (const key of ['bodies', 'shapes', 'elements', 'signals', 'plots', 'tables'] as const)
      if (!Array.isArray(header[key])) throw new BadView(`its data have no list of ${key}.`);
    if (header.tables.length === 0) throw new BadView('its data have no table.');
    for (const table of header.tables) for (const chunk of [table.time, ...table.values]) check(chunk, chunks);
    this.time = this.tableTime(0);
    this.rows = this.stride = this.time.length;
    if (this.rows === 0) throw new BadView('the result has no rows: nothing was recorded.');
    if (header.poses.count !== poseColumns * header.bodies.length || (header.poses.count > 0 && header.poses.rows !== this.rows))
      throw new BadView('the positions do not belong to its bodies.');
    this.poses = decode(header.poses, chunks, Float32Array);
    this.freedoms.forEach((info) => checkFreedom(info, header.poses.count, chunks));
    if (header.modes) checkModes(header.modes, header.bodies.length, chunks);
    header.bodies.forEach((body, i) => this.bodyByName.set(body.name, i));
    header.signals.forEach((signal, i) => {
      const key = `${signal.of ?? ''} ${signal.element ?? ''}`;
      const list = this.signalsByElement.get(key);
      if (list) list.push(i);
      else this.signalsByElement.set(key, [i]);
    });
    let first = 0;
    for (const { modes = 0 } of header.bodies) {
      this.modalOf.push(first);
      first += modes;
    }
    this.modalCount = first;
    this.bending = (header.flexible ?? []).filter(({ body }) => this.bodyByName.has(body)).map((info) => this.bendingOf(info));
  }

  private bendingOf({ body: name, ...info }: BendingInfo): Bending {
    const body = this.body(name), { modes = 0 } = this.header.bodies[body];
    const [points, segments, radii, shapes] = [info.points, info.segments, info.radii, info.shapes].map((chunk) => decode(chunk, this.chunks, Float32Array));
    const { rows: count } = info.points, ok = info.points.count === 3 && (modes === 0 || info.shapes.rows === count) && info.shapes.count === 3 * modes;
    const stressed = info.stresses !== undefined, pieces = info.radii.rows;
    const fits = !stressed || (info.round?.rows === pieces && info.round.count === 1 && info.stresses!.rows === pieces && info.stresses!.count === stressColumns * modes);
    if (!ok || !fits || info.segments.count !== 2 || info.radii.rows !== info.segments.rows || !segments.every((i) => Number.isInteger(i) && i >= 0 && i < count))
      throw new BadView(`the shape of '${name}' is damaged.`);
    const signals = this.signalsOf('body', name).filter((i) => this.header.signals[i].quantity === 'mode').sort((i, j) => Number(this.header.signals[i].axis) - Number(this.header.signals[j].axis));
    const round = stressed ? decode(info.round!, this.chunks, Float32Array) : null, stresses = stressed ? decode(info.stresses!, this.chunks, Float32Array) : null;
    return { body, count, points, shapes, segments, radii, round, stresses, modes, first: this.modalOf[body], signals: signals.length === modes ? signals : [] };
  }

  private modal(chunk: Chunk): Float32Array {
    if (!this.modals.has(chunk)) this.modals.set(chunk, decode(chunk, this.chunks, Float32Array));
    return this.modals.get(chunk)!;
  }

  /** A modal coordinate, counted over all bodies, with one freedom moved. */
  modalOfSweep(freedom: number, value: number, coordinate: number): number {
    const { modal } = this.freedoms[freedom];
    if (!modal || coordinate >= modal.count) return 0;
    const values = this.modal(modal), at = coordinate * modal.rows, { row, part } = this.place(value, this.sweep(freedom).values);
    return part > 0 ? values[at + row] + part * (values[at + row + 1] - values[at + row]) : values[at + row];
  }

  /** The modal coordinates of all bodies in a mode, real and imaginary. */
  modalOfMode({ damped, modal }: ModeSet, mode: number): { real: Float32Array; imaginary: Float32Array } {
    const real = new Float32Array(this.modalCount), imaginary = new Float32Array(this.modalCount);
    if (modal?.count === (damped ? 2 : 1) * this.modalCount) {
      const values = this.modal(modal), at = (column: number) => values[column * modal.rows + mode];
      this.header.bodies.forEach(({ modes = 0 }, body) => {
        const first = this.modalOf[body], column = damped ? 2 * first : first;
        for (let i = 0; i < modes; ++i) {
          real[first + i] = at(column + i);
          if (damped) imaginary[first + i] = at(column + modes + i);
        }
      });
    }
    return { real, imaginary };
  }

  /** The triangles of a shape; nothing if the result has none for it. */
  mesh(shape: ShapeInfo): Mesh | undefined {
    const info = shape.mesh === undefined ? undefined : this.header.meshes?.[shape.mesh];
    return info && (this.meshes[shape.mesh!] ??= decodeMesh(info, this.chunks));
  }

  get events(): EventInfo[] {
    return (this.header.events ?? []).filter((event) => Number.isFinite(event?.time) && typeof event.text === 'string');
  }

  /** Those that have happened since. */
  addEvents(events: EventInfo[]): void {
    const all = (this.header.events ??= []), last = all.at(-1)?.time ?? -Infinity;
    const isNew = ({ time, text }: EventInfo) => time > last || (time === last && !all.some((known) => known.time === time && known.text === text));
    for (const event of events) if (all.length < mostEvents && isNew(event)) all.push(event);
  }

  get failure(): { what?: string; t?: number } | null {
    return this.header.failure;
  }

  get freedoms(): FreedomInfo[] {
    return this.header.freedoms ?? [];
  }

  /** How a freedom moves the mechanism. */
  sweep(freedom: number): Course {
    const { values, poses } = this.freedoms[freedom];
    return (this.sweeps[freedom] ??= { values: decode(values, this.chunks, Float64Array), poses: decode(poses, this.chunks, Float32Array) });
  }

  /** Of a page of modes: undamped and damped ones. */
  get modeSets(): ModeSet[] | null {
    return this.header.modes?.sets ?? null;
  }

  /** How every body moves in a mode: `shapeColumns` numbers for each. Undamped modes have no imaginary part. */
  shape(set: ModeSet, mode: number): Float32Array {
    const { rows, count } = set.shapes, given = set.damped ? shapeColumns : shapeColumns / 2;
    if (!this.shapes.has(set)) this.shapes.set(set, decode(set.shapes, this.chunks, Float32Array));
    const all = this.shapes.get(set)!, out = new Float32Array((count / given) * shapeColumns);
    for (let column = 0; column < count; ++column) out[Math.floor(column / given) * shapeColumns + (column % given)] = all[column * rows + mode];
    return out;
  }

  get end(): number {
    return this.time[this.rows - 1];
  }

  /** The number of a body, or `ground`. */
  body(name: string): number {
    return this.bodyByName.get(name) ?? ground;
  }

  tableTime(table: number): Float64Array {
    return (this.tableTimes[table] ??= decode(this.header.tables[table].time, this.chunks, Float64Array));
  }

  /** All values of a signal. Chunks are decoded when the first of their signals is asked for. */
  signal(index: number): Float32Array {
    const info = this.header.signals[index];
    if (info.pose !== undefined) return this.poses.subarray(info.pose * this.stride, info.pose * this.stride + this.rows);
    if (this.room) return this.room[index].subarray(0, this.rows);
    if (!this.values[index]) {
      const chunk = this.header.tables[info.table].values.find((c) => c.signals.includes(index));
      if (!chunk) throw new BadView(`signal '${info.name}' has no values.`);
      const all = decode(chunk, this.chunks, Float32Array);
      chunk.signals.forEach((signal, i) => (this.values[signal] = all.subarray(i * chunk.rows, (i + 1) * chunk.rows)));
    }
    return this.values[index]!;
  }

  /** Stretches of rows, from the first to the last, in which a signal has no value. */
  gaps(index: number): [first: number, last: number][] {
    const chunk = this.room ? undefined : this.header.tables[this.header.signals[index].table].values.find((c) => c.signals.includes(index));
    if (chunk) return (chunk.missing ?? []).filter(([column]) => chunk.signals[column] === index).map(([, first, rows]) => [first, first + rows - 1]);
    const found: [number, number][] = [];
    this.signal(index).forEach((x, row) => {
      const last = found.at(-1);
      if (!Number.isNaN(x)) return;
      if (last?.[1] === row - 1) last[1] = row;
      else found.push([row, row]);
    });
    return found;
  }

  /** Makes room for rows to come. When it is used up, every second row leaves: the whole run stays. */
  private makeRoom(): void {
    const { signals, bodies } = this.header, { rows, stride, poses } = this;
    const most = Math.min(10_000, Math.max(500, Math.floor(mostValues / (signals.length + 1))));
    const every = rows * 2 > most ? 2 : 1, kept = Math.ceil(rows / every), grown = Math.max(64, 2 * kept);
    const copy = <T extends Float32Array | Float64Array>(from: T, to: T) => {
      for (let row = 0; row < kept; ++row) to[row] = from[row * every];
      return to;
    };
    const all = signals.map((_, i) => this.signal(i));
    this.times = copy(this.time, new Float64Array(grown));
    this.room = all.map((values) => copy(values, new Float32Array(grown)));
    this.poses = new Float32Array(poseColumns * bodies.length * grown);
    for (let column = 0; column < poseColumns * bodies.length; ++column)
      copy(poses.subarray(column * stride, column * stride + rows), this.poses.subarray(column * grown, (column + 1) * grown));
    this.rows = kept;
    this.stride = grown;
  }

  /** A row of a run that goes on: all signals of the first table. */
  append(t: number, values: Float32Array): void {
    if (!(t > this.end) || values.length !== this.header.signals.length) return;
    if (!this.room || this.rows === this.stride) this.makeRoom();
    const row = this.rows++;
    this.times[row] = t;
    values.forEach((value, i) => {
      this.room![i][row] = value;
      const { pose } = this.header.signals[i];
      if (pose !== undefined) this.poses[pose * this.stride + row] = value;
    });
    this.time = this.tableTimes[0] = this.times.subarray(0, this.rows);
  }

  /** Takes the rows of another result of the same model. False: it is another model. */
  adopt(other: Run): boolean {
    const names = ({ bodies, signals }: Header) => [...bodies, ...signals].map(({ name }) => name).join('\n');
    if (names(this.header) !== names(other.header)) return false;
    const { tables, poses, status, failure, events } = other.header;
    Object.assign(this.header, { tables, poses, status, failure, events });
    this.chunks = other.chunks;
    this.time = other.time;
    this.rows = other.rows;
    this.poses = other.poses;
    this.stride = other.stride;
    this.room = null;
    this.values = [];
    this.tableTimes = [];
    return true;
  }

  /** The signals of an element, in the order of the result. */
  signalsOf(of: string, element: string): number[] {
    return this.signalsByElement.get(`${of} ${element}`) ?? [];
  }

  /** The three components of a vector, or nothing if one was not put into the page. */
  vector(of: string, element: string, quantity: string, on?: string): [number, number, number] | undefined {
    const found = ['x', 'y', 'z'].map((axis) =>
      this.signalsOf(of, element).find((i) => {
        const s = this.header.signals[i];
        return s.quantity === quantity && s.axis === axis && s.on === on;
      }),
    );
    return found.every((i) => i !== undefined) ? (found as [number, number, number]) : undefined;
  }

  /** The signal of another run that is the same quantity of the same thing. */
  sameSignal(info: SignalInfo): number {
    const same = (key: 'of' | 'element' | 'quantity' | 'axis' | 'on', s: SignalInfo) => s[key] === info[key];
    return info.of === undefined
      ? this.header.signals.findIndex((s) => s.name === info.name)
      : this.header.signals.findIndex((s) => same('of', s) && same('element', s) && same('quantity', s) && same('axis', s) && same('on', s));
  }

  /** The last row at or before `t`, and the part of the way to the next one. */
  place(t: number, time: Float64Array = this.time): { row: number; part: number } {
    const last = time.length - 1;
    if (!(t > time[0])) return { row: 0, part: 0 };
    if (t >= time[last]) return { row: last, part: 0 };
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t) low = middle;
      else high = middle;
    }
    return { row: low, part: (t - time[low]) / (time[high] - time[low]) };
  }

  /** A signal at any time, linear between rows. */
  valueAt(index: number, t: number): number {
    const values = this.signal(index);
    const { row, part } = this.place(t, this.tableTime(this.header.signals[index].table));
    return part > 0 ? values[row] + part * (values[row + 1] - values[row]) : values[row];
  }
}

function decodeMesh(info: { points: Chunk; triangles: Chunk }, chunks: Uint8Array): Mesh {
  const points = decode(info.points, chunks, Float32Array), corners = decode(info.triangles, chunks, Float64Array);
  const count = info.points.rows, { rows } = info.triangles;
  if (info.points.count !== 3 || info.triangles.count !== 3 || !corners.every((i) => Number.isInteger(i) && i >= 0 && i < count))
    throw new BadView('a mesh of it is damaged.');
  return { points, count, triangles: Uint32Array.from({ length: corners.length }, (_, k) => corners[(k % 3) * rows + Math.floor(k / 3)]) };
}

function checkFreedom(info: FreedomInfo, poseCount: number, chunks: Uint8Array): void {
  for (const chunk of [info.values, info.poses, ...(info.modal ? [info.modal] : [])]) check(chunk, chunks);
  const { values, poses, drawn, ends } = info;
  const ok = values.count === 1 && values.rows > 0 && poses.count === poseCount && poses.rows === values.rows && (!info.modal?.count || info.modal.rows === values.rows) && drawn >= 0 && drawn < values.rows && Array.isArray(ends);
  if (!ok) throw new BadView(`the range of '${info.element}' is damaged.`);
}

function checkModes({ around, notes, sets }: NonNullable<Header['modes']>, bodies: number, chunks: Uint8Array): void {
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((text) => typeof text === 'string');
  const isMode = (m: ModeInfo) =>
    Number.isFinite(m?.frequency) && Number.isFinite(m.damping) && Array.isArray(m.eigenvalue) && m.eigenvalue.length === 2 && m.eigenvalue.every(Number.isFinite) && typeof m.kind === 'string' && areTexts(m.bodies);
  let ok = typeof around === 'string' && areTexts(notes) && Array.isArray(sets);
  for (const set of ok ? sets : []) {
    const { damped, found, modes, shapes, modal } = set ?? {};
    check(shapes, chunks);
    if (modal) check(modal, chunks);
    const columns = (damped ? shapeColumns : shapeColumns / 2) * bodies;
    ok &&= Array.isArray(modes) && modes.length > 0 && modes.every(isMode) && found >= modes.length && shapes.count === columns && (columns === 0 || shapes.rows === modes.length) && (!modal?.count || modal.rows === modes.length);
  }
  if (!ok) throw new BadView('its list of modes is damaged.');
}

/** Unpacks what `trammel view` packed. */
export async function openRun(packed: Uint8Array): Promise<Run> {
  let bytes: Uint8Array;
  try {
    const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new BadView('its data are damaged or cut off.');
  }
  const { header, chunks } = unpack(bytes);
  return new Run(header as unknown as Header, chunks);
}
