// A line from the point where a body was grabbed to where the mouse draws it.
import { BufferGeometry, Line, LineBasicMaterial, Vector3 } from 'three';
import type { Poses } from './poses.ts';

export class Tether {
  readonly line = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]), new LineBasicMaterial({ color: 0xe0243b, depthTest: false }));
  readonly target = new Vector3();
  readonly place = new Vector3();
  private grabbed: { body: number; local: Vector3 } | null = null;

  constructor() {
    this.line.visible = false;
    this.line.frustumCulled = false;
    this.line.renderOrder = 30;
  }

  grab(body: number, local: Vector3 | null): void {
    this.grabbed = local && { body, local };
  }

  update(poses: Poses): void {
    this.line.visible = this.grabbed !== null;
    if (!this.grabbed) return;
    this.place.copy(this.grabbed.local).applyMatrix4(poses.of(this.grabbed.body));
    this.line.geometry.setFromPoints([this.place, this.target]);
  }
}
