// Matrices from the positions and quaternions of a result.
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { Quaternion as Q, Vec3 } from '../run.ts';

/** Signs and arrows become smaller where there are many of them. */
export const crowded = (count: number): number => Math.min(1, Math.max(0.25, Math.sqrt(30 / Math.max(1, count))));

const position = new Vector3(), rotation = new Quaternion(), scale = new Vector3();
const zAxis = new Vector3(0, 0, 1);

export function localMatrix(p: Vec3, q: Q, out = new Matrix4(), size: Vec3 = [1, 1, 1]): Matrix4 {
  return out.compose(position.set(...p), rotation.set(q[1], q[2], q[3], q[0]).normalize(), scale.set(...size));
}

/** Takes z from 0 to 1 to the way from `a` to `b`, and x and y to `width`. */
export function between(a: Vector3, b: Vector3, width: number, out: Matrix4): Matrix4 {
  const way = scale.subVectors(b, a);
  const length = Math.max(way.length(), 1e-12);
  rotation.setFromUnitVectors(zAxis, way.divideScalar(length));
  return out.compose(a, rotation, scale.set(width, width, length));
}
