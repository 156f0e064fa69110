// The wheels of gears, which models describe by their joints and numbers of teeth only: parallel axes as spur gears or
// a ring, axes that meet at a right angle as bevel gears.
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { ElementInfo, FrameInfo, Run, ShapeInfo } from '../run.ts';
import { numbersOf } from '../run.ts';
import { Poses } from './poses.ts';

interface Wheel {
  frame: FrameInfo;
  teeth: number;
  centre: Vector3; // in the world, at the start
  axis: Vector3;
}

interface Drawn {
  wheel: Wheel;
  radius: number; // of its pitch circle
  ring: boolean;
  centre: Vector3;
}

/** The frames of each joint that are not on the carrier, which is the body that both joints have. */
function wheelsOf(element: ElementInfo, run: Run, poses: Poses): [Wheel, Wheel] | null {
  const teeth = numbersOf(element, 'teeth'), { frames } = element;
  if (element.type !== 'gear' || frames.length !== 4 || teeth.length !== 2) return null;
  const carrier = [frames[0], frames[1]].map((f) => f.body).find((body) => body === frames[2].body || body === frames[3].body);
  const wheel = (pair: FrameInfo[], count: number): Wheel => {
    const frame = pair.find((f) => f.body !== carrier) ?? pair[1], pose = poses.of(run.body(frame.body));
    const [w, x, y, z] = frame.quaternion;
    const axis = new Vector3(0, 0, 1).applyQuaternion(new Quaternion(x, y, z, w)).transformDirection(pose);
    return { frame, teeth: count, axis, centre: new Vector3(...frame.position).applyMatrix4(pose) };
  };
  return [wheel(frames.slice(0, 2), teeth[0]), wheel(frames.slice(2, 4), teeth[1])];
}

/** Pitch circles that touch: the distance of the axes is the sum of their radii, or the difference in a ring. */
function spurs([a, b]: [Wheel, Wheel], internal: boolean): Drawn[] {
  const way = b.centre.clone().sub(a.centre), apart = way.addScaledVector(a.axis, -way.dot(a.axis)).length();
  const module = apart / (internal ? Math.abs(b.teeth - a.teeth) : a.teeth + b.teeth);
  if (!Number.isFinite(module)) return [];
  return [a, b].map((wheel, i) => ({ wheel, radius: module * wheel.teeth, ring: internal && wheel.teeth > [b, a][i].teeth, centre: wheel.centre }));
}

/** Each wheel stands off the point where the axes meet by the radius of the other. */
function bevels([a, b]: [Wheel, Wheel], size: number): Drawn[] {
  const apex = a.centre.clone().addScaledVector(a.axis, b.centre.clone().sub(a.centre).dot(a.axis));
  const miss = apex.clone().sub(b.centre);
  if (miss.addScaledVector(b.axis, -miss.dot(b.axis)).length() > 1e-3 * size) return []; // skew axes
  const off = [a, b].map(({ centre, axis }) => centre.clone().sub(apex).dot(axis));
  const modules = [Math.abs(off[1]) / a.teeth, Math.abs(off[0]) / b.teeth].filter((m) => m > 1e-6 * size);
  if (modules.length === 0) return [];
  const module = Math.min(...modules);
  return [a, b].map((wheel, i) => {
    const stand = (off[i] < 0 ? -1 : 1) * module * [b, a][i].teeth;
    return { wheel, radius: module * wheel.teeth, ring: false, centre: apex.clone().addScaledVector(wheel.axis, stand) };
  });
}

function shapeOf({ wheel, radius, ring, centre }: Drawn, width: number, run: Run, poses: Poses): ShapeInfo {
  const { body, quaternion } = wheel.frame;
  const position = centre.clone().applyMatrix4(new Matrix4().copy(poses.of(run.body(body))).invert()).toArray();
  return { name: '', type: ring ? 'ring_gear' : 'gear', body, size: [radius, width, Math.round(wheel.teeth)], position, quaternion };
}

export function gearShapes(run: Run): ShapeInfo[] {
  const gears = run.header.elements.filter((element) => element.type === 'gear');
  if (gears.length === 0) return [];
  const poses = new Poses(run);
  poses.moveTo(run.time[0]);
  return gears.flatMap((element) => {
    const wheels = wheelsOf(element, run, poses);
    if (!wheels) return [];
    const size = wheels[0].centre.distanceTo(wheels[1].centre), along = Math.abs(wheels[0].axis.dot(wheels[1].axis));
    const drawn = along > 0.999 ? spurs(wheels, element.numbers?.internal === true) : along < 0.001 ? bevels(wheels, size) : [];
    const width = 0.35 * Math.min(...drawn.map(({ radius }) => radius));
    return drawn.map((part) => shapeOf(part, width, run, poses));
  });
}
