// The path of a body's origin over the whole run.
import { Vector2 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { poseColumns, type Run } from '../run.ts';

const mostPoints = 5000;

export class Trace {
  readonly line: Line2;
  private readonly material = new LineMaterial({ color: 0xe8720c, linewidth: 2 });
  private body: number | null = null;

  constructor(private readonly run: Run) {
    this.line = new Line2(new LineGeometry(), this.material);
    this.line.visible = false;
    this.line.frustumCulled = false;
  }

  /** The run has grown, or has other rows. */
  renew(): void {
    const { body } = this, { visible } = this.line;
    this.body = null;
    if (visible) this.show(body);
  }

  show(body: number | null): void {
    this.line.visible = body !== null;
    if (body === null || body === this.body) return;
    this.body = body;
    const { poses, rows, stride: length } = this.run;
    const stride = Math.max(1, Math.ceil(rows / mostPoints));
    const points: number[] = [];
    for (let row = 0; row < rows; row += stride) {
      const point = [0, 1, 2].map((column) => poses[(poseColumns * body + column) * length + row]);
      if (point.every(Number.isFinite)) points.push(...point);
    }
    if (points.length < 6) points.push(...points.slice(0, 3));
    this.line.geometry.dispose();
    this.line.geometry = new LineGeometry();
    this.line.geometry.setPositions(points);
  }

  paint(colour: string): void {
    this.material.color.set(colour);
  }

  resize(width: number, height: number): void {
    this.material.resolution = new Vector2(width, height);
  }
}
