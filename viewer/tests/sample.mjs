// A slider-crank by its closed formulas, with every kind of thing that the page draws.
export const names = {
  hostileTitle: `</script><script>alert(1)</script> "quotes" 'and' & ‮drawkcab‬`,
  hostileBody: `<img src=x onerror=alert(2)>`,
};

const crank = 0.15, rod = 0.35, end = 3;
export const rows = 301;

export function sampleRun({ title = 'Slider-crank by formulas', rodName = 'rod' } = {}) {
  const time = Array.from({ length: rows }, (_, i) => (end * i) / (rows - 1));
  const angle = time.map((t) => 0.5 + 2.5 * t);
  const dip = angle.map((a) => Math.asin((crank * Math.sin(a)) / rod));
  const slider = angle.map((a, i) => crank * Math.cos(a) + rod * Math.cos(dip[i]));
  // Turned about y: x to -z.
  const turned = (angles, sign) => [angles.map((a) => Math.cos(a / 2)), time.map(() => 0), angles.map((a) => sign * Math.sin(a / 2)), time.map(() => 0)];
  const still = time.map(() => 0);
  const pins = { x: angle.map((a) => crank * Math.cos(a)), z: angle.map((a) => crank * Math.sin(a)) };
  const bodies = [
    { name: 'crank', kind: 'spatial', mass: 1, center_of_mass: [crank / 2, 0, 0], pose: [still, still, still, ...turned(angle, -1)] },
    { name: rodName, kind: 'spatial', mass: 0.5, center_of_mass: [rod / 2, 0, 0], pose: [pins.x, still, pins.z, ...turned(dip, 1)] },
    { name: 'slider', kind: 'spatial', mass: 2, center_of_mass: [0, 0, 0], pose: [slider, still, still, ...turned(still, 1)] },
    { name: 'bob', kind: 'spatial', mass: 0.1, center_of_mass: [0, 0, -0.1], pose: [slider.map((x) => x + 0.12), still, still, ...turned(time.map((t) => 0.6 * Math.sin(4 * t)), 1)] },
  ];
  const straight = [1, 0, 0, 0], alongY = [Math.SQRT1_2, -Math.SQRT1_2, 0, 0], alongX = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];
  const shape = (name, type, body, size, position, color, quaternion = straight) => ({ name, type, body, size, position, quaternion, color });
  const shapes = [
    shape('crank', 'box', 'crank', [crank + 0.04, 0.03, 0.04], [crank / 2, 0, 0], 'steel'),
    shape('rod', 'box', rodName, [rod, 0.02, 0.025], [rod / 2, 0, 0], 'orange'),
    shape('slider', 'box', 'slider', [0.1, 0.08, 0.08], [0, 0, 0], 'steel'),
    shape('rail', 'cylinder', 'ground', [0.004, 0.6], [0.35, 0, 0], 'black', alongX),
    shape('wheel', 'tube', 'crank', [0.06, 0.045, 0.02], [0, 0.03, 0], 'brass', alongY),
  ];
  const frame = (body, position, quaternion = alongY) => ({ body, position, quaternion });
  const element = (of, type, name, attachment, ...frames) => ({ name, of, type, attachment, frames });
  const elements = [
    element('joint', 'revolute', 'pivot', 'joint', frame('ground', [0, 0, 0]), frame('crank', [0, 0, 0])),
    element('joint', 'spherical', 'pin', 'joint', frame('crank', [crank, 0, 0]), frame(rodName, [0, 0, 0])),
    element('joint', 'universal', 'wrist', 'joint', frame(rodName, [rod, 0, 0]), frame('slider', [0, 0, 0])),
    element('joint', 'translational', 'guide', 'joint', frame('ground', [0, 0, 0], alongX), frame('slider', [0, 0, 0], alongX)),
    element('joint', 'revolute', 'hook', 'joint', frame('slider', [0.12, 0, 0]), frame('bob', [0, 0, 0])),
    element('force', 'translational_spring_damper', 'spring', 'two_points', frame('ground', [0.75, 0, 0]), frame('slider', [0.05, 0, 0])),
  ];
  const signals = [];
  const add = (info, values) => signals.push({ info, values }) - 1;
  const vector = (of, elementName, quantity, unit, xyz, more = {}) =>
    xyz.map((values, i) => add({ name: `${of}.${elementName}.${quantity}.${'xyz'[i]}`, unit, of, element: elementName, quantity, axis: 'xyz'[i], ...more }, values));
  const acceleration = angle.map((a) => -6.25 * (crank * Math.cos(a) + (crank * crank * Math.cos(2 * a)) / rod));
  const x = add({ name: 'slider_x', unit: 'm', of: 'output', element: 'slider_x', quantity: 'value' }, slider);
  const gap = add({ name: 'gap', unit: 'm', of: 'output', element: 'gap', quantity: 'value' }, time.map((t, i) => (t > 1 && t < 1.5 ? NaN : 0.75 - slider[i])));
  vector('body', 'slider', 'velocity', 'm/s', [angle.map((a) => -2.5 * crank * Math.sin(a)), still, still]);
  const push = acceleration.map((a) => 2 * a);
  vector('joint', 'pin', 'force', 'N', [push, still, push.map((f, i) => f * Math.tan(dip[i]) + 5)], { flag: 'not unique: least-norm reaction' });
  vector('joint', 'guide', 'force', 'N', [still, still, push.map((f, i) => 20 - f * Math.tan(dip[i]))]);
  vector('force', 'spring', 'force_on_second', 'N', [slider.map((s) => 60 * (0.4 - s)), still, still]);
  const energy = ['kinetic', 'potential', 'total'].map((quantity, k) =>
    add({ name: `energy.${quantity}`, unit: 'J', of: 'energy', quantity }, angle.map((a) => (k === 0 ? 0.4 + 0.2 * Math.cos(2 * a) : k === 1 ? 0.3 * Math.sin(a) : 0.4 + 0.2 * Math.cos(2 * a) + 0.3 * Math.sin(a)))),
  );
  return { title, time, bodies, shapes, elements, signals, plots: [[x, gap], energy] };
}
