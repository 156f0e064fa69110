// The ground: a grid of lines at 1 and 10 cells that fades out, and a plane that catches shadows.
import { Color, Group, Mesh, PlaneGeometry, Quaternion, ShaderMaterial, ShadowMaterial, Vector3 } from 'three';

const vertex = `
varying vec2 place;
varying float away;
uniform float radius;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = position.xy;
  vec4 seen = viewMatrix * world;
  away = length(seen.xyz);
  gl_Position = projectionMatrix * seen;
}`;

const fragment = `
varying vec2 place;
varying float away;
uniform float cell, radius, strength;
uniform vec2 centre;
uniform vec3 ink;
float lines(float width) {
  vec2 at = place / width;
  vec2 thick = fwidth(at);
  vec2 edge = abs(fract(at - 0.5) - 0.5) / max(thick, vec2(1e-6));
  float drawn = 1.0 - min(min(edge.x, edge.y), 1.0);
  return drawn * (1.0 - smoothstep(0.25, 0.6, max(thick.x, thick.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.25, 1.0, length(place - centre) / radius);
  float alpha = max(0.34 * lines(cell), 0.62 * lines(10.0 * cell)) * fade * strength;
  if (alpha < 0.004) discard;
  gl_FragColor = vec4(ink, alpha);
  #include <colorspace_fragment>
}`;

export class Ground {
  readonly group = new Group();
  readonly cell: number;
  private readonly grid: ShaderMaterial;

  constructor(up: Vector3, height: number, private readonly size: number) {
    this.cell = 10 ** Math.round(Math.log10(size / 8));
    const extent = 60 * size;
    this.grid = new ShaderMaterial({
      vertexShader: vertex,
      fragmentShader: fragment,
      transparent: true,
      depthWrite: false,
      uniforms: {
        cell: { value: this.cell },
        radius: { value: 9 * size },
        strength: { value: 1 },
        ink: { value: new Color('#5f6b7a') },
        centre: { value: [0, 0] },
      },
    });
    const shadow = new ShadowMaterial({ opacity: 0.26, depthWrite: false });
    for (const material of [this.grid, shadow]) {
      const plane = new Mesh(new PlaneGeometry(extent, extent), material);
      plane.receiveShadow = material === shadow;
      plane.renderOrder = -1;
      this.group.add(plane);
    }
    this.group.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up));
    this.group.position.copy(up).multiplyScalar(height);
    this.group.updateMatrixWorld();
  }

  /** The grid fades out around what is looked at. */
  centreOn(target: Vector3): void {
    const local = this.group.worldToLocal(target.clone());
    this.grid.uniforms.centre.value = [local.x, local.y];
  }

  /** The lines fade out later when looked at from afar. */
  seenFrom(distance: number): void {
    this.grid.uniforms.radius.value = Math.min(28 * this.size, Math.max(6 * this.size, 3.5 * distance));
  }

  theme(dark: boolean): void {
    this.grid.uniforms.ink.value = new Color(dark ? '#9fb0c6' : '#5f6b7a');
    this.grid.uniforms.strength.value = dark ? 0.62 : 1;
  }
}
