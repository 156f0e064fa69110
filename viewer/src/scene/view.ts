// The scene: lights, ground, bodies, signs and arrows, drawn only when something changed.
import {
  AxesHelper, Box3, CanvasTexture, DirectionalLight, HemisphereLight, Matrix4, Raycaster, Scene, SRGBColorSpace, Vector2, Vector3,
  WebGLRenderer,
} from 'three';
import { ground, type ModeSet, type Run } from '../run.ts';
import { Arrows, forceArrows, torqueArrows } from './arrows.ts';
import { Bodies } from './bodies.ts';
import { Flex } from './flex.ts';
import { type Bounds, findBounds } from './bounds.ts';
import { CameraRig, compassOf, type ViewName } from './camera.ts';
import { Ghost } from './ghost.ts';
import { Ground } from './ground.ts';
import { Joints, Links } from './joints.ts';
import { Measure } from './measure.ts';
import { leversOf, ModeMotion } from './mode.ts';
import { Poses } from './poses.ts';
import { Tether } from './tether.ts';
import { Trace } from './trace.ts';

export interface ViewOptions {
  calm: boolean; // no motion but that of the mechanism
  plain: boolean; // no smoothing of edges
}

// Of the box over the run to that at the start. What bounces or falls a little way is better seen from a fixed place.
const travelRatio = { level: 2.5, upright: 12 };

export class View {
  readonly poses: Poses;
  readonly bodies: Bodies;
  readonly joints: Joints;
  readonly links: Links;
  readonly forces: Arrows;
  readonly torques: Arrows;
  readonly trace: Trace;
  readonly measure = new Measure();
  readonly tether = new Tether();
  readonly ghost?: Ghost;
  /** Bodies that bend; null where none does. */
  readonly flex: Flex | null;
  /** Of a page of modes: the mechanism at rest. */
  readonly rest?: Bodies;
  readonly rig: CameraRig;
  readonly size: number;
  /** The mechanism drives away: the camera should follow. */
  readonly travels: boolean;
  frames = 0;

  private readonly scene = new Scene();
  private readonly renderer: WebGLRenderer;
  private readonly ground: Ground;
  private readonly sun = new DirectionalLight(0xffffff, 1.9);
  private readonly headlamp = new DirectionalLight(0xffffff, 0.7);
  private readonly axes: AxesHelper;
  private home: Box3;
  private readonly lightFrom: Vector3;
  private selected: number | null = null;
  private followed: number | null = null;
  private accent = '#e8720c';
  private levers: Vector3[][] | null = null;

  constructor(private readonly run: Run, canvas: HTMLCanvasElement, options: ViewOptions, ghost?: Run) {
    this.poses = new Poses(run);
    const bounds = findBounds(run, this.poses);
    const compass = compassOf(run);
    this.travels = run.header.bodies.length > 0 && travels(bounds, compass.up);
    this.home = this.travels ? bounds.start : bounds.run;
    if (run.modeSets) this.home = this.home.clone().expandByVector(this.home.getSize(new Vector3()).multiplyScalar(0.1)); // room to move
    this.size = Math.max(this.home.getSize(new Vector3()).length(), 1e-6);

    this.renderer = new WebGLRenderer({ canvas, alpha: true, antialias: !options.plain, powerPreference: 'high-performance' });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.rig = new CameraRig(canvas, compass, this.size, options.calm);

    this.bodies = new Bodies(run, this.size);
    this.flex = run.bending.length > 0 ? new Flex(run, this.size) : null;
    if (this.flex) this.scene.add(this.flex.group);
    this.poses.flex = this.flex;
    if (ghost) {
      this.ghost = new Ghost(ghost, run, this.size);
      this.scene.add(this.ghost.group);
    }
    if (run.modeSets) {
      this.rest = new Bodies(run, this.size, '#7d8896', true);
      this.poses.moveTo(run.time[0]);
      this.rest.update(this.poses);
      this.scene.add(this.rest.group);
    }
    this.joints = new Joints(run, this.size);
    this.links = new Links(run, this.size);
    this.forces = new Arrows(run, this.size, forceArrows);
    this.torques = new Arrows(run, this.size, torqueArrows);
    this.trace = new Trace(run);
    this.ground = new Ground(compass.up, groundHeight(bounds.run, compass.up, this.size), this.size);
    this.axes = new AxesHelper(0.1 * this.size);
    this.axes.matrixAutoUpdate = this.axes.visible = false;
    this.lightFrom = new Vector3()
      .addScaledVector(compass.right, 0.45).addScaledVector(compass.ahead, -0.55).addScaledVector(compass.up, 1.25)
      .multiplyScalar(2 * this.size);
    this.setLights(compass.up);
    this.scene.add(
      this.bodies.group, this.links.group, this.joints.group, this.forces.group, this.torques.group, this.trace.line, this.measure.line, this.tether.line,
      this.axes, this.ground.group,
    );
    this.moveTo(run.time[0]);
  }

