// A second run drawn into the first, transparent. Its colour says how far each body is from the same body of the first:
// blue where they are together, red where they are as far apart as they ever come.
import { Color, type Group, Matrix4, Vector3 } from 'three';
import { ground, type Run } from '../run.ts';
import { Bodies } from './bodies.ts';
import { Poses } from './poses.ts';

const together = new Color('#3f7fd0'), apart = new Color('#d6336c');
const mostRows = 200; // looked at for the greatest distance
const p = new Vector3(), q = new Vector3();
const between = (a: Matrix4, b: Matrix4) => p.setFromMatrixPosition(a).distanceTo(q.setFromMatrixPosition(b));

export class Ghost {
  readonly poses: Poses;
  /** In metres, over both runs and all bodies that they share. */
  readonly greatest: number;
  private readonly bodies: Bodies;
  private readonly partner: number[]; // of each body, in the first run

  constructor(private readonly run: Run, private readonly first: Run, size: number) {
    this.poses = new Poses(run);
    this.bodies = new Bodies(run, size, `#${together.getHexString()}`);
    this.partner = run.header.bodies.map(({ name }) => first.body(name));
    this.greatest = this.findGreatest(run);
  }

  get group(): Group {
    return this.bodies.group;
  }

  private findGreatest(run: Run): number {
    const mine = new Poses(run), other = new Poses(this.first), stride = Math.max(1, Math.ceil(run.rows / mostRows));
    let greatest = 0;
    for (let row = 0; row < run.rows; row += stride) {
      const t = run.time[row];
      if (t > this.first.end) break;
      mine.moveTo(t);
      other.moveTo(t);
      this.partner.forEach((body, i) => (greatest = Math.max(greatest, this.distance(i, body, mine, other))));
    }
    return greatest;
  }

  private distance(body: number, partner: number, mine: Poses, other: Poses): number {
    const d = partner === ground ? 0 : between(mine.of(body), other.of(partner));
    return Number.isFinite(d) ? d : 0;
  }

  moveTo(t: number, first: Poses): void {
    // A run that ended earlier is nowhere afterwards. A single row, as of statics, holds for all times.
    this.group.visible = this.run.rows === 1 || t <= this.run.end;
    this.poses.moveTo(t);
    this.bodies.update(this.poses);
    // Below a millionth of a metre there is nothing to tell apart: positions in a page are rounded.
    const scale = Math.max(this.greatest, 1e-6);
    this.bodies.paint((body) => together.clone().lerp(apart, Math.min(1, this.distance(body, this.partner[body], this.poses, first) / scale)));
  }
}
