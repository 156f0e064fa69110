// The bodies as their shapes; a body without a shape as thin rods from its centre of mass to its joints.
import { type Color, Group, type Intersection, Matrix4, MeshStandardMaterial, type Raycaster, Vector3 } from 'three';
import { colour } from '../colours.ts';
import { ground, type Run, type ShapeInfo } from '../run.ts';
import * as geometry from './geometry.ts';
import { impliedShapes } from './implied.ts';
import { type Instance, InstanceSet } from './instances.ts';
import type { Poses } from './poses.ts';
import { between, crowded, localMatrix } from './transform.ts';

type Kind = { key: string; make: (count: number) => ReturnType<typeof geometry.box> };

const kinds: Record<string, Kind> = {
  box: { key: 'box', make: geometry.box },
  cylinder: { key: 'cylinder', make: geometry.cylinder },
  cone: { key: 'cone', make: geometry.cone },
  sphere: { key: 'sphere', make: geometry.sphere },
  rod: { key: 'rod', make: geometry.rod },
};

/** The geometry of a shape and its matrix; capsules and tubes need a geometry for each ratio. */
function shapeInstance(run: Run, shape: ShapeInfo, lineWidth: number): { kind: Kind; local: Matrix4 } | null {
  const [a = 0, b = 0, c = 0] = shape.size;
  const local = (size: [number, number, number]) => localMatrix(shape.position, shape.quaternion, new Matrix4(), size);
  switch (shape.type) {
    case 'box': return { kind: kinds.box, local: local([a, b, c]) };
    case 'cylinder': return { kind: kinds.cylinder, local: local([a, a, b]) };
    case 'cone': return { kind: kinds.cone, local: local([a, a, b]) };
    case 'sphere': return { kind: kinds.sphere, local: local([a, a, a]) };
    case 'tube': {
      const inner = Math.round((1000 * b) / a) / 1000;
      return { kind: { key: `tube ${inner}`, make: (n) => geometry.tube(inner, n) }, local: local([a, a, c]) };
    }
    case 'capsule': {
      const length = Math.round((1000 * b) / a) / 1000;
      return { kind: { key: `capsule ${length}`, make: (n) => geometry.capsule(length, n) }, local: local([a, a, a]) };
    }
    case 'gear':
    case 'ring_gear': {
      const ring = shape.type === 'ring_gear';
      return { kind: { key: `${shape.type} ${c}`, make: () => geometry.gear(c, ring) }, local: local([a, a, b]) };
    }
    case 'line': {
      const way = between(new Vector3(), new Vector3(a, b, c), lineWidth, new Matrix4());
      return { kind: kinds.rod, local: local([1, 1, 1]).multiply(way) };
    }
    case 'mesh': {
      const mesh = run.mesh(shape);
      return mesh ? { kind: { key: `mesh ${shape.mesh}`, make: () => geometry.triangles(mesh) }, local: local([a, a, a]) } : null;
    }
    default: return null;
  }
}

