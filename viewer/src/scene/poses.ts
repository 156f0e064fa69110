// Where every body is at a time, or at a value of a freedom: linear between rows, orientations on the shorter great
// circle.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { type Course, ground, poseColumns, type Run } from '../run.ts';

const one = new Vector3(1, 1, 1);
const p = new Vector3(), q = new Quaternion(), next = new Quaternion();

export class Poses {
  private readonly matrices: Matrix4[];
  private readonly fixed = new Matrix4();

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

  moveTo(value: number, course = this.whole): void {
    const { row, part } = this.run.place(value, course.values);
    for (let body = 0; body < this.matrices.length; ++body) this.pose(body, row, part, this.matrices[body], course);
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
