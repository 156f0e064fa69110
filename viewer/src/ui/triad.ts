// The axes of the world in the corner of the scene.
import { type Camera, Vector3 } from 'three';

const ns = 'http://www.w3.org/2000/svg';
const axes: [string, Vector3][] = [['x', new Vector3(1, 0, 0)], ['y', new Vector3(0, 1, 0)], ['z', new Vector3(0, 0, 1)]];

export class Triad {
  readonly root = document.createElementNS(ns, 'svg');
  private readonly parts = axes.map(([name, axis]) => {
    const group = document.createElementNS(ns, 'g'), line = document.createElementNS(ns, 'line'), text = document.createElementNS(ns, 'text');
    group.setAttribute('class', `axis-${name}`);
    text.textContent = name;
    group.append(line, text);
    return { axis, group, line, text };
  });

  constructor() {
    this.root.setAttribute('class', 'triad');
    this.root.setAttribute('viewBox', '-40 -40 80 80');
    this.root.setAttribute('aria-hidden', 'true');
    this.root.append(...this.parts.map((part) => part.group));
  }

  update(camera: Camera): void {
    const seen = this.parts.map((part) => ({ part, v: part.axis.clone().transformDirection(camera.matrixWorldInverse) }));
    seen.sort((p, q) => p.v.z - q.v.z);
    for (const { part, v } of seen) {
      part.line.setAttribute('x2', (26 * v.x).toFixed(1));
      part.line.setAttribute('y2', (-26 * v.y).toFixed(1));
      part.text.setAttribute('x', (34 * v.x).toFixed(1));
      part.text.setAttribute('y', (-34 * v.y + 4).toFixed(1));
      this.root.append(part.group); // the nearest last
    }
  }
}
