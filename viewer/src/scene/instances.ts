// Many things of one geometry in one draw call: each with a matrix in the axes of its body and a colour.
import { type BufferGeometry, Color, InstancedMesh, type Material, Matrix4, Vector3 } from 'three';
import type { FrameInfo } from '../run.ts';
import type { Poses } from './poses.ts';

export interface Instance {
  body: number;
  local: Matrix4;
  colour: string;
  frame?: FrameInfo; // whose origin it stands at, also where the body bends
}

const world = new Matrix4(), colour = new Color(), place = new Vector3();

export class InstanceSet {
  readonly mesh: InstancedMesh;

  constructor(geometry: BufferGeometry, material: Material, private readonly instances: Instance[]) {
    this.mesh = new InstancedMesh(geometry, material, instances.length);
    this.mesh.frustumCulled = false; // its box would have to follow the motion
    instances.forEach((instance, i) => this.mesh.setColorAt(i, colour.set(instance.colour)));
  }

  update(poses: Poses): void {
    this.instances.forEach(({ body, local, frame }, i) => {
      world.multiplyMatrices(poses.of(body), local);
      if (frame && poses.flex) world.setPosition(poses.place(frame, place));
      this.mesh.setMatrixAt(i, world);
    });
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.boundingSphere = null; // picking computes it anew
  }

  /** Paints the instances of one body, and gives all others their own colour. */
  highlight(body: number | null, paint: string): void {
    this.instances.forEach((instance, i) =>
      this.mesh.setColorAt(i, colour.set(instance.body === body ? paint : instance.colour)),
    );
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  /** Gives every instance the colour of its body. */
  paint(colourOf: (body: number) => Color): void {
    this.instances.forEach(({ body }, i) => this.mesh.setColorAt(i, colourOf(body)));
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  bodyOf(instance: number): number {
    return this.instances[instance].body;
  }
}
