// The bar at the bottom: play, step, scrub, speed.
import { number, timeDigits } from '../format.ts';
import type { Run } from '../run.ts';
import type { State } from '../state.ts';
import { h, icon, iconButton } from './dom.ts';
import { marksBar } from './marks.ts';

export const speeds = [0.05, 0.1, 0.2, 0.5, 1, 2, 5];

export class Player {
  constructor(protected readonly run: Run, protected readonly state: State) {}

  /** The speeds to choose from; without an end: as fast as it can. */
  get speeds(): number[] {
    return speeds;
  }

  get first(): number {
    return this.run.time[0];
  }

  seek(t: number): void {
    this.state.set('time', Math.min(this.run.end, Math.max(this.first, t)));
  }

  /** From the end, playing starts anew. */
  toggle(): void {
    if (!this.state.get('playing') && this.state.get('time') >= this.run.end) this.seek(this.first);
    this.state.set('playing', !this.state.get('playing'));
  }

  /** By hand. */
  scrub(t: number): void {
    this.state.set('playing', false);
    this.seek(t);
  }

  /** To the next recorded row, or the one before. */
  step(direction: 1 | -1): void {
    this.scrub(this.rowBeside(direction));
  }

  protected rowBeside(direction: 1 | -1): number {
    const { row, part } = this.run.place(this.state.get('time'));
    const at = row + part, near = 1e-3; // a time that is a row but for its rounding counts as that row
    const to = direction > 0 ? Math.floor(at + near) + 1 : Math.ceil(at - near) - 1;
    return this.run.time[Math.min(this.run.rows - 1, Math.max(0, to))];
  }

  jump(part: number): void {
    this.seek(this.state.get('time') + part * (this.run.end - this.first));
  }

  changeSpeed(direction: 1 | -1): void {
    const now = this.state.get('speed');
    const next = direction > 0 ? this.speeds.find((s) => s > now) : this.speeds.findLast((s) => s < now);
    if (next !== undefined) this.state.set('speed', next);
  }

  /** Follows the clock; after a stall of the page at most a tenth of a second is skipped. */
  advance(seconds: number): void {
    const t = this.state.get('time') + Math.min(seconds, 0.1) * this.state.get('speed');
    this.seek(t);
    if (t >= this.run.end) this.state.set('playing', false);
  }
}

const speedOption = (s: number) => h('option', { value: String(s) }, s === Infinity ? 'free' : `${s}×`);

export function timeline(run: Run, state: State, player: Player): HTMLElement {
  const play = iconButton('play', 'Play (Space)', () => player.toggle());
  const slider = h('input', {
    type: 'range', min: String(run.time[0]), max: String(run.end), step: 'any', 'aria-label': 'Time', class: 'slider',
  });
  const clock = h('output', { class: 'clock', 'aria-label': 'Time' });
  const speed = h('select', { 'aria-label': 'Speed' }, ...player.speeds.map(speedOption));

  slider.addEventListener('input', () => player.scrub(slider.valueAsNumber));
  speed.addEventListener('change', () => state.set('speed', Number(speed.value)));
  const showTime = () => {
    const t = state.get('time'), digits = timeDigits(run.end);
    slider.max = String(run.end);
    slider.value = String(t);
    slider.style.setProperty('--part', String((t - run.time[0]) / (run.end - run.time[0] || 1)));
    slider.setAttribute('aria-valuetext', `${number(t)} seconds`);
    clock.textContent = `${t.toFixed(digits)} / ${Number(run.end.toFixed(digits))} s`;
  };
  const showPlaying = () => {
    const playing = state.get('playing');
    play.replaceChildren(icon(playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', playing ? 'Pause (Space)' : 'Play (Space)');
  };
  const showSpeed = () => {
    const now = String(state.get('speed'));
    if (![...speed.options].some(({ value }) => value === now)) speed.append(speedOption(Number(now))); // of --speed
    speed.value = now;
  };
  state.on(['time', 'grown'], showTime);
  state.on('playing', showPlaying);
  state.on('speed', showSpeed);
  showTime();
  showSpeed();
  return h(
    'footer', {},
    iconButton('start', 'To the start (Home)', () => player.seek(player.first)),
    iconButton('back', 'One row back (Left)', () => player.step(-1)),
    play,
    iconButton('forward', 'One row forward (Right)', () => player.step(1)),
    h('div', { class: 'track' }, slider, marksBar(run, state, (t) => player.seek(t))), clock, speed,
  );
}
