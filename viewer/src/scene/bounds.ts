// How large the mechanism is, and where: over the whole run, and at its start.
import { Box3, Matrix4, Vector3 } from 'three';
import { ground, type Run, type ShapeInfo } from '../run.ts';
import { impliedShapes } from './implied.ts';
import { linkTypes } from './joints.ts';
import type { Poses } from './poses.ts';
import { localMatrix } from './transform.ts';

/** Half extents of a shape about its own middle. */
function halfSize(shape: ShapeInfo): Vector3 {
  const [a = 0, b = 0, c = 0] = shape.size;
  switch (shape.type) {
    case 'box': return new Vector3(a / 2, b / 2, c / 2);
    case 'cylinder':
    case 'cone': return new Vector3(a, a, b / 2);
    case 'tube': return new Vector3(a, a, c / 2);
    case 'gear':
    case 'ring_gear': return new Vector3(1.1 * a, 1.1 * a, b / 2);
    case 'capsule': return new Vector3(a, a, b / 2 + a);
    case 'sphere': return new Vector3(a, a, a);
    case 'line': return new Vector3(a, b, c);
    default: return new Vector3();
  }
}

/** In the axes of the shape. */
function boxOf(run: Run, shape: ShapeInfo): Box3 {
  const box = new Box3(), mesh = run.mesh(shape), p = new Vector3();
  if (!mesh) return box.expandByPoint(p).expandByVector(halfSize(shape));
  const { points, count } = mesh, [scale = 1] = shape.size;
  for (let i = 0; i < count; ++i) box.expandByPoint(p.set(points[i], points[count + i], points[2 * count + i]).multiplyScalar(scale));
  return box;
}

/** Points that each body reaches, in its own axes. Shapes of the ground may be as large as a field and do not count. */
export function pointsOfBodies(run: Run): Map<number, Vector3[]> {
  const points = new Map<number, Vector3[]>();
  const add = (body: number, point: Vector3) => {
    const list = points.get(body);
    if (list) list.push(point);
    else points.set(body, [point]);
  };
  run.header.bodies.forEach((body, i) => add(i, new Vector3(...(body.center_of_mass ?? [0, 0, 0]))));
  for (const element of run.header.elements) {
    for (const frame of element.frames) {
      const body = run.body(frame.body);
      // Forces that are not drawn between two points are often measured from a far point of the ground.
      if (body !== ground || element.of === 'joint' || linkTypes.has(element.type)) add(body, new Vector3(...frame.position));
    }
  }
  for (const { body, count, points: p } of run.bending) for (let i = 0; i < count; ++i) add(body, new Vector3(p[i], p[count + i], p[2 * count + i]));
  const local = new Matrix4();
  for (const shape of [...run.header.shapes, ...impliedShapes(run)]) {
    const body = run.body(shape.body);
    if (body === ground) continue;
    localMatrix(shape.position, shape.quaternion, local);
    const { min, max } = boxOf(run, shape);
    for (let corner = 0; corner < 8; ++corner) {
      const pick = (bit: number, axis: 'x' | 'y' | 'z') => (corner & bit ? max : min)[axis];
      add(body, new Vector3(pick(1, 'x'), pick(2, 'y'), pick(4, 'z')).applyMatrix4(local));
    }
  }
  return points;
}

export interface Bounds {
  start: Box3;
  run: Box3;
}

export function findBounds(run: Run, poses: Poses): Bounds {
  const points = pointsOfBodies(run);
  const count = [...points.values()].reduce((sum, list) => sum + list.length, 0);
  const stride = Math.max(1, Math.ceil((run.rows * count) / 300_000));
  const start = new Box3(), whole = new Box3();
  const matrix = new Matrix4(), point = new Vector3();
  for (const [body, list] of points) {
    for (let row = 0; row < run.rows; row += stride) {
      if (body === ground && row > 0) break;
      if (body !== ground) poses.pose(body, row, 0, matrix);
      else matrix.identity();
      if (!matrix.elements.every(Number.isFinite)) continue;
      for (const local of list) {
        whole.expandByPoint(point.copy(local).applyMatrix4(matrix));
        if (row === 0) start.expandByPoint(point);
      }
    }
  }
  // Of a mechanism without bodies, or in one point, nobody knows how large it is: a metre.
  for (const box of [start, whole]) {
    if (box.isEmpty()) box.set(new Vector3(), new Vector3());
    if (whole.min.equals(whole.max)) box.expandByScalar(0.5);
  }
  return { start, run: whole };
}
