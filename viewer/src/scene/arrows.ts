// Forces and reactions as arrows at the frame they act on, all with one scale.
import { Color, Group, InstancedMesh, Matrix4, MeshStandardMaterial, Vector3 } from 'three';
import type { FrameInfo, Run } from '../run.ts';
import * as geometry from './geometry.ts';
import type { Poses } from './poses.ts';
import { between, crowded } from './transform.ts';

interface Arrow {
  frame: FrameInfo;
  signals: [number, number, number];
}

/** One arrow for each force: never a sum over a pair of bodies. */
function findArrows(run: Run): Arrow[] {
  const arrows: Arrow[] = [];
  for (const element of run.header.elements) {
    const quantity = element.of === 'force' ? 'force_on_second' : 'force';
    const signals = run.vector(element.of, element.name, quantity);
    if (signals && element.frames.length >= 2) arrows.push({ frame: element.frames[1], signals });
  }
  return arrows;
}

const from = new Vector3(), force = new Vector3(), neck = new Vector3(), tip = new Vector3(), matrix = new Matrix4();

export class Arrows {
  readonly group = new Group();
  /** The force of an arrow as long as a tenth of the scene; 0 if there is none. */
  readonly newtonsPerTenth: number;
  private readonly arrows: Arrow[];
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly metresPerNewton: number;
  private readonly thickness: number;

  constructor(private readonly run: Run, private readonly size: number) {
    this.arrows = findArrows(run);
    this.thickness = size * crowded(this.arrows.length);
    const typical = this.percentile(0.98);
    this.metresPerNewton = typical > 0 ? (0.22 * size) / typical : 0;
    this.newtonsPerTenth = typical > 0 ? (0.1 * size) / this.metresPerNewton : 0;
    const material = new MeshStandardMaterial({ color: new Color('#e0243b'), roughness: 0.6, depthTest: false, transparent: true });
    this.shafts = new InstancedMesh(geometry.shaft(), material, Math.max(1, this.arrows.length));
    this.heads = new InstancedMesh(geometry.head(), material, Math.max(1, this.arrows.length));
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 20;
      mesh.count = 0; // else a huge arrow stands at the origin
      this.group.add(mesh);
    }
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

  update(poses: Poses, t: number): void {
    if (!this.group.visible || this.metresPerNewton === 0) return;
    let count = 0;
    for (const { frame, signals } of this.arrows) {
      force.set(...(signals.map((i) => this.run.valueAt(i, t)) as [number, number, number]));
      const length = Math.min(force.length() * this.metresPerNewton, 0.5 * this.size);
      if (!(length > 0.004 * this.size)) continue; // shorter than its own head, and what is not a number
      from.set(...frame.position).applyMatrix4(poses.of(this.run.body(frame.body)));
      force.setLength(length);
      const headLength = Math.min(0.03 * this.thickness, 0.45 * length);
      tip.copy(from).add(force);
      neck.copy(tip).addScaledVector(force, -headLength / length);
      this.shafts.setMatrixAt(count, between(from, neck, 0.0042 * this.thickness, matrix));
      this.heads.setMatrixAt(count, between(neck, tip, 0.36 * headLength, matrix));
      ++count;
    }
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
