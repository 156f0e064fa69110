// The camera: which way is up, the four views, framing, and following a body.
import { Box3, type Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Run } from '../run.ts';

export type ViewName = 'iso' | 'front' | 'side' | 'top';

/** Axes of the world as a person in front of the mechanism has them. */
export interface Compass {
  right: Vector3;
  ahead: Vector3;
  up: Vector3;
}

/** Up is the axis most opposed to gravity; z without gravity. */
export function compassOf(run: Run): Compass {
  const g = run.header.gravity ?? [0, 0, 0], largest = Math.max(...g.map(Math.abs));
  const axis = largest === Math.abs(g[2]) ? 2 : largest === Math.abs(g[1]) ? 1 : 0;
  const up = new Vector3().setComponent(axis, g[axis] > 0 ? -1 : 1);
  const right = axis === 0 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0);
  return { right, ahead: up.clone().cross(right), up }; // right-handed whichever way gravity points
}

const toWorld = (c: Compass, right: number, ahead: number, up: number) =>
  new Vector3().addScaledVector(c.right, right).addScaledVector(c.ahead, ahead).addScaledVector(c.up, up);

export class CameraRig {
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  private readonly followed = new Vector3();
  private following = false;

  constructor(canvas: HTMLCanvasElement, readonly compass: Compass, private readonly size: number, calm: boolean) {
    this.camera.up.copy(compass.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = !calm;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }

  /** Looks at the box from one of the named directions, near enough to fill the picture. */
  frame(box: Box3, view: ViewName = 'iso'): void {
    const centre = box.getCenter(new Vector3()), direction = this.direction(view, box);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360); // half the height of the picture at distance 1
    // Each corner must lie inside the cone of view.
    const right = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const up = new Vector3().crossVectors(direction, right).normalize();
    let distance = 0.2 * this.size;
    for (let i = 0; i < 8; ++i) {
      const corner = new Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(centre);
      const wide = Math.abs(corner.dot(right)) / (tall * this.camera.aspect), high = Math.abs(corner.dot(up)) / tall;
      distance = Math.max(distance, corner.dot(direction) + 1.14 * Math.max(wide, high));
    }
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.controls.update();
  }

  /** Flat mechanisms are looked at from in front of their plane. */
  private direction(view: ViewName, box: Box3): Vector3 {
    const c = this.compass, extent = box.getSize(new Vector3());
    const along = (axis: Vector3) => Math.abs(extent.dot(axis));
    const flat = (axis: Vector3) => along(axis) < 0.12 * Math.max(extent.x, extent.y, extent.z);
    switch (view) {
      case 'front': return toWorld(c, 0, -1, 0);
      case 'side': return toWorld(c, 1, 0, 0);
      case 'top': return toWorld(c, 0, -1e-3, 1).normalize();
      case 'iso':
        if (flat(c.ahead)) return toWorld(c, 0.5, -1.6, 0.42).normalize();
        if (flat(c.right)) return toWorld(c, 1.6, -0.5, 0.42).normalize();
        if (flat(c.up)) return toWorld(c, 0.35, -1, 1.25).normalize();
        return toWorld(c, 1, -1.25, 0.62).normalize();
    }
  }

  /** The camera moves along with `pose`, wherever it is turned to. */
  follow(pose: Matrix4 | null): void {
    if (!pose) {
      this.following = false;
      return;
    }
    const now = new Vector3().setFromMatrixPosition(pose);
    if (this.following && [now.x, now.y, now.z].every(Number.isFinite)) {
      const way = now.clone().sub(this.followed);
      this.camera.position.add(way);
      this.controls.target.add(way);
    }
    this.following = true;
    this.followed.copy(now);
  }

  /** Planes of the view that keep depth exact near and far. */
  adjustDepth(): void {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(distance / 200, 1e-4 * this.size);
    this.camera.far = distance + 80 * this.size;
    this.camera.updateProjectionMatrix();
  }
}
