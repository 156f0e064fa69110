// Joints as small signs over everything, springs as coils, other forces between two points as rods.
import { Group, Matrix4, MeshStandardMaterial, Vector3 } from 'three';
import { type ElementInfo, type FrameInfo, numberOf, type Run } from '../run.ts';
import * as geometry from './geometry.ts';
import { type Instance, InstanceSet } from './instances.ts';
import { Poses } from './poses.ts';
import { between, crowded, localMatrix } from './transform.ts';

interface Glyph {
  geometry: 'cylinder' | 'box' | 'ball';
  size: [number, number, number]; // in parts of the sign's size
  colour: string;
}

/** What stands for a joint, by its type. What is not listed is a small ball. */
const glyphs: Record<string, Glyph[]> = {
  revolute: [{ geometry: 'cylinder', size: [1, 1, 3.4], colour: '#e8720c' }],
  cylindrical: [
    { geometry: 'cylinder', size: [1, 1, 3.4], colour: '#e8720c' },
    { geometry: 'box', size: [0.8, 0.8, 5.4], colour: '#2aa198' },
  ],
  screw: [{ geometry: 'cylinder', size: [1, 1, 5], colour: '#a06a1c' }],
  translational: [{ geometry: 'box', size: [1.7, 1.7, 4], colour: '#2aa198' }],
  planar: [{ geometry: 'box', size: [4, 4, 0.6], colour: '#2aa198' }],
  spherical: [{ geometry: 'ball', size: [1.3, 1.3, 1.3], colour: '#d33682' }],
  universal: [
    { geometry: 'box', size: [3.6, 0.8, 0.8], colour: '#7c5cc4' },
    { geometry: 'box', size: [0.8, 3.6, 0.8], colour: '#7c5cc4' },
  ],
  constant_velocity: [{ geometry: 'ball', size: [1.5, 1.5, 1.5], colour: '#7c5cc4' }],
  fixed: [{ geometry: 'box', size: [1.5, 1.5, 1.5], colour: '#6b7686' }],
};
const otherGlyph: Glyph[] = [{ geometry: 'ball', size: [0.9, 0.9, 0.9], colour: '#8a6d00' }];
const bushing: Glyph[] = [{ geometry: 'cylinder', size: [1.5, 1.5, 1.6], colour: '#5f8f3f' }];

const makers = {
  cylinder: () => geometry.plainCylinder(),
  box: () => geometry.box(),
  ball: () => geometry.plainSphere(),
};

/** Over everything, but still lit, so that their form is seen. */
const overlay = () => new MeshStandardMaterial({ roughness: 0.7, depthTest: false, transparent: true, vertexColors: true });

export class Joints {
  readonly group = new Group();
  private readonly sets: InstanceSet[] = [];

  constructor(run: Run, size: number) {
    const lists = new Map<keyof typeof makers, Instance[]>();
    const unit = 0.0085 * size * crowded(run.header.elements.length);
    const add = (frame: FrameInfo, parts: Glyph[]) => {
      for (const part of parts) {
        const scale = part.size.map((s) => unit * s) as [number, number, number];
        const local = localMatrix(frame.position, frame.quaternion, new Matrix4(), scale);
        const list = lists.get(part.geometry) ?? [];
        list.push({ body: run.body(frame.body), local, colour: part.colour, frame });
        lists.set(part.geometry, list);
      }
    };
    for (const element of run.header.elements) {
      if (element.of === 'joint' && element.frames.length > 0 && element.attachment === 'joint') {
        if (element.type === 'distance') continue; // drawn as a link
        add(element.frames[0], glyphs[element.type] ?? otherGlyph);
      }
      if (element.of === 'force' && element.type === 'bushing' && element.frames.length > 0) add(element.frames[0], bushing);
    }
    for (const [key, instances] of lists) {
      const set = new InstanceSet(makers[key](), overlay(), instances);
      set.mesh.renderOrder = 10;
      this.sets.push(set);
      this.group.add(set.mesh);
    }
  }

  update(poses: Poses): void {
    if (this.group.visible) for (const set of this.sets) set.update(poses);
  }
}

/** Forces that are seen between their two points. */
export const linkTypes = new Set(['translational_spring_damper', 'translational_actuator', 'beam']);

const a = new Vector3(), b = new Vector3(), matrix = new Matrix4();

/** Elements that one sees between two points: springs, dampers, actuators, links, beams. Other forces are arrows. */
export class Links {
  readonly group = new Group();
  private readonly sets: { instances: InstanceSet; elements: ElementInfo[]; width: number }[] = [];

  constructor(private readonly run: Run, size: number) {
    const ofType = (...types: string[]) => run.header.elements.filter((e) => types.includes(e.type) && e.frames.length >= 2);
    // One without stiffness and damping has a law of its own, most often that of a spring.
    const isDamper = (e: ElementInfo) => numberOf(e, 'stiffness') === 0 && numberOf(e, 'damping') > 0;
    const springs = ofType('translational_spring_damper').filter((e) => !isDamper(e));
    const dampers = ofType('translational_spring_damper').filter(isDamper);
    const radius = 0.014 * size;
    for (const [length, group] of this.byLength(springs, radius)) this.add(group, geometry.coil(length), radius, '#c9a24a');
    this.add([...dampers, ...ofType('translational_actuator')], geometry.rod(), 0.003 * size, '#98a2ad');
    this.add([...dampers, ...ofType('translational_actuator')], geometry.housing(), 0.009 * size, '#7b8796');
    this.add(ofType('distance'), geometry.rod(), 0.0045 * size, '#b45fa0');
    this.add(ofType('beam'), geometry.rod(), 0.006 * size, '#6f8fb3');
  }

  /** Springs whose coils look alike: by their length at the start in radii. */
  private byLength(springs: ElementInfo[], radius: number): Map<number, ElementInfo[]> {
    const groups = new Map<number, ElementInfo[]>();
    const poses = new Poses(this.run);
    poses.moveTo(this.run.time[0]);
    for (const spring of springs) {
      const length = Math.min(40, Math.max(4, Math.round(this.ends(spring, poses) / radius)));
      groups.set(length, [...(groups.get(length) ?? []), spring]);
    }
    return groups;
  }

  /** Puts the two ends into a and b, and returns their distance. */
  private ends({ frames }: ElementInfo, poses: Poses): number {
    return poses.place(frames[0], a).distanceTo(poses.place(frames[1], b));
  }

  private add(elements: ElementInfo[], shape: ReturnType<typeof geometry.coil>, width: number, colour: string): void {
    if (elements.length === 0) return;
    const material = new MeshStandardMaterial({ roughness: 0.5, metalness: 0.15, vertexColors: true });
    const instances = new InstanceSet(shape, material, elements.map(() => ({ body: -1, local: new Matrix4(), colour })));
    instances.mesh.castShadow = true;
    this.sets.push({ instances, elements, width });
    this.group.add(instances.mesh);
  }

  update(poses: Poses): void {
    for (const { instances, elements, width } of this.sets) {
      elements.forEach((element, i) => {
        this.ends(element, poses);
        instances.mesh.setMatrixAt(i, between(a, b, width, matrix));
      });
      instances.mesh.instanceMatrix.needsUpdate = true;
    }
  }
}
