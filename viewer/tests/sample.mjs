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
  vector('joint', 'guide', 'torque', 'N m', [still, push.map((f) => 0.1 * f), still]);
  vector('force', 'spring', 'force_on_second', 'N', [slider.map((s) => 60 * (0.4 - s)), still, still]);
  const energy = ['kinetic', 'potential', 'total'].map((quantity, k) =>
    add({ name: `energy.${quantity}`, unit: 'J', of: 'energy', quantity }, angle.map((a) => (k === 0 ? 0.4 + 0.2 * Math.cos(2 * a) : k === 1 ? 0.3 * Math.sin(a) : 0.4 + 0.2 * Math.cos(2 * a) + 0.3 * Math.sin(a)))),
  );
  const events = [{ time: 1.2, text: 'contact of bob and rail closes' }];
  return { title, time, bodies, shapes, elements, signals, events, plots: [[x, gap], energy] };
}

/** A crank without a run that turns by 1 rad each way and stops there on one side; a tetrahedron as its shape. */
export function sampleModel() {
  const values = [-1, -0.5, 0, 0.5, 1], still = values.map(() => 0), one = (x) => [x];
  const body = { name: 'crank', kind: 'spatial', mass: 1, center_of_mass: [0.1, 0, 0], pose: [0, 0, 0, 1, 0, 0, 0].map(one) };
  const alongY = [Math.SQRT1_2, -Math.SQRT1_2, 0, 0];
  const turned = [still, still, still, values.map((a) => Math.cos(a / 2)), still, values.map((a) => Math.sin(a / 2)), still];
  return {
    title: 'Crank without a run', method: 'as assembled', time: [0], bodies: [body],
    shapes: [{ name: 'crank', type: 'mesh', body: 'crank', size: [0.2], position: [0, 0, 0], quaternion: [1, 0, 0, 0], mesh: 0 }],
    meshes: [{ points: [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], triangles: [[0, 0, 0, 1], [2, 1, 3, 2], [1, 3, 2, 3]] }],
    elements: [{ name: 'pivot', of: 'joint', type: 'revolute', attachment: 'joint', frames: ['ground', 'crank'].map((name) => ({ body: name, position: [0, 0, 0], quaternion: alongY })) }],
    freedoms: [{ of: 'joint', element: 'pivot', quantity: 'angle', unit: 'rad', drawn: 2, ends: [false, true], values, poses: turned }],
    signals: [{ info: { name: 'crank_angle', unit: 'rad', of: 'output', element: 'crank_angle', quantity: 'value' }, values: [0] }],
    plots: [[0]],
  };
}

/** Two arms on hinges about y at the origin, hanging, and their modes: a rigid one, a slow and a fast one; damped also one that grows, and one whose arms move a quarter of a period apart. */
export function sampleModes() {
  const arm = (name, y) => ({ name, kind: 'spatial', mass: 1, center_of_mass: [0, 0, 0], pose: [0, y, -0.5, 1, 0, 0, 0].map((x) => [x]) });
  const turn = [-0.5, 0, 0, 0, 1, 0], still = turn.map(() => 0); // about y at the origin
  const mode = (frequency, damping, bodies, more = {}) =>
    ({ frequency, damping, eigenvalue: [-damping * 2 * Math.PI * frequency, 2 * Math.PI * frequency * Math.sqrt(1 - damping ** 2)], oscillates: frequency > 0, kind: '', bodies, ...more });
  const columns = (rows) => rows[0].map((_, column) => rows.map((row) => row[column]));
  const rigid = mode(0, 0, ['left', names.hostileBody], { kind: 'rigid' });
  return {
    title: 'Modes of two arms', time: [0], bodies: [arm('left', 0), arm(names.hostileBody, 0.4)],
    shapes: ['left', names.hostileBody].map((body) => ({ name: body, type: 'box', body, size: [0.05, 0.05, 1], position: [0, 0, 0], quaternion: [1, 0, 0, 0], color: 'steel' })),
    elements: ['left', names.hostileBody].map((body, i) => ({ name: `pivot ${i}`, of: 'joint', type: 'revolute', attachment: 'joint', frames: [['ground', 0], [body, 0.5]].map(([on, z]) => ({ body: on, position: [0, on === 'ground' ? 0.4 * i : 0, z], quaternion: [Math.SQRT1_2, -Math.SQRT1_2, 0, 0] })) })),
    signals: [{ info: { name: 'angle', unit: 'rad', of: 'output', element: 'angle', quantity: 'value' }, values: [0.25] }], plots: [[0]],
    modes: {
      around: 'static equilibrium (stable)', notes: ['a note of the analysis'],
      sets: [
        { damped: false, found: 7, modes: [rigid, mode(1.5, 0, ['left']), mode(120, 0, [names.hostileBody])], shapes: columns([[...turn, ...turn], [...turn, ...still], [...still, ...turn]]) },
        {
          damped: true, found: 3, modes: [rigid, mode(0.3, -0.02, ['left'], { kind: 'unstable' }), mode(1.5, 0.1, ['left', names.hostileBody])],
          shapes: columns([[...turn, ...still, ...turn, ...still], [...turn, ...still, ...still, ...still], [...turn, ...still, ...still, ...turn]]),
        },
      ],
    },
  };
}

