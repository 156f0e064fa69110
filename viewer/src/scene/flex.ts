// Bodies that bend: a tube along each piece of their beams, its ends where the modes put them,
//
//   x = P (p + k sum phi_j q_j),
//
// with P the pose of the body, phi_j the shape of mode j, and k how many times as large deformations are drawn as they
// are. The colour of a piece says how far it has moved from where the undeformed body has it, or how large the von Mises
// stress is at that of its ends where it is larger.
import { Color, Group, type Intersection, InstancedMesh, Matrix4, MeshStandardMaterial, type Raycaster, Vector3 } from 'three';
import { type Bending, type FrameInfo, type Run, stressColumns } from '../run.ts';
import type { Colouring } from '../state.ts';
import * as geometry from './geometry.ts';
import type { Poses } from './poses.ts';
import { between } from './transform.ts';

const mostWork = 2e7; // products for the greatest displacement of a run
const thinnest = 0.002; // of the scene: what is thinner is not seen

/** From blue, where nothing has moved, to red. */
export const rampAt = (part: number, out: Color): Color => out.setHSL(0.62 * (1 - Math.min(1, part)), 0.72, 0.5);

const unstressed = new Color('#98a2ad'); // whose stress is not known

/** As trammel/flexible/section_stress.cc has it: the greatest on the outline of a section, of the stresses of tension, of
 * torsion at two pairs of sides, and of bending about two axes. */
function vonMises(round: boolean, tension: number, torsionY: number, torsionZ: number, bendingY: number, bendingZ: number): number {
  const [n, y, z] = [tension, bendingY, bendingZ].map(Math.abs), all = (sigma: number, tau: number) => Math.hypot(sigma, Math.sqrt(3) * tau);
  return round ? all(n + Math.hypot(y, z), torsionY) : Math.max(n + y + z, all(n + y, torsionY), all(n + z, torsionZ));
}

interface Part {
  bending: Bending;
  modal: Float32Array; // its coordinates now
  moved: Float32Array; // x of all points, y, z, in the axes of the body, as large as it is
  mesh: InstancedMesh;
  material: MeshStandardMaterial;
}

const a = new Vector3(), b = new Vector3(), rest = new Vector3(), matrix = new Matrix4(), colour = new Color();

export class Flex {
  readonly group = new Group();
  /** How many times as large as they are deformations are drawn. */
  magnified = 1;
  /** The displacement, and the stress, that are red. */
  greatest = 0;
  greatestStress = 0;
  colouring: Colouring = 'displacement';
  readonly hasStress: boolean;
  private readonly parts: Part[];
  private readonly places = new WeakMap<FrameInfo, { part: Part; point: number } | { part: null }>();

  constructor(private readonly run: Run, private readonly size: number) {
    this.parts = run.bending.map((bending) => {
      const material = new MeshStandardMaterial({ roughness: 0.6, metalness: 0.05, vertexColors: true });
      const mesh = new InstancedMesh(geometry.rod(), material, bending.radii.length);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = true;
      bending.radii.forEach((_, i) => mesh.setColorAt(i, rampAt(0, colour)));
      this.group.add(mesh);
      return { bending, material, mesh, modal: new Float32Array(bending.modes), moved: new Float32Array(3 * bending.count) };
    });
    this.hasStress = run.bending.some(({ stresses }) => stresses !== null);
    this.renew();
  }

  /** The run has grown, or has other rows. */
  renew(): void {
    const { run } = this, tried = run.freedoms.map((_, i) => run.sweep(i).values);
    const rows = run.rows + tried.reduce((sum, { length }) => sum + length, 0);
    this.greatest = this.greatestStress = 0;
    for (const part of this.parts) {
      const { signals, modes, count, first, stresses } = part.bending;
      const stride = Math.max(1, Math.ceil((rows * (3 * modes * count + (stresses?.length ?? 0))) / mostWork));
      const values = signals.map((i) => run.signal(i));
      for (let row = 0; row < run.rows; row += stride) this.widen(part, (mode) => values[mode]?.[row] ?? 0);
      tried.forEach((course, i) => {
        for (let row = 0; row < course.length; row += stride) this.widen(part, (mode) => run.modalOfSweep(i, course[row], first + mode));
      });
    }
  }

  private widen(part: Part, coordinate: (mode: number) => number): void {
    this.bend(part, coordinate);
    for (let i = 0; i < part.bending.count; ++i) this.greatest = Math.max(this.greatest, this.movedAt(part, i, a).length());
    if (part.bending.stresses) for (let i = 0; i < part.bending.radii.length; ++i) this.greatestStress = Math.max(this.greatestStress, this.stressOf(part, i));
  }

  /** Von Mises, at that end of a piece where it is larger. */
  private stressOf({ bending: { stresses, round, radii, modes }, modal }: Part, piece: number): number {
    const now = new Array<number>(stressColumns).fill(0), pieces = radii.length;
    for (let mode = 0; mode < modes; ++mode) for (let k = 0; k < stressColumns; ++k) now[k] += modal[mode] * stresses![(stressColumns * mode + k) * pieces + piece];
    const at = (end: number) => vonMises(round![piece] > 0.5, now[end], now[end + 1], now[end + 2], now[end + 3], now[end + 4]);
    return Math.max(at(0), at(stressColumns / 2));
  }

