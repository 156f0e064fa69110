// Shapes that a model does not draw but its elements know: the rim of a disc that rolls, the ball of a bearing.
import type { ElementInfo, Run, ShapeInfo } from '../run.ts';

function shapeOf({ type, name, frames, numbers = {} }: ElementInfo): ShapeInfo | null {
  if (frames.length < 2) return null;
  const { body, position, quaternion } = frames[1];
  const { radius = 0, ball_radius = 0 } = numbers;
  const of = (form: string, size: number[]): ShapeInfo => ({ name, type: form, body, size, position, quaternion });
  if (type === 'rolling_disc' && radius > 0) return of('tube', [radius, 0.93 * radius, 0.06 * radius]);
  if (type === 'rolling_sphere' && radius > 0) return of('sphere', [radius]);
  if (type.startsWith('ball_in_') && ball_radius > 0) return of('sphere', [ball_radius]);
  return null;
}

/** Only for bodies that have no shape of their own, and one of each sort. */
export function impliedShapes(run: Run): ShapeInfo[] {
  const drawn = new Set(run.header.shapes.map((shape) => shape.body));
  const found = new Map<string, ShapeInfo>();
  for (const element of run.header.elements) {
    const shape = shapeOf(element);
    if (shape && shape.body !== 'ground' && !drawn.has(shape.body)) found.set(`${shape.body} ${shape.type} ${shape.size} ${shape.position}`, shape);
  }
  return [...found.values()];
}
