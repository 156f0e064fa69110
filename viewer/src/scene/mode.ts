// A mode in motion: every body follows the screw of its displacement and rotation,
//
//   Re((real + i imaginary) e^(2 pi i phase)),
//
// so that what turns about a hinge stays on it however far it is drawn. The rate and the size of the motion are chosen
// to be seen; the phases between the bodies are those of the mode.
import { Matrix3, Vector3 } from 'three';
import { ground, type ModeSet, type Run, shapeColumns } from '../run.ts';
import { pointsOfBodies } from './bounds.ts';
import type { Flex } from './flex.ts';
import type { Poses } from './poses.ts';

const drawnWay = 0.08; // of the scene: the largest displacement at amplitude 1 ...
const drawnTurn = 0.5; // ... unless a body then turned by more than this, rad

const way = new Vector3(), turn = new Vector3(), imaginary = new Vector3();

/** The largest length of real cos - imaginary sin over a period: half the long axis of an ellipse. */
function largest(a: Vector3, b: Vector3): number {
  const x = a.lengthSq(), y = b.lengthSq();
  return Math.sqrt((x + y) / 2 + Math.hypot((x - y) / 2, a.dot(b)));
}

/** Points of every body relative to its origin, in world axes. */
export function leversOf(run: Run, poses: Poses): Vector3[][] {
  poses.moveTo(run.time[0]);
  const levers: Vector3[][] = run.header.bodies.map(() => [new Vector3()]);
  for (const [body, points] of pointsOfBodies(run)) {
    if (body === ground) continue;
    const axes = new Matrix3().setFromMatrix4(poses.of(body));
    for (const point of points) levers[body].push(point.clone().applyMatrix3(axes));
  }
  return levers;
}

export class ModeMotion {
  /** At amplitude 1: what the shape is multiplied by, the largest displacement in metres, the largest rotation in rad, the
   * largest displacement by bending. */
  readonly factor: number;
  readonly way: number;
  readonly turn: number;
  readonly bend: number;
  private readonly shape: Float32Array;
  private readonly modal: { real: Float32Array; imaginary: Float32Array };

  /** `rest` is the mechanism at rest. */
  constructor(run: Run, set: ModeSet, mode: number, levers: Vector3[][], size: number, flex: Flex | null, rest: Poses) {
    this.shape = run.shape(set, mode);
    this.modal = run.modalOfMode(set, mode);
    let farthest = 0, widest = 0, bent = 0;
    levers.forEach((points, body) => {
      const [d, r, di, ri] = [0, 3, 6, 9].map((part) => this.part(body, part, new Vector3()));
      widest = Math.max(widest, largest(r, ri));
      for (const point of points) {
        way.crossVectors(r, point).add(d);
        imaginary.crossVectors(ri, point).add(di);
        farthest = Math.max(farthest, largest(way, imaginary));
      }
    });
    // What bends moves more than its body does as a whole.
    const shifts: Vector3[] = [];
    flex?.eachPoint(this.modal.imaginary, (_, __, moved, i) => (shifts[i] = moved.clone()));
    flex?.eachPoint(this.modal.real, (body, point, moved, i) => {
      const axes = new Matrix3().setFromMatrix4(rest.of(body)), shift = shifts[i].applyMatrix3(axes);
      const [d, r, di, ri] = [0, 3, 6, 9].map((part) => this.part(body, part, new Vector3())), lever = point.clone().applyMatrix3(axes);
      bent = Math.max(bent, largest(moved.applyMatrix3(axes), shift));
      farthest = Math.max(farthest, largest(r.cross(lever).add(d).add(moved), ri.cross(lever).add(di).add(shift)));
    });
    const factor = Math.min((drawnWay * size) / farthest, drawnTurn / widest); // infinite where nothing moves so
    this.factor = Number.isFinite(factor) ? factor : 0;
    this.way = this.factor * farthest;
    this.turn = this.factor * widest;
    this.bend = this.factor * bent;
  }

  /** The modal coordinates of all bodies. */
  modalAt(amplitude: number, phase: number): Float32Array {
    const scale = amplitude * this.factor, c = scale * Math.cos(2 * Math.PI * phase), s = scale * Math.sin(2 * Math.PI * phase);
    return this.modal.real.map((real, i) => c * real - s * this.modal.imaginary[i]);
  }

  private part(body: number, part: number, out: Vector3): Vector3 {
    const at = shapeColumns * body + part;
    return out.set(this.shape[at], this.shape[at + 1], this.shape[at + 2]);
  }

  moveTo(poses: Poses, amplitude: number, phase: number): void {
    const scale = amplitude * this.factor, c = scale * Math.cos(2 * Math.PI * phase), s = scale * Math.sin(2 * Math.PI * phase);
    for (let body = 0; body < this.shape.length / shapeColumns; ++body) {
      this.part(body, 0, way).multiplyScalar(c).addScaledVector(this.part(body, 6, imaginary), -s);
      this.part(body, 3, turn).multiplyScalar(c).addScaledVector(this.part(body, 9, imaginary), -s);
      poses.displace(body, way, turn);
    }
  }
}
