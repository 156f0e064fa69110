// How far bodies have bent, or how hard they are stressed: a bar with the colours, and a slider for how many times as large
// deformations are drawn.
import { Color } from 'three';
import { withPrefix } from '../format.ts';
import { type Flex, rampAt } from '../scene/flex.ts';
import type { Colouring, State } from '../state.ts';
import { h } from './dom.ts';

const most = 100;

export function bendingBox(flex: Flex, state: State): HTMLElement {
  const bar = h('div', { class: 'ramp', role: 'img' }), greatest = h('span', { class: 'reading' }), reading = h('output', { class: 'reading' });
  const slider = h('input', { type: 'range', class: 'slider', min: '0', max: String(Math.log10(most)), step: 'any', 'aria-label': 'Deformation, drawn as many times as large' });
  bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map((part) => `#${rampAt(part, new Color()).getHexString()}`).join(', ')})`;
  const show = () => {
    const times = state.get('bend'), part = Math.log10(times) / Math.log10(most);
    slider.value = String(Math.log10(times));
    slider.style.setProperty('--part', String(part));
    reading.textContent = `× ${Number(times.toPrecision(2))}`;
    slider.setAttribute('aria-valuetext', `${Number(times.toPrecision(2))} times`);
    const stress = state.get('colouring') === 'stress';
    greatest.textContent = stress ? withPrefix(flex.greatestStress, 'Pa') : withPrefix(flex.greatest, 'm');
    bar.setAttribute('aria-label', `${stress ? 'Von Mises stress' : 'Displacement by bending'}: blue none, red ${greatest.textContent}`);
  };
  slider.addEventListener('input', () => state.set('bend', 10 ** slider.valueAsNumber));
  slider.addEventListener('dblclick', () => state.set('bend', 1));
  const choice = h('select', { 'aria-label': 'Colours of bodies that bend' }, h('option', { value: 'displacement' }, 'Displacement'), h('option', { value: 'stress' }, 'Von Mises stress'));
  choice.addEventListener('change', () => state.set('colouring', choice.value as Colouring));
  state.on(['bend', 'colouring', 'renewed'], show);
  show();
  return h(
    'div', { class: 'bending freedom', role: 'group', 'aria-label': 'Deformation' },
    flex.hasStress ? choice : null, bar, h('div', { class: 'freedom-title' }, h('span', {}, '0'), greatest), h('div', { class: 'freedom-title' }, h('span', {}, 'Deformation'), reading), slider,
  );
}
