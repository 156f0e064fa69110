// A page of modes: the list of them, from which one is chosen, and the bar that plays it. The motion goes at a rate that
// can be watched whatever the frequency is.
import { number, withPrefix } from '../format.ts';
import type { ModeInfo, ModeSet, Run } from '../run.ts';
import type { State } from '../state.ts';
import type { ModeMotion } from '../scene/mode.ts';
import { h, icon, iconButton, nameOf } from './dom.ts';
import { Player } from './timeline.ts';

const drawnRate = 0.5; // periods a second at speed 1
const stepsOfPeriod = 16;
const mostAmplitude = 3;
const pageOfList = 10; // modes that Page Up and Page Down pass over

/** The first that deforms the mechanism. */
const firstOf = ({ modes }: ModeSet) => Math.max(0, modes.findIndex(({ kind }) => kind !== 'rigid'));

const hertz = (mode: ModeInfo) => (mode.oscillates ? number(mode.frequency) : '0');
const kindOf = (mode: ModeInfo, damped: boolean) => mode.kind || (damped && !mode.oscillates ? 'aperiodic' : '');

/** As a screen reader says it. */
function spoken(mode: ModeInfo, index: number, damped: boolean): string {
  const damping = damped && mode.oscillates ? `, damping ratio ${number(mode.damping)}` : '', kind = kindOf(mode, damped);
  return `Mode ${index + 1}, ${hertz(mode)} Hz${damping}${kind ? `, ${kind}` : ''}: ${mode.bodies.join(', ')}`;
}

/** Plays periods of the chosen mode. */
export class ModePlayer extends Player {
  private ends = Infinity; // of a film

  constructor(run: Run, state: State, readonly sets: ModeSet[]) {
    super(run, state);
    if (sets.length > 0) state.set('mode', { set: sets.length - 1, mode: firstOf(sets[sets.length - 1]) });
  }

  get info(): ModeInfo | null {
    const chosen = this.state.get('mode');
    return chosen && this.sets[chosen.set].modes[chosen.mode];
  }

  choose(set: number, mode = firstOf(this.sets[set])): void {
    const now = this.state.get('mode'), last = this.sets[set].modes.length - 1, to = Math.min(last, Math.max(0, mode));
    if (now?.set !== set || now.mode !== to) this.state.set('mode', { set, mode: to });
  }

  move(by: number): void {
    const now = this.state.get('mode');
    if (now) this.choose(now.set, now.mode + by);
  }

  get rate(): number {
    return drawnRate * this.state.get('speed');
  }

  private turnTo(phase: number): void {
    this.state.set('playing', false);
    this.state.set('phase', phase - Math.floor(phase));
  }

  override seek(): void {} // nothing here has a time

  override toggle(): void {
    this.ends = Infinity;
    if (this.info) this.state.set('playing', !this.state.get('playing'));
  }

  override scrub(phase: number): void {
    this.turnTo(phase);
  }

  override step(direction: 1 | -1): void {
    this.turnTo((Math.round(this.state.get('phase') * stepsOfPeriod) + direction) / stepsOfPeriod);
  }

  override jump(part: number): void {
    this.turnTo(part <= -1 ? 0 : part >= 1 ? 0.5 : this.state.get('phase') + part);
  }

  /** Plays so many periods from the extreme and stops. */
  playOnce(periods: number): void {
    this.turnTo(0);
    this.toggle();
    this.ends = periods;
  }

  override advance(seconds: number): void {
    const by = Math.min(seconds, 0.1) * this.rate, phase = this.state.get('phase') + by;
    this.state.set('phase', phase - Math.floor(phase));
    this.ends -= by;
    if (this.ends > 0) return;
    this.ends = Infinity;
    this.state.set('playing', false);
  }
}

let lists = 0;

/** The modes of one sort. One of them is chosen; arrows, Home, End and the page keys choose another. */
function listOf(set: ModeSet, index: number, state: State, player: ModePlayer): HTMLElement {
  const id = `modes-${++lists}`, label = set.damped ? 'Damped modes' : 'Undamped modes';
  const options = set.modes.map((mode, i) => h(
    'div', { role: 'option', id: `${id}-${i}`, class: 'mode', 'aria-label': spoken(mode, i, set.damped), 'aria-selected': 'false', title: mode.bodies.join(', '), onclick: () => player.choose(index, i) },
    h('span', { class: 'soft' }, String(i + 1)),
    h('span', { class: 'figure' }, hertz(mode)),
    set.damped ? h('span', { class: 'figure' }, mode.oscillates ? number(mode.damping) : '') : null,
    h('span', { class: mode.kind === 'unstable' ? 'kind warns' : 'kind soft' }, kindOf(mode, set.damped)),
    nameOf(mode.bodies.join(', ')),
  ));
  const list = h('div', { role: 'listbox', class: 'mode-list', tabindex: '0', 'aria-label': label }, ...options);
  const moves: Record<string, () => void> = {
    ArrowUp: () => player.move(-1), ArrowDown: () => player.move(1), PageUp: () => player.move(-pageOfList), PageDown: () => player.move(pageOfList),
    Home: () => player.choose(index, 0), End: () => player.choose(index, set.modes.length - 1),
  };
  list.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in moves)) return;
    moves[event.key]();
    event.preventDefault();
    event.stopPropagation();
  });
  let shown: HTMLElement | null = null;
  const show = () => {
    const chosen = state.get('mode'), option = chosen?.set === index ? options[chosen.mode] : null;
    if (option === shown) return;
    shown?.setAttribute('aria-selected', 'false');
    option?.setAttribute('aria-selected', 'true');
    if (option) list.setAttribute('aria-activedescendant', option.id);
    shown = option;
    option?.scrollIntoView({ block: 'nearest' });
  };
  state.on('mode', show);
  queueMicrotask(show); // once it is in the page
  const { found, modes } = set, cut = found > modes.length ? `The page holds the lowest ${modes.length} of ${found} modes.` : '';
  return h(
    'div', { class: set.damped ? 'mode-set damped' : 'mode-set' },
    h('div', { class: 'mode head soft', 'aria-hidden': 'true' }, ...['', 'Hz', ...(set.damped ? ['ratio'] : []), '', 'moves most'].map((text) => h('span', {}, text))),
    list, cut ? h('p', { class: 'soft' }, cut) : null,
  );
}

