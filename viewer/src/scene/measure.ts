// A distance between two points on bodies, followed through time.
import { Matrix4, Vector3 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import type { Poses } from './poses.ts';

interface Mark {
  body: number;
  local: Vector3;
}

export class Measure {
  readonly line: Line2;
  readonly material = new LineMaterial({ color: 0x1f6fd6, linewidth: 2.5, depthTest: false });
  private marks: Mark[] = [];

  constructor() {
    this.line = new Line2(new LineGeometry(), this.material);
    this.line.visible = false;
    this.line.frustumCulled = false;
    this.line.renderOrder = 30;
  }

  clear(): void {
    this.marks = [];
    this.line.visible = false;
  }

  /** A third point begins anew. */
  add(body: number, point: Vector3, poses: Poses): void {
    if (this.marks.length === 2) this.marks = [];
    this.marks.push({ body, local: point.clone().applyMatrix4(new Matrix4().copy(poses.of(body)).invert()) });
  }

  get count(): number {
    return this.marks.length;
  }

  /** The way from the first point to the second, and its middle. */
  update(poses: Poses): { way: Vector3; middle: Vector3 } | null {
    this.line.visible = this.marks.length === 2;
    if (this.marks.length < 2) return null;
    const [p, q] = this.marks.map((mark) => mark.local.clone().applyMatrix4(poses.of(mark.body)));
    this.line.geometry.setPositions([...p.toArray(), ...q.toArray()]);
    return { way: q.clone().sub(p), middle: p.clone().add(q).multiplyScalar(0.5) };
  }
}
