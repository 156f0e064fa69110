// Forces and torques, also those of joints, as arrows at the frame they act on, or at the place that the result says: all
// forces with one scale, all torques with another. A torque has two heads, so that colour is not its only sign.
import { Color, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Vector3 } from 'three';
import type { ElementInfo, FrameInfo, Run } from '../run.ts';
import * as geometry from './geometry.ts';
import type { Poses } from './poses.ts';
import { between, crowded } from './transform.ts';

export interface ArrowKind {
  quantity: 'force' | 'torque';
  unit: string;
  colour: string;
  heads: 1 | 2;
}
export const forceArrows: ArrowKind = { quantity: 'force', unit: 'N', colour: '#e0243b', heads: 1 };
export const torqueArrows: ArrowKind = { quantity: 'torque', unit: 'N m', colour: '#7a3fd0', heads: 2 };

interface Arrow {
  frame: FrameInfo;
  signals: [number, number, number];
  place?: [number, number, number]; // of a contact: signals, in the world
}

/** A gear or coupler acts on each body of its joints; everything else on its second body. */
function arrowsOf(run: Run, element: ElementInfo, quantity: string): Arrow[] {
  const { of, name, frames, attachment } = element;
  const arrow = (frame: FrameInfo | undefined, key: string, on?: string): Arrow[] => {
    const signals = frame && run.vector(of, name, key, on);
    return signals ? [{ frame, signals }] : [];
  };
  if (attachment === 'joints') {
    const bodies = [...new Set(frames.map((frame) => frame.body))];
    return bodies.flatMap((body) => arrow(frames.find((frame) => frame.body === body), quantity, body));
  }
  const place = quantity === 'force' && of === 'force' ? run.vector(of, name, 'place') : undefined;
  return arrow(frames[1], of === 'force' ? `${quantity}_on_second` : quantity).map((one) => ({ ...one, place }));
}

const from = new Vector3(), way = new Vector3(), neck = new Vector3(), tip = new Vector3(), matrix = new Matrix4();

export class Arrows {
  readonly group = new Group();
  /** What an arrow as long as a tenth of the scene stands for; 0 if there is none. */
  perTenth = 0;
  private readonly arrows: Arrow[];
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private lengthPerUnit = 0;
  private readonly thickness: number;

  constructor(private readonly run: Run, private readonly size: number, readonly kind: ArrowKind) {
    this.arrows = run.header.elements.flatMap((element) => arrowsOf(run, element, kind.quantity));
    this.thickness = size * crowded(this.arrows.length);
    this.setScale();
    const material = new MeshStandardMaterial({ color: new Color(kind.colour), roughness: 0.6, depthTest: false, transparent: true });
    const most = Math.max(1, this.arrows.length);
    this.shafts = new InstancedMesh(geometry.shaft(), material, most);
    this.heads = new InstancedMesh(geometry.head(), material, most * kind.heads);
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 20;
      mesh.count = 0; // else a huge arrow stands at the origin
      this.group.add(mesh);
    }
  }

  /** One scale for all arrows and all times so far. */
  setScale(): void {
    const typical = this.percentile(0.98);
    this.lengthPerUnit = typical > 0 ? (0.22 * this.size) / typical : 0;
    this.perTenth = typical > 0 ? (0.1 * this.size) / this.lengthPerUnit : 0;
  }

  /** Over all arrows and times; zeros do not count. */
  private percentile(part: number): number {
    const stride = Math.max(1, Math.ceil((this.run.rows * this.arrows.length) / 200_000));
    const sizes: number[] = [];
    for (const { signals } of this.arrows) {
      const [x, y, z] = signals.map((i) => this.run.signal(i));
      for (let row = 0; row < x.length; row += stride) {
        const length = Math.hypot(x[row], y[row], z[row]);
        if (length > 0) sizes.push(length);
      }
    }
    sizes.sort((p, q) => p - q);
    return sizes[Math.floor(part * (sizes.length - 1))] ?? 0;
  }

  /** Without a time there are none. */
  update(poses: Poses, t: number | null): void {
    if (!this.group.visible || this.lengthPerUnit === 0) return;
    let count = 0;
    const vectorAt = (signals: [number, number, number], out: Vector3) => out.set(...(signals.map((i) => this.run.valueAt(i, t!)) as [number, number, number]));
    for (const { frame, signals, place } of t === null ? [] : this.arrows) {
      vectorAt(signals, way);
      const length = Math.min(way.length() * this.lengthPerUnit, 0.5 * this.size);
      if (!(length > 0.004 * this.size)) continue; // shorter than its own head, and what is not a number
      if (place) vectorAt(place, from);
      else poses.place(frame, from);
      this.place(count++, way.setLength(length), length);
    }
    this.shafts.count = count;
    this.heads.count = count * this.kind.heads;
    for (const mesh of [this.shafts, this.heads]) mesh.instanceMatrix.needsUpdate = true;
  }

  /** From `from` along `along`, the heads one behind the other at its tip. */
  private place(index: number, along: Vector3, length: number): void {
    const { heads } = this.kind, headLength = Math.min(0.03 * this.thickness, (0.45 * length) / heads);
    tip.copy(from).add(along);
    for (let head = 0; head < heads; ++head) {
      neck.copy(tip).addScaledVector(along, -headLength / length);
      this.heads.setMatrixAt(index * heads + head, between(neck, tip, 0.36 * headLength, matrix));
      tip.copy(neck);
    }
    this.shafts.setMatrixAt(index, between(from, neck, 0.0042 * this.thickness, matrix));
  }
}