  private setLights(up: Vector3): void {
    const sky = new HemisphereLight(0xffffff, 0xa9b1bd, 1.35);
    sky.position.copy(up);
    const { shadow } = this.sun;
    this.sun.castShadow = true;
    shadow.mapSize.set(2048, 2048);
    const half = 0.9 * this.size;
    Object.assign(shadow.camera, { left: -half, right: half, top: half, bottom: -half, near: 0.1 * this.size, far: 8 * this.size });
    shadow.normalBias = 0.002 * this.size;
    shadow.bias = -0.0004;
    this.scene.add(sky, this.sun, this.sun.target, this.headlamp, this.headlamp.target);
  }

  /** At a time of the run, or with one freedom moved. Forces belong to the mechanism as drawn and are not shown then. */
  moveTo(t: number, tried: { freedom: number; value: number } | null = null): void {
    if (tried) this.poses.moveTo(tried.value, this.run.sweep(tried.freedom));
    else this.poses.moveTo(t);
    this.flex?.moveTo(t, tried);
    this.place(t, tried === null);
  }

  mode(set: ModeSet, mode: number): ModeMotion {
    const rest = new Poses(this.run);
    this.levers ??= leversOf(this.run, rest);
    rest.moveTo(this.run.time[0]);
    return new ModeMotion(this.run, set, mode, this.levers, this.size, this.flex, rest);
  }

  /** At a phase of a mode. Forces belong to the mechanism at rest and are not shown. */
  moveToPhase(motion: ModeMotion, amplitude: number, phase: number): void {
    motion.moveTo(this.poses, amplitude, phase);
    if (this.flex) {
      this.flex.bendBy(motion.modalAt(amplitude, phase));
      this.flex.greatest = amplitude * motion.bend;
    }
    this.place(this.run.time[0], false);
  }

  /** Everything else to where the bodies are. */
  private place(t: number, withForces: boolean): void {
    this.bodies.update(this.poses);
    this.flex?.update(this.poses);
    this.ghost?.moveTo(t, this.poses);
    this.links.update(this.poses);
    this.joints.update(this.poses);
    for (const arrows of [this.forces, this.torques]) arrows.update(this.poses, withForces ? t : null);
    this.tether.update(this.poses);
    if (this.selected !== null) this.axes.matrix.copy(this.poses.of(this.selected));
    if (this.followed !== null) this.rig.follow(this.poses.of(this.followed));
  }

  /** The run has grown: what depends on all of it. */
  renew(): void {
    for (const arrows of [this.forces, this.torques]) arrows.setScale();
    this.flex?.renew();
    if (!this.travels) this.home = findBounds(this.run, new Poses(this.run)).run;
  }

