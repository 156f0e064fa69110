// The panel of a run that goes on: how it stands, a slider for each input of the model, and a new start with other
// parameters.
import { unitText } from '../format.ts';
import type { Live } from '../live.ts';
import { h, nameOf } from './dom.ts';

/** A range about zero: a full turn of an angle, else four times the value; what is typed beyond it widens it. */
const rangeOf = (value: number, unit: string) => Math.max(unit === 'rad' ? Math.PI : 1, 4 * Math.abs(value));

function inputSlider(live: Live, index: number): HTMLElement {
  const { name, unit, value } = live.status!.inputs[index];
  let range = rangeOf(value, unit);
  const slider = h('input', { type: 'range', class: 'slider', step: 'any', 'aria-label': name });
  const field = h('input', { type: 'number', step: 'any', 'aria-label': `${name}, as a number` });
  const show = () => {
    const now = live.status!.inputs[index]?.value ?? 0;
    if (Math.abs(now) > range) range = rangeOf(now, unit);
    Object.assign(slider, { min: String(-range), max: String(range) });
    slider.value = String(now);
    slider.style.setProperty('--part', String((now + range) / (2 * range)));
    slider.setAttribute('aria-valuetext', `${now} ${unit}`);
    if (document.activeElement !== field) field.value = String(Number(now.toPrecision(6)));
    slider.disabled = field.disabled = !live.going;
  };
  const set = (to: number) => {
    if (Number.isFinite(to)) live.send({ set: { name, value: to } });
  };
  slider.addEventListener('input', () => {
    slider.style.setProperty('--part', String((slider.valueAsNumber + range) / (2 * range)));
    set(slider.valueAsNumber);
  });
  field.addEventListener('change', () => set(field.valueAsNumber));
  live.on(() => {
    if (!slider.matches(':active')) show();
  });
  show();
  return h('div', { class: 'freedom' }, h('div', { class: 'freedom-title' }, nameOf(name), h('span', { class: 'soft' }, unitText(unit)), field), slider);
}

const withUnit = (text: string, unit: string) => (unit && Number.isFinite(Number(text)) ? `${text} ${unit}` : text);

/** Parameters act when a run starts: fields and a button, no sliders. Only what was changed is sent; a plain number has
 * the unit that stands beside its field. */
function newStart(live: Live): HTMLElement {
  const fields = live.status!.parameters.map(({ name, value, unit }) => {
    const before = String(Number(value.toPrecision(12)));
    return { name, unit, before, field: h('input', { type: 'text', value: before, 'aria-label': `Parameter ${name}`, spellcheck: 'false' }) };
  });
  const start = () => live.send({ restart: Object.fromEntries(fields.filter(({ field, before }) => field.value.trim() !== before).map(({ name, unit, field }) => [name, withUnit(field.value.trim(), unit)])) });
  const button = h('button', { type: 'button', onclick: start }, 'Start anew');
  live.on(() => (button.disabled = !live.connected));
  return h(
    'details', {}, h('summary', {}, 'Parameters'),
    ...fields.map(({ name, unit, field }) => h('label', { class: 'freedom freedom-title' }, nameOf(name), h('span', { class: 'soft' }, unitText(unit)), field)),
    h('p', { class: 'soft' }, 'They act from the start of a run. The result of this one is replaced.'), button,
  );
}

const stateText = ({ connected, status }: Live): string =>
  !connected ? 'the program has ended; this page keeps what it has'
  : status!.status !== 'running' ? `the run is over: ${status!.status}`
  : status!.held ? 'paused' : status!.real_time ? 'running in real time' : status!.speed === null ? 'running free' : `running at ${status!.speed}× the clock`;

export function livePanel(live: Live): HTMLElement {
  const state = h('span', { class: 'soft live-state', role: 'status' }), message = h('p', { class: 'caveat', role: 'alert', hidden: true });
  const show = () => {
    state.textContent = stateText(live);
    message.textContent = live.problem || live.status?.message || live.status?.cannot_show || '';
    message.hidden = message.textContent === '';
  };
  live.on(show);
  show();
  return h(
    'div', { class: 'freedoms', role: 'group', 'aria-label': 'Live run' },
    h('div', { class: 'freedom-title' }, h('h2', {}, 'Live'), state), message,
    ...live.status!.inputs.map((_, index) => inputSlider(live, index)),
    h('p', { class: 'soft' }, 'Ctrl and a drag push a body.'), newStart(live),
  );
}
