// Shapes that a model does not draw but its elements know: the rim of a disc that rolls, the ball of a bearing, what is
// in contact, the wheels of gears.
import { type ElementInfo, type FrameInfo, numberOf, numbersOf, type Run, type ShapeInfo } from '../run.ts';
import { gearShapes } from './gears.ts';

function shapeOf(element: ElementInfo): ShapeInfo | null {
  const { type, name, frames } = element;
  if (frames.length < 2) return null;
  const { body, position, quaternion } = frames[1];
  const radius = numberOf(element, 'radius'), ballRadius = numberOf(element, 'ball_radius');
  const of = (form: string, size: number[]): ShapeInfo => ({ name, type: form, body, size, position, quaternion });
  if (type === 'rolling_disc' && radius > 0) return of('tube', [radius, 0.93 * radius, 0.06 * radius]);
  if (type === 'rolling_sphere' && radius > 0) return of('sphere', [radius]);
  if (type.startsWith('ball_in_') && ballRadius > 0) return of('sphere', [ballRadius]);
  return null;
}

/** Turned about y, so that what is along z comes along x. */
function alongX([w, x, y, z]: FrameInfo['quaternion']): FrameInfo['quaternion'] {
  return [Math.SQRT1_2 * (w - y), Math.SQRT1_2 * (x - z), Math.SQRT1_2 * (y + w), Math.SQRT1_2 * (z + x)];
}

/** A shape of a contact, along z of its frame; planes and hollows are not drawn. */
function contactShape(element: ElementInfo, side: 'a' | 'b'): ShapeInfo | null {
  const { name, frames } = element, frame = frames[side === 'a' ? 0 : 1], number = (field: string) => numberOf(element, `${field}_${side}`);
  const of = (type: string, size: number[]) => (frame && size.every((x) => x > 0) ? { name, type, size, ...frame } : null);
  switch (element.words?.[`shape_${side}`]) {
    case 'sphere': return of('sphere', [number('radius')]);
    case 'capsule': return of('capsule', [number('radius'), number('length')]);
    case 'cylinder': return of('cylinder', [number('radius'), number('length')]);
    case 'disc': return of('cylinder', [number('radius'), 2 * number('rounding')]);
    case 'box': return of('box', numbersOf(element, `size_${side}`));
    case 'roller': return of('cylinder', [number('radius'), number('length') || 0.5 * number('radius')]);
    case 'rail': {
      const bar = of('capsule', [number('radius'), number('length')]);
      return bar && { ...bar, quaternion: alongX(bar.quaternion) };
    }
    case 'sprocket': {
      const radius = number('pitch') / (2 * Math.sin(Math.PI / number('teeth'))); // of the circle of its pockets
      return of('gear', [radius, 0.35 * radius, number('teeth')]);
    }
    default: return null;
  }
}

/** Only for bodies that have no shape of their own, and one of each sort. */
export function impliedShapes(run: Run): ShapeInfo[] {
  const drawn = new Set(run.header.shapes.map((shape) => shape.body));
  const found = new Map<string, ShapeInfo>();
  const known = run.header.elements.flatMap((element) => element.type === 'contact' ? [contactShape(element, 'a'), contactShape(element, 'b')] : [shapeOf(element)]);
  const rollers = known.filter((shape) => shape !== null && shape.body !== 'ground') as ShapeInfo[];
  const rounded = (numbers: number[]) => numbers.map((x) => x.toPrecision(5)).join(' ');
  for (const shape of [...rollers, ...gearShapes(run)])
    if (!drawn.has(shape.body)) found.set(`${shape.body} ${shape.type} ${rounded([...shape.size, ...shape.position])}`, shape);
  return [...found.values()];
}