export function modesPanel(run: Run, state: State, player: ModePlayer): HTMLElement {
  const { around, notes } = run.header.modes!, { sets } = player;
  const panels = sets.map((set, index) => listOf(set, index, state, player));
  const buttons = sets.map((set, index) => h('button', { type: 'button', onclick: () => state.get('mode')?.set !== index && player.choose(index) }, set.damped ? 'Damped' : 'Undamped'));
  const show = () => {
    const chosen = state.get('mode')?.set;
    panels.forEach((panel, index) => (panel.hidden = index !== chosen));
    buttons.forEach((button, index) => button.setAttribute('aria-pressed', String(index === chosen)));
  };
  state.on('mode', show);
  show();
  return h(
    'div', { class: 'freedoms modes', role: 'group', 'aria-label': 'Modes' },
    h('div', { class: 'freedom-title' }, h('h2', {}, 'Modes'), h('span', { class: 'soft' }, `about the ${around}`), sets.length > 1 ? h('div', { class: 'group', role: 'group', 'aria-label': 'Sort of modes' }, ...buttons) : null),
    ...panels, sets.length === 0 ? h('p', {}, 'There are no modes: nothing can move.') : null,
    ...notes.map((note) => h('p', { class: 'soft', dir: 'auto' }, note)),
  );
}

/** What the chosen mode is called over the scene. */
export function modeTitle(player: ModePlayer, state: State): string {
  const chosen = state.get('mode'), { info } = player;
  if (!chosen || !info) return '';
  const kind = kindOf(info, player.sets[chosen.set].damped);
  return `Mode ${chosen.mode + 1}: ${info.oscillates ? `${number(info.frequency)} Hz` : kind}`;
}

/** The bar at the bottom: play, phase, amplitude, speed. `motion` is how the chosen mode is drawn. */
export function modesBar(state: State, player: ModePlayer, motion: () => ModeMotion | null): HTMLElement {
  const play = iconButton('play', 'Play (Space)', () => player.toggle());
  const phase = h('input', { type: 'range', class: 'slider', min: '0', max: '1', step: 'any', 'aria-label': 'Phase' });
  const amplitude = h('input', { type: 'range', class: 'slider', min: '0', max: String(mostAmplitude), step: 'any', 'aria-label': 'Amplitude' });
  const size = h('output', { class: 'soft' }), rate = h('output', { class: 'clock', 'aria-label': 'Rate of the drawing' });
  const speed = h('select', { 'aria-label': 'Speed' }, ...player.speeds.map((s) => h('option', { value: String(s) }, `${s}×`)));
  phase.addEventListener('input', () => player.scrub(phase.valueAsNumber));
  amplitude.addEventListener('input', () => state.set('amplitude', amplitude.valueAsNumber));
  amplitude.addEventListener('dblclick', () => state.set('amplitude', 1));
  speed.addEventListener('change', () => state.set('speed', Number(speed.value)));
  const showPhase = () => {
    const now = state.get('phase');
    phase.value = String(now);
    phase.style.setProperty('--part', String(now));
    phase.setAttribute('aria-valuetext', `${Math.round(360 * now)} degrees`);
  };
  const showAmplitude = () => {
    const now = state.get('amplitude'), drawn = motion();
    const ways = drawn ? [drawn.way > 0 ? withPrefix(now * drawn.way, 'm') : '', drawn.turn > 0 ? `${((now * drawn.turn * 180) / Math.PI).toFixed(1)}°` : ''].filter(Boolean) : [];
    const text = ways.join(', ') || 'moves nothing that is drawn';
    amplitude.value = String(now);
    amplitude.style.setProperty('--part', String(now / mostAmplitude));
    amplitude.setAttribute('aria-valuetext', text);
    size.textContent = text;
    size.title = 'Largest displacement and rotation as drawn';
  };
  const showSpeed = () => {
    speed.value = String(state.get('speed'));
    rate.textContent = `drawn at ${Number(player.rate.toPrecision(2))} Hz`;
  };
  const showPlaying = () => {
    const playing = state.get('playing');
    play.replaceChildren(icon(playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', playing ? 'Pause (Space)' : 'Play (Space)');
  };
  state.on('phase', showPhase);
  state.on(['amplitude', 'mode'], showAmplitude);
  state.on('speed', showSpeed);
  state.on('playing', showPlaying);
  showPhase();
  showAmplitude();
  showSpeed();
  return h(
    'footer', {},
    iconButton('back', 'Back (Left)', () => player.step(-1)), play, iconButton('forward', 'Forward (Right)', () => player.step(1)),
    h('div', { class: 'track' }, phase), rate, speed,
    h('div', { class: 'freedom amplitude' }, h('div', { class: 'freedom-title' }, h('span', {}, 'Amplitude'), size), amplitude),
  );
}
