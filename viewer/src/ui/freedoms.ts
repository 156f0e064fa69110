// The panel of a mechanism without a run: a slider for each freedom, over the range that was computed for it.
import { number, unitText } from '../format.ts';
import type { FreedomInfo, Run } from '../run.ts';
import type { State } from '../state.ts';
import { h, nameOf } from './dom.ts';

const degrees = 180 / Math.PI;

/** Angles as people say them. */
function valueText(value: number, unit: string): string {
  if (unit === 'rad') return `${(value * degrees).toFixed(1)}°`;
  return `${number(value)} ${unitText(unit)}`.trim();
}

/** What stops it, if anything does. */
function rangeText({ ends, unit }: FreedomInfo, low: number, high: number): string {
  const stops = [ends[0] ? valueText(low, unit) : '', ends[1] ? valueText(high, unit) : ''].filter(Boolean);
  return stops.length > 0 ? `cannot be assembled beyond ${stops.join(' and ')}` : '';
}

function freedomSlider(run: Run, state: State, index: number): HTMLElement {
  const info = run.freedoms[index], { values } = run.sweep(index), low = values[0], high = values[values.length - 1];
  const name = [info.element, info.quantity].filter(Boolean).join(' '), drawn = values[info.drawn];
  const slider = h('input', { type: 'range', class: 'slider', min: String(low), max: String(high), step: 'any', 'aria-label': name });
  const reading = h('output', { class: 'reading' });
  const show = () => {
    const tried = state.get('tried'), value = tried?.freedom === index ? tried.value : drawn;
    slider.value = String(value);
    slider.style.setProperty('--part', String((value - low) / (high - low || 1)));
    slider.setAttribute('aria-valuetext', valueText(value, info.unit));
    reading.textContent = valueText(value, info.unit);
  };
  slider.addEventListener('input', () => state.set('tried', { freedom: index, value: slider.valueAsNumber }));
  slider.addEventListener('dblclick', () => state.set('tried', null));
  state.on('tried', show);
  show();
  const range = rangeText(info, low, high);
  return h(
    'div', { class: 'freedom' },
    h('div', { class: 'freedom-title' }, nameOf(info.element), h('span', { class: 'soft' }, info.quantity), reading),
    slider, range ? h('p', { class: 'soft range' }, range) : null,
  );
}

/** Null where there is nothing to move. */
export function freedomsPanel(run: Run, state: State): HTMLElement | null {
  if (run.freedoms.length === 0) return null;
  return h(
    'div', { class: 'freedoms', role: 'group', 'aria-label': 'Freedoms' },
    h('div', { class: 'freedom-title' }, h('h2', {}, 'Freedoms'), h('button', { type: 'button', onclick: () => state.set('tried', null) }, 'As drawn')),
    h('p', { class: 'soft' }, 'Each moves by itself, the others held as drawn.'),
    ...run.freedoms.map((_, index) => freedomSlider(run, state, index)),
  );
}
