// Where every body is at a time, or at a value of a freedom: linear between rows, orientations on the shorter great
// circle.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { type Course, type FrameInfo, ground, poseColumns, type Run } from '../run.ts';
import type { Flex } from './flex.ts';

const one = new Vector3(1, 1, 1);
const p = new Vector3(), q = new Quaternion(), next = new Quaternion();
const along = new Vector3(), across = new Vector3();

export class Poses {
  private readonly matrices: Matrix4[];
  private readonly fixed = new Matrix4();
  /** How bodies bend, if any does. */
  flex: Flex | null = null;

  constructor(private readonly run: Run) {
    this.matrices = run.header.bodies.map(() => new Matrix4());
  }

  private get whole(): Course {
    const { time, poses, stride } = this.run;
    return { values: time, poses, stride };
  }

  /** From the axes of the body to the world. */
  of(body: number): Matrix4 {
    return body === ground ? this.fixed : this.matrices[body];
  }

  /** The origin of a frame, bent with its body. */
  place(frame: FrameInfo, out: Vector3): Vector3 {
    out.set(...frame.position);
    if (this.flex?.shift(frame, along)) out.add(along);
    return out.applyMatrix4(this.of(this.run.body(frame.body)));
  }

  moveTo(value: number, course = this.whole): void {
    const { row, part } = this.run.place(value, course.values);
    for (let body = 0; body < this.matrices.length; ++body) this.pose(body, row, part, this.matrices[body], course);
  }

  /** Moves a body from where it is at the first row along a screw: displacement of its origin and rotation, in world axes. */
  displace(body: number, way: Vector3, turn: Vector3): void {
    this.pose(body, 0, 0, this.matrices[body]); // leaves its place in p and q
    const angle = turn.length(), small = angle < 1e-4;
    // p' = p + V way: V = 1 + (1 - cos a)/a^2 [turn] + (a - sin a)/a^3 [turn]^2, where a is the angle.
    const first = small ? 0.5 : (1 - Math.cos(angle)) / angle ** 2, second = small ? 1 / 6 : (angle - Math.sin(angle)) / angle ** 3;
    across.crossVectors(turn, way);
    along.crossVectors(turn, across);
    p.add(way).addScaledVector(across, first).addScaledVector(along, second);
    if (angle > 0) q.premultiply(next.setFromAxisAngle(along.copy(turn).divideScalar(angle), angle));
    this.matrices[body].compose(p, q, one);
  }

  /** Where one body is at a row. */
  pose(body: number, row: number, part: number, out: Matrix4, course = this.whole): void {
    const { poses, stride: rows = course.values.length } = course;
    const at = (column: number, r: number) => poses[(poseColumns * body + column) * rows + r];
    p.set(at(0, row), at(1, row), at(2, row));
    q.set(at(4, row), at(5, row), at(6, row), at(3, row));
    if (part > 0) {
      const r = row + 1;
      p.set(p.x + part * (at(0, r) - p.x), p.y + part * (at(1, r) - p.y), p.z + part * (at(2, r) - p.z));
      q.slerp(next.set(at(4, r), at(5, r), at(6, r), at(3, r)), part);
    }
    out.compose(p, q.normalize(), one);
  }
}