export class Bodies {
  readonly group = new Group();
  readonly colours: string[]; // of each body, for lists
  readonly kinds: string[]; // of geometry
  private readonly sets: InstanceSet[] = [];
  private readonly material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0.08, vertexColors: true });

  /** With a `ghost` colour, all of it is in that colour, transparent, and without shadow. */
  constructor(run: Run, size: number, ghost?: string, behind = false) {
    // Hidden by what is drawn in the same place.
    Object.assign(this.material, { polygonOffset: behind, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
    const byKind = new Map<string, { kind: Kind; instances: Instance[] }>();
    const add = (kind: Kind, instance: Instance) => {
      const list = byKind.get(kind.key);
      if (list) list.instances.push(instance);
      else byKind.set(kind.key, { kind, instances: [instance] });
    };
    this.colours = run.header.bodies.map((_, i) => colour(undefined, i));
    const drawn = new Set<number>();
    const draw = (shape: ShapeInfo): boolean => {
      const body = run.body(shape.body), paint = colour(shape.color, body);
      const made = shapeInstance(run, shape, 0.003 * size);
      if (!made || (ghost && body === ground)) return false;
      if (!drawn.has(body) && body !== ground) this.colours[body] = paint;
      add(made.kind, { body, local: made.local, colour: ghost ?? paint });
      return true;
    };
    for (const shape of run.header.shapes) if (draw(shape)) drawn.add(run.body(shape.body));
    impliedShapes(run).forEach(draw);
    const bends = new Set(ghost ? [] : run.bending.map(({ body }) => body));
    run.header.bodies.forEach((_, body) => {
      if (drawn.has(body) || bends.has(body)) return;
      for (const part of stickFigure(run, body, size)) add(part.kind, { body, local: part.local, colour: ghost ?? this.colours[body] });
    });
    if (ghost) this.xray(true);
    this.kinds = [...byKind.keys()];
    for (const { kind, instances } of byKind.values()) {
      const set = new InstanceSet(kind.make(instances.length), this.material, instances);
      set.mesh.castShadow = set.mesh.receiveShadow = ghost === undefined;
      this.sets.push(set);
      this.group.add(set.mesh);
    }
  }

  update(poses: Poses): void {
    for (const set of this.sets) set.update(poses);
  }

  highlight(body: number | null, paint: string): void {
    for (const set of this.sets) set.highlight(body, paint);
  }

  paint(colourOf: (body: number) => Color): void {
    for (const set of this.sets) set.paint(colourOf);
  }

  xray(on: boolean): void {
    if (this.material.transparent === on) return;
    this.material.transparent = on;
    this.material.opacity = on ? 0.35 : 1;
    this.material.depthWrite = !on;
    this.material.needsUpdate = true;
  }

  /** The body under a ray, the nearest first. */
  pick(ray: Raycaster): { body: number; point: Vector3 } | null {
    let best: { hit: Intersection; body: number } | null = null;
    for (const set of this.sets) {
      for (const hit of ray.intersectObject(set.mesh)) {
        if (hit.instanceId !== undefined && (!best || hit.distance < best.hit.distance))
          best = { hit, body: set.bodyOf(hit.instanceId) };
      }
    }
    return best && { body: best.body, point: best.hit.point };
  }
}

/** A disc for what turns about its middle; else a ball at the centre of mass and a rod to each place where something attaches. */
function stickFigure(run: Run, body: number, size: number): { kind: Kind; local: Matrix4 }[] {
  const info = run.header.bodies[body];
  const centre = new Vector3(...(info.center_of_mass ?? [0, 0, 0]));
  const ends: Vector3[] = [];
  for (const element of run.header.elements) {
    if (element.of === 'motion') continue; // it acts on a joint that has its rod already
    for (const frame of element.frames) {
      const end = new Vector3(...frame.position);
      if (frame.body !== info.name || end.distanceTo(centre) < 1e-6 * size) continue;
      if (!ends.some((other) => other.distanceTo(end) < 1e-3 * size)) ends.push(end);
    }
  }
  const thick = size * crowded(run.header.bodies.length);
  const radius = (ends.length === 0 ? 0.02 : 0.011) * thick;
  const axle = run.header.elements.find(({ type, frames }) => type === 'revolute' && frames[1]?.body === info.name);
  // A ball in the place of what carries it would not be seen: what only turns is a disc.
  if (ends.length === 0 && axle) {
    const { position, quaternion } = axle.frames[1];
    return [{ kind: kinds.cylinder, local: localMatrix(position, quaternion, new Matrix4(), [2 * radius, 2 * radius, 0.7 * radius]) }];
  }
  const ball = localMatrix(centre.toArray(), [1, 0, 0, 0], new Matrix4(), [radius, radius, radius]);
  return [
    { kind: kinds.sphere, local: ball },
    ...ends.map((end) => ({ kind: kinds.rod, local: between(centre, end, 0.006 * thick, new Matrix4()) })),
  ];
}
