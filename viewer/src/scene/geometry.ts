// Unit geometries along z. Round ones have alternate quadrants darker: a plain cylinder that spins looks still.
import {
  BoxGeometry, BufferAttribute, type BufferGeometry, CapsuleGeometry, ConeGeometry, Curve, CylinderGeometry, LatheGeometry,
  SphereGeometry, TubeGeometry, Vector2, Vector3,
} from 'three';

const shade = 0.6;

/** Colours by the quadrant about z, or by the octant of a ball. Faces must not share vertices over the edge. */
function quadrants(geometry: BufferGeometry, octants = false): BufferGeometry {
  const g = geometry.index ? geometry.toNonIndexed() : geometry;
  const p = g.getAttribute('position');
  const colours = new Float32Array(3 * p.count);
  for (let i = 0; i < p.count; i += 3) {
    const middle = (get: (k: number) => number) => get(i) + get(i + 1) + get(i + 2);
    let side = middle((k) => p.getX(k)) * middle((k) => p.getY(k));
    if (octants) side *= middle((k) => p.getZ(k));
    colours.fill(side > 0 ? 1 : shade, 3 * i, 3 * i + 9);
  }
  g.setAttribute('color', new BufferAttribute(colours, 3));
  return g;
}

function plain(geometry: BufferGeometry): BufferGeometry {
  const count = geometry.getAttribute('position').count;
  geometry.setAttribute('color', new BufferAttribute(new Float32Array(3 * count).fill(1), 3));
  return geometry;
}

const upright = <G extends BufferGeometry>(geometry: G): G => geometry.rotateX(Math.PI / 2); // from y to z

/** Finer where there are few of them. */
const sides = (count: number) => (count > 100 ? 16 : 48);

export const box = () => plain(new BoxGeometry(1, 1, 1));
export const plainCylinder = (n = 20) => plain(upright(new CylinderGeometry(1, 1, 1, n)));
export const plainSphere = () => plain(new SphereGeometry(1, 20, 14));
export const cylinder = (count: number) => quadrants(upright(new CylinderGeometry(1, 1, 1, sides(count))));
export const cone = (count: number) => quadrants(upright(new ConeGeometry(1, 1, sides(count))));
export const sphere = (count: number) =>
  quadrants(upright(count > 100 ? new SphereGeometry(1, 16, 8) : new SphereGeometry(1, 32, 20)), true);

/** Of outer radius and length 1. */
export function tube(inner: number, count: number): BufferGeometry {
  const outline = [[inner, -0.5], [1, -0.5], [1, 0.5], [inner, 0.5], [inner, -0.5]].map(([x, y]) => new Vector2(x, y));
  const g = upright(new LatheGeometry(outline, sides(count))).toNonIndexed();
  g.computeVertexNormals(); // sharp edges
  return quadrants(g);
}

/** Of radius 1; `length` without the half balls. */
export const capsule = (length: number, count: number) =>
  quadrants(upright(new CapsuleGeometry(1, length, count > 100 ? 4 : 10, sides(count) / 2)));

class Helix extends Curve<Vector3> {
  constructor(private readonly turns: number, private readonly length: number) {
    super();
  }
  override getPoint(t: number, out = new Vector3()): Vector3 {
    const angle = 2 * Math.PI * this.turns * t;
    const end = Math.min(t, 1 - t) * this.turns;
    const radius = Math.min(1, 1.6 * end); // ends on the axis
    return out.set(radius * Math.cos(angle), radius * Math.sin(angle), this.length * t);
  }
}

/** A spring of radius 1 from z = 0 to 1, made at its true length first: its wire would be a ribbon otherwise. */
export function coil(length: number): BufferGeometry {
  const turns = Math.min(24, Math.max(4, Math.round(length)));
  return plain(new TubeGeometry(new Helix(turns, length), 36 * turns, 0.14, 6).scale(1, 1, 1 / length));
}

/** A shaft, or a head, from z = 0 to 1. */
export const shaft = () => upright(new CylinderGeometry(1, 1, 1, 14)).translate(0, 0, 0.5);
export const head = () => upright(new ConeGeometry(1, 1, 18)).translate(0, 0, 0.5);
export const rod = () => plain(shaft());
/** The cylinder of a damper, over a third of its length. */
export const housing = () => plain(shaft().scale(1, 1, 0.36).translate(0, 0, 0.34));
