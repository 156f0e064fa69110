// The panel of plots with a field to search all signals: a click adds a plot, a drag adds a curve to one.
import { unitText } from '../format.ts';
import type { Run } from '../run.ts';
import { h, nameOf } from './dom.ts';
import { draggedSignal, type Plots } from './plots.ts';

const mostFound = 60;

/** Every word must be in the name or its description. */
function search(run: Run, text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: number[] = [];
  run.header.signals.forEach((s, i) => {
    const all = `${s.name} ${s.text ?? ''} ${s.unit}`.toLowerCase();
    if (words.every((word) => all.includes(word))) found.push(i);
  });
  return found;
}

/** `first` stands above the signals. */
export function signalsPanel(run: Run, plots: Plots, first: HTMLElement | null): HTMLElement {
  const field = h('input', { type: 'search', placeholder: `Find among ${run.header.signals.length} signals`, 'aria-label': 'Find a signal to plot' });
  const results = h('div', { class: 'results', hidden: true, role: 'group', 'aria-label': 'Signals found' });
  const show = () => {
    const text = field.value.trim();
    results.hidden = text === '';
    if (!text) return;
    const found = search(run, text);
    const rows = found.slice(0, mostFound).map((i) => {
      const { name, unit, text: about } = run.header.signals[i];
      const row = h(
        'button', { type: 'button', class: 'row', draggable: 'true', title: about ?? name, onclick: () => plots.add([i]) },
        nameOf(name), h('span', { class: 'soft' }, unitText(unit)),
      );
      row.addEventListener('dragstart', (event) => event.dataTransfer?.setData(draggedSignal, String(i)));
      return row;
    });
    const more = found.length - rows.length;
    const rest = found.length === 0 ? 'No signal has this in its name.' : more > 0 ? `… and ${more} more` : '';
    results.replaceChildren(...rows, ...(rest ? [h('p', { class: 'soft' }, rest)] : []));
  };
  field.addEventListener('input', show);
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    field.value = '';
    show();
  });
  return h('aside', { class: 'signals', 'aria-label': 'Signals' }, first, h('h2', {}, 'Signals'), field, results, plots.root);
}