/** A sun and a planet on a carrier, known only by the teeth of their gear, and a bevel pair. */
export function sampleGears() {
  const still = [0, 0], pose = (x, y = 0, z = 0) => [[x, x], [y, y], [z, z], [1, 1], still, still, still];
  const frame = (body, position, quaternion = [1, 0, 0, 0]) => ({ body, position, quaternion }), alongX = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];
  const gear = (name, teeth, internal, frames) => ({ name, of: 'joint', type: 'gear', attachment: 'joints', frames, numbers: { teeth, internal } });
  return {
    title: 'Gears', time: [0, 1], signals: [],
    bodies: ['carrier', 'sun', 'planet', 'bevel'].map((name, i) => ({ name, pose: pose(i === 2 ? 0.3 : 0) })),
    elements: [
      gear('spur', [20, 40], false, [frame('carrier', [0, 0, 0]), frame('sun', [0, 0, 0]), frame('carrier', [0.3, 0, 0]), frame('planet', [0, 0, 0])]),
      gear('ring', [60, 20], true, [frame('carrier', [0, 0, 0]), frame('ground', [0, 0, 0]), frame('carrier', [0.3, 0, 0]), frame('planet', [0, 0, 0])]),
      gear('bevel', [20, 10], false, [frame('carrier', [0, 0, 0.1]), frame('sun', [0, 0, 0.1]), frame('carrier', [0.2, 0, 0], alongX), frame('bevel', [0.2, 0, 0], alongX)]),
    ],
  };
}

/** A beam of four pieces along x, two of them round, whose stress is known, clamped at the origin, whose tip rises by 50 mm within a second; a ball hinged to its tip and a force
 * on it. Its second mode stays at rest in the run; a freedom moves it, and a mode of vibration both. */
export function sampleBeam() {
  const time = Array.from({ length: 11 }, (_, i) => i / 10), x = [0, 0.25, 0.5, 0.75, 1], still = time.map(() => 0), none = x.map(() => 0);
  const pose = (px) => [px, 0, 0, 1, 0, 0, 0].map((value) => time.map(() => value));
  const frame = (body, position) => ({ body, position, quaternion: [1, 0, 0, 0] });
  const coordinate = (number, values) => ({ info: { name: `body.beam.mode.${number}`, of: 'body', element: 'beam', quantity: 'mode', axis: String(number) }, values });
  // Of a unit of the first mode: torsion, and bending about y that falls from the root to the tip; of the second one tension.
  const ends = (of) => [0, 1].flatMap((end) => of([0, 1, 2, 3].map((piece) => 1 - (piece + end) / 4)));
  const flat = [0, 0, 0, 0], stress = { round: [[0, 0, 1, 1]], stresses: [...ends((part) => [flat, part.map(() => 1e8), part.map(() => 5e7), part.map((s) => 2e9 * s), flat]), ...ends(() => [[1e9, 1e9, 1e9, 1e9], flat, flat, flat, flat])] };
  const force = 'xyz'.split('').map((axis, i) => ({ info: { name: `force.load.${axis}`, unit: 'N', of: 'force', element: 'load', quantity: 'force_on_second', axis }, values: time.map(() => (i === 2 ? 8 : 0)) }));
  return {
    title: 'A beam that bends', time, plots: [[1]],
    bodies: [{ name: 'ball', pose: pose(1.2) }, { name: 'beam', center_of_mass: [0.5, 0, 0], modes: 2, pose: pose(0) }],
    flexible: [{ body: 'beam', points: [x, none, none], segments: [[0, 1, 2, 3], [1, 2, 3, 4]], radii: [[0.02, 0.02, 0.02, 0.02]], shapes: [none, none, x.map((at) => at * at), none, x.map((at) => at * at), none], ...stress }],
    elements: [
      { name: 'hinge', of: 'joint', type: 'revolute', attachment: 'joint', frames: [frame('beam', [1, 0, 0]), frame('ball', [-0.2, 0, 0])] },
      { name: 'load', of: 'force', type: 'force', attachment: 'two_points', frames: [frame('ground', [1, 0, 1]), frame('beam', [1, 0, 0])] },
    ],
    signals: [coordinate(2, still), coordinate(1, time.map((t) => 0.05 * t)), ...force],
  };
}
