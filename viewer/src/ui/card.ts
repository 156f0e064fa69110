// The card of what is selected: where it is and how it moves, or what it carries.
import { number, unitText } from '../format.ts';
import type { Run } from '../run.ts';
import type { Selection, State } from '../state.ts';
import { h, nameOf } from './dom.ts';

interface Line {
  text: string;
  signals: number[];
  cells: HTMLElement[];
}

const bodyQuantities = ['position', 'velocity', 'acceleration', 'angular_velocity'];

/** The signals of a selection by quantity, vectors as one line. */
function linesOf(run: Run, selection: Selection): { text: string; signals: number[] }[] {
  const lines = new Map<string, number[]>();
  for (const i of run.signalsOf(selection.of, selection.name)) {
    const { quantity = '', on } = run.header.signals[i];
    if (selection.of === 'body' && !bodyQuantities.includes(quantity)) continue;
    const text = quantity.replaceAll('_', ' ') + (on ? ` (${on})` : '');
    const list = lines.get(text);
    if (list) list.push(i);
    else lines.set(text, [i]);
  }
  return [...lines].map(([text, signals]) => ({ text, signals }));
}

export function card(run: Run, state: State): HTMLElement {
  const box = h('section', { class: 'card', 'aria-label': 'Selection', hidden: true });
  let lines: Line[] = [];
  const fill = () => {
    for (const { signals, cells } of lines)
      signals.forEach((signal, i) => (cells[i].textContent = number(state.get('tried') ? NaN : run.valueAt(signal, state.get('time')))));
  };
  const rebuild = () => {
    const selection = state.get('selection');
    box.hidden = selection === null;
    if (!selection) return;
    const type = run.header.elements.find((e) => e.of === selection.of && e.name === selection.name)?.type;
    lines = linesOf(run, selection).map((line) => ({ ...line, cells: line.signals.map(() => h('td', { class: 'number' })) }));
    const columns = Math.max(0, ...lines.map((line) => line.cells.length));
    const rows = lines.map(({ text, signals, cells }) =>
      h(
        'tr', {}, h('th', { scope: 'row' }, text), ...cells,
        ...Array.from({ length: columns - cells.length }, () => h('td')),
        h('td', { class: 'soft' }, unitText(run.header.signals[signals[0]].unit)),
      ),
    );
    box.replaceChildren(
      h('h2', {}, nameOf(selection.name), type ? h('span', { class: 'soft' }, ` ${type.replaceAll('_', ' ')}`) : null),
      h('table', {}, ...rows),
    );
    fill();
  };
  state.on('selection', rebuild);
  state.on(['time', 'tried'], () => {
    if (!box.hidden) fill();
  });
  return box;
}
