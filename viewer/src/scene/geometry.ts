// Unit geometries along z. Round ones have alternate quadrants darker: a plain cylinder that spins looks still.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, ConeGeometry, Curve, CylinderGeometry, LatheGeometry,
  SphereGeometry, TubeGeometry, Vector2, Vector3,
} from 'three';
import type { Mesh } from '../run.ts';

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

/** Every triangle flat: the edges of machine parts are sharp. */
export function triangles({ points, count, triangles: corners }: Mesh): BufferGeometry {
  const positions = new Float32Array(3 * corners.length);
  corners.forEach((point, k) => {
    for (let axis = 0; axis < 3; ++axis) positions[3 * k + axis] = points[axis * count + point];
  });
  const g = new BufferGeometry();
  g.setAttribute('position', new BufferAttribute(positions, 3));
  g.computeVertexNormals();
  return plain(g);
}

/** Teeth at pitch radius 1, on the outside, or inside a ring; thickness 1. A count that no wheel has is drawn smooth. */
export function gear(count: number, ring: boolean): BufferGeometry {
  const toothed = count >= 5 && count <= 300, teeth = toothed ? count : 24;
  const high = toothed ? Math.min(0.12, 2 / teeth) : 0; // of the module
  // Radius over the angle of one tooth: gap, flank, tip, flank.
  const profile = [[0, -1.2], [0.28, -1.2], [0.4, 1], [0.6, 1], [0.72, -1.2]].map(([at, up]) => [at, 1 + (ring ? -up : up) * high]);
  const corners = Array.from({ length: teeth }, (_, k) => profile.map(([at, r]) => [(2 * Math.PI * (k + at)) / teeth, r])).flat();
  const other = ring ? 1.1 + 1.2 * high : 0.28; // the plain rim of a ring, the bore of a wheel
  const positions: number[] = [];
  const point = (angle: number, r: number, z: number) => [r * Math.cos(angle), r * Math.sin(angle), z];
  const face = (...p: number[][]) => [p[0], p[1], p[2], p[0], p[2], p[3]].forEach((v) => positions.push(...v));
  corners.forEach(([a, ra], i) => {
    const next = corners[(i + 1) % corners.length], rb = next[1], b = i + 1 < corners.length ? next[0] : 2 * Math.PI;
    const [outA, outB, inA, inB] = ring ? [other, other, ra, rb] : [ra, rb, other, other];
    face(point(a, inA, 0.5), point(a, outA, 0.5), point(b, outB, 0.5), point(b, inB, 0.5));
    face(point(a, outA, -0.5), point(a, inA, -0.5), point(b, inB, -0.5), point(b, outB, -0.5));
    face(point(a, outA, -0.5), point(b, outB, -0.5), point(b, outB, 0.5), point(a, outA, 0.5));
    face(point(b, inB, -0.5), point(a, inA, -0.5), point(a, inA, 0.5), point(b, inB, 0.5));
  });
  const g = new BufferGeometry();
  g.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  g.computeVertexNormals(); // no vertex is shared: every face is flat
  return quadrants(g);
}

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