  /** phi q; coordinates without a value count as zero. */
  private bend({ bending, moved, modal }: Part, coordinate: (mode: number) => number): void {
    const { modes, shapes } = bending, n = moved.length;
    moved.fill(0);
    for (let mode = 0; mode < modes; ++mode) {
      const q = (modal[mode] = coordinate(mode) || 0);
      if (q) for (let k = 0; k < n; ++k) moved[k] += q * shapes[mode * n + k];
    }
  }

  private movedAt({ moved, bending: { count } }: Part, point: number, out: Vector3): Vector3 {
    return out.set(moved[point], moved[count + point], moved[2 * count + point]);
  }

  private pointAt({ bending: { points, count } }: Part, point: number, out: Vector3): Vector3 {
    return out.set(points[point], points[count + point], points[2 * count + point]);
  }

  /** At a time of the run, or with one freedom moved. */
  moveTo(t: number, tried: { freedom: number; value: number } | null): void {
    for (const part of this.parts) {
      const { bending: { signals, first } } = part;
      if (tried) this.bend(part, (mode) => this.run.modalOfSweep(tried.freedom, tried.value, first + mode));
      else this.bend(part, (mode) => (signals.length > 0 ? this.run.valueAt(signals[mode], t) : 0));
    }
  }

  /** By the modal coordinates of all bodies. */
  bendBy(modal: Float32Array): void {
    for (const part of this.parts) this.bend(part, (mode) => modal[part.bending.first + mode] ?? 0);
  }

  /** How each point moves with these modal coordinates, in the axes of its body; called with its place in them. */
  eachPoint(modal: Float32Array, take: (body: number, point: Vector3, moved: Vector3, index: number) => void): void {
    this.bendBy(modal);
    let index = 0;
    for (const part of this.parts) for (let i = 0; i < part.bending.count; ++i) take(part.bending.body, this.pointAt(part, i, a), this.movedAt(part, i, b), index++);
  }

  update(poses: Poses): void {
    for (const part of this.parts) {
      const { bending: { body, radii, segments }, mesh } = part, pose = poses.of(body), pieces = radii.length, scale = this.greatest || 1;
      const end = (point: number, out: Vector3) => this.movedAt(part, point, out).multiplyScalar(this.magnified).add(this.pointAt(part, point, rest)).applyMatrix4(pose);
      for (let i = 0; i < pieces; ++i) {
        const [from, to] = [segments[i], segments[pieces + i]];
        mesh.setColorAt(i, this.colourOf(part, i, from, to, scale));
        mesh.setMatrixAt(i, between(end(from, a), end(to, b), Math.max(radii[i], thinnest * this.size), matrix));
      }
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      mesh.boundingSphere = null; // picking computes it anew
    }
  }

  private colourOf(part: Part, piece: number, from: number, to: number, scale: number): Color {
    if (this.colouring === 'stress') return part.bending.stresses ? rampAt(this.stressOf(part, piece) / (this.greatestStress || 1), colour) : unstressed;
    return rampAt((0.5 * (this.movedAt(part, from, a).length() + this.movedAt(part, to, b).length())) / scale, colour);
  }

  /** How far the origin of a frame is drawn from where the undeformed body has it, in its axes; null where none bends. */
  shift(frame: FrameInfo, out: Vector3): Vector3 | null {
    let place = this.places.get(frame);
    if (!place) this.places.set(frame, (place = this.find(frame)));
    return place.part && this.movedAt(place.part, place.point, out).multiplyScalar(this.magnified);
  }

  /** Frames that bend stand at nodes. */
  private find(frame: FrameInfo): { part: Part; point: number } | { part: null } {
    const body = this.run.body(frame.body), part = this.parts.find(({ bending }) => bending.body === body);
    a.set(...frame.position);
    for (let point = 0; part && point < part.bending.count; ++point)
      if (this.pointAt(part, point, b).distanceTo(a) < 1e-4 * this.size) return { part, point };
    return { part: null };
  }

  select(body: number | null, paint: string): void {
    for (const { bending, material } of this.parts) material.emissive.set(bending.body === body ? paint : '#000000').multiplyScalar(0.45);
  }

  xray(on: boolean): void {
    for (const { material } of this.parts) {
      if (material.transparent !== on) material.needsUpdate = true;
      Object.assign(material, { transparent: on, opacity: on ? 0.35 : 1, depthWrite: !on });
    }
  }

  pick(ray: Raycaster): { body: number; point: Vector3 } | null {
    let best: { hit: Intersection; body: number } | null = null;
    for (const { bending: { body }, mesh } of this.parts)
      for (const hit of ray.intersectObject(mesh)) if (!best || hit.distance < best.hit.distance) best = { hit, body };
    return best && { body: best.body, point: best.hit.point };
  }
}
