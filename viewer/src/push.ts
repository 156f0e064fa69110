// Ctrl and a drag push a body: its point under the mouse is drawn to where the mouse goes, in the plane that faces the
// camera. The program makes a force of it, which comes back with the rows.
import { Matrix4, Plane, Vector3 } from 'three';
import type { Live } from './live.ts';
import { ground, type Run } from './run.ts';
import type { View } from './scene/view.ts';

const again = 80; // ms; the program lets go when it hears nothing for 200

export class Push {
  /** The force that pushes, by its name. */
  force: string | null = null;
  private command: { push: { body: string; point: number[]; target: number[] } } | null = null;
  private readonly plane = new Plane();
  private timer = 0;
  private swallow = false;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly view: View, private readonly run: Run, private readonly live: Live, private readonly changed: () => void) {
    // Before the camera hears of it.
    canvas.addEventListener('pointerdown', (event) => this.grab(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.drag(event));
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'] as const) canvas.addEventListener(end, () => this.release());
    canvas.addEventListener('click', (event) => {
      if (this.swallow) event.stopImmediatePropagation();
      this.swallow = false;
    }, { capture: true });
    live.on(() => {
      if (!live.going) this.release();
    });
  }

  private ray(event: PointerEvent) {
    const box = this.canvas.getBoundingClientRect();
    return [2 * ((event.clientX - box.left) / box.width) - 1, 1 - 2 * ((event.clientY - box.top) / box.height)] as const;
  }

  private grab(event: PointerEvent): void {
    this.swallow = false;
    if (!(event.ctrlKey || event.metaKey) || event.button !== 0 || !this.live.going) return;
    const hit = this.view.pick(...this.ray(event));
    if (!hit || hit.body === ground) return;
    const body = this.run.header.bodies[hit.body].name, known = this.live.status!.pushes.find((push) => push.body === body);
    if (!known) return;
    event.stopImmediatePropagation();
    this.swallow = true;
    this.canvas.setPointerCapture(event.pointerId);
    const { tether, poses, rig } = this.view;
    const local = hit.point.clone().applyMatrix4(new Matrix4().copy(poses.of(hit.body)).invert());
    this.plane.setFromNormalAndCoplanarPoint(rig.camera.getWorldDirection(new Vector3()), hit.point);
    tether.target.copy(hit.point);
    tether.grab(hit.body, local);
    this.force = known.force;
    this.command = { push: { body, point: local.toArray(), target: hit.point.toArray() } };
    this.timer = window.setInterval(() => this.command && this.live.send(this.command), again);
    this.live.send(this.command);
    this.changed();
  }

  private drag(event: PointerEvent): void {
    if (!this.command) return;
    const { target } = this.view.tether;
    if (!this.view.ray(...this.ray(event)).ray.intersectPlane(this.plane, target)) return;
    this.command.push.target = target.toArray();
    this.live.send(this.command);
    this.changed();
  }

  private release(): void {
    if (!this.command) return;
    window.clearInterval(this.timer);
    this.command = this.force = null;
    this.view.tether.grab(ground, null);
    this.live.send({ push: null });
    this.changed();
  }

  /** What the force is now, N. */
  newtons(t: number): number {
    const signals = this.force && this.run.vector('force', this.force, 'force_on_second');
    return signals ? Math.hypot(...signals.map((i) => this.run.valueAt(i, t))) : NaN;
  }
}