  render(): void {
    const { camera, controls } = this.rig;
    this.rig.adjustDepth();
    this.sun.target.position.copy(controls.target);
    this.sun.position.copy(controls.target).add(this.lightFrom);
    this.headlamp.position.copy(camera.position);
    this.headlamp.target.position.copy(controls.target);
    this.ground.centreOn(controls.target);
    this.ground.seenFrom(camera.position.distanceTo(controls.target));
    this.renderer.render(this.scene, camera);
    ++this.frames;
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height, false);
    this.rig.resize(width, height);
    this.trace.resize(width, height);
  }

  frame(view: ViewName): void {
    const box = this.home.clone();
    if (this.followed !== null && this.travels) {
      // The box of the start, where the mechanism is now.
      const first = new Matrix4();
      this.poses.pose(this.followed, 0, 0, first);
      box.translate(new Vector3().setFromMatrixPosition(this.poses.of(this.followed)).sub(new Vector3().setFromMatrixPosition(first)));
    }
    this.rig.frame(box, view);
  }

  select(body: number | null): void {
    this.selected = body;
    this.axes.visible = body !== null && body !== ground;
    this.bodies.highlight(body === ground ? null : body, this.accent);
    this.flex?.select(body, this.accent);
    if (body !== null) this.axes.matrix.copy(this.poses.of(body));
  }

  follow(body: number | null): void {
    this.followed = body;
    this.rig.follow(null);
    if (body !== null) this.rig.follow(this.poses.of(body));
  }

  theme(dark: boolean): void {
    this.accent = dark ? '#ff9a3c' : '#e8720c';
    this.ground.theme(dark);
    this.trace.paint(this.accent);
    this.select(this.selected);
  }

  /** What is seen at a point of the canvas, in parts of it from -1 to 1. */
  ray(x: number, y: number): Raycaster {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2(x, y), this.rig.camera);
    return ray;
  }

  pick(x: number, y: number): { body: number; point: Vector3 } | null {
    const ray = this.ray(x, y), hits = [this.bodies.pick(ray), this.flex?.pick(ray)].filter((hit) => !!hit);
    const far = ({ point }: { point: Vector3 }) => point.distanceTo(ray.ray.origin);
    return hits.sort((p, q) => far(p) - far(q))[0] ?? null;
  }

  xray(on: boolean): void {
    this.bodies.xray(on);
    this.flex?.xray(on);
  }

  /** Less to do for a slow machine: first without shadows, then with half the pixels. False if nothing is left. */
  simplify(): boolean {
    if (this.renderer.shadowMap.enabled) {
      this.renderer.shadowMap.enabled = false;
      this.sun.castShadow = false;
      return true;
    }
    if (this.renderer.getPixelRatio() <= 0.5) return false;
    this.renderer.setPixelRatio(this.renderer.getPixelRatio() / 2);
    return true;
  }

  get shadows(): boolean {
    return this.renderer.shadowMap.enabled;
  }

  /** The origin of a body, in pixels of a canvas of this size; null behind the camera. */
  project(point: Vector3, width: number, height: number): { x: number; y: number } | null {
    const p = point.clone().project(this.rig.camera);
    return p.z < 1 ? { x: (0.5 + p.x / 2) * width, y: (0.5 - p.y / 2) * height } : null;
  }

  /** The sky is a gradient of the page behind the canvas; pictures and films need it inside. */
  backdrop(sky: { top: string; bottom: string } | null): void {
    if (this.scene.background instanceof CanvasTexture) this.scene.background.dispose();
    this.scene.background = sky && gradient(sky.top, sky.bottom);
  }

  /** What the camera sees, as a picture. Drawn and read in one go, since the canvas keeps nothing. */
  picture(sky: { top: string; bottom: string }): string {
    this.backdrop(sky);
    this.render();
    const address = this.renderer.domElement.toDataURL('image/png');
    this.backdrop(null);
    this.render();
    return address;
  }

  bodyMatrix(name: string): number[] {
    return this.poses.of(this.run.body(name)).toArray();
  }
}

function gradient(top: string, bottom: string): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = 2;
  canvas.height = 256;
  const pen = canvas.getContext('2d')!, fill = pen.createLinearGradient(0, 0, 0, canvas.height);
  fill.addColorStop(0, top);
  fill.addColorStop(1, bottom);
  pen.fillStyle = fill;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

function travels({ start, run }: Bounds, up: Vector3): boolean {
  const before = Math.max(...start.getSize(new Vector3()).toArray()), after = run.getSize(new Vector3());
  const high = Math.abs(after.dot(up)), level = Math.max(...after.addScaledVector(up, -after.dot(up)).toArray().map(Math.abs));
  return before > 0 && (level > travelRatio.level * before || high > travelRatio.upright * before);
}

/** Height 0 where the mechanism nearly stands on it, else its lowest point. */
function groundHeight(box: Box3, up: Vector3, size: number): number {
  const a = box.min.dot(up), b = box.max.dot(up), lowest = Math.min(a, b);
  return lowest > -0.03 * size && lowest < 0.15 * size ? 0 : lowest - 0.01 * size;
}
