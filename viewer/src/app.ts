// Puts the page together and keeps it in step with the state.
import { Vector3 } from 'three';
import { withPrefix, number, timeDigits } from './format.ts';
import { type FrameInfo, ground, type Run, type Vec3 } from './run.ts';
import { type Live, LivePlayer } from './live.ts';
import { Push } from './push.ts';
import type { ModeMotion } from './scene/mode.ts';
import { View } from './scene/view.ts';
import type { ViewName } from './scene/camera.ts';
import { type Selection, State } from './state.ts';
import { bendingBox } from './ui/bending.ts';
import { card } from './ui/card.ts';
import { h } from './ui/dom.ts';
import { fileName, record, save } from './ui/export.ts';
import { header } from './ui/header.ts';
import { helpDialog } from './ui/help.ts';
import { listenToKeys } from './ui/keys.ts';
import { livePanel } from './ui/live.ts';
import { lists } from './ui/lists.ts';
import { ModePlayer, modesBar, modesPanel, modeTitle } from './ui/modes.ts';
import { Plots } from './ui/plots.ts';
import { freedomsPanel } from './ui/freedoms.ts';
import { signalsPanel } from './ui/signals.ts';
import { Player, timeline } from './ui/timeline.ts';
import { Triad } from './ui/triad.ts';

const slowFrame = 40, slowFramesInARow = 10; // ms; then less is drawn
const clickReach = 4; // px; more is a drag
const filmedPeriods = 2; // of a mode

/** What follows the # of the address: `plain` does not smooth edges, `bare` shows the scene alone. */
const wants = (what: string) => location.hash.slice(1).split(',').includes(what);
const prefers = (what: string) => matchMedia(`(${what})`).matches;

export class App {
  readonly state: State;
  readonly view: View;
  private readonly canvas = h('canvas', { role: 'img', tabindex: '0' });
  private readonly clock = h('div', { class: 'big-clock', 'aria-hidden': 'true' });
  private readonly label = h('div', { class: 'label', hidden: true });
  private readonly distance = h('div', { class: 'label distance', hidden: true });
  private readonly scale = h('div', { class: 'legend-of-arrows' });
  private readonly note = h('div', { class: 'note', role: 'status', hidden: true });
  private readonly stage = h('main', { class: 'stage' });
  private readonly triad = new Triad();
  private readonly player: Player;
  private readonly modes: ModePlayer | null = null; // of a page of modes
  private drawn: { mode: object; motion: ModeMotion } | null = null;
  readonly plots: Plots;
  private readonly help: HTMLDialogElement;
  private asked = false;
  private moved = true;
  private before = 0;
  private slowFrames = 0;
  private recording = false;
  private readonly push: Push | null = null;

  constructor(readonly run: Run, ghost?: Run, private readonly live?: Live) {
    const dark = prefers('prefers-color-scheme: dark');
    this.state = new State({
      time: run.time[0], tried: null, mode: null, phase: 0, amplitude: 1, rest: true, playing: false, speed: 1, selection: null, joints: true, forces: !run.modeSets, torques: false, trace: true, xray: false,
      follow: false, measure: false, bend: 1, colouring: 'displacement', theme: dark ? 'dark' : 'light', grown: 0, renewed: 0,
    });
    if (run.modeSets) this.modes = new ModePlayer(run, this.state, run.modeSets);
    this.player = this.modes ?? (live ? new LivePlayer(run, this.state, live) : new Player(run, this.state));
    this.help = helpDialog(this.modes !== null);
    document.documentElement.dataset.theme = this.state.get('theme');
    this.stage.append(this.canvas);
    this.view = new View(run, this.canvas, { calm: prefers('prefers-reduced-motion: reduce'), plain: wants('plain') }, ghost);
    this.plots = new Plots(run, this.state, (t) => this.player.seek(t), ghost);
    this.build();
    this.listen();
    if (live) {
      this.push = new Push(this.canvas, this.view, run, live, () => this.moveAndDraw());
      this.listenToGrowth(live);
    }
    this.state.set('follow', this.view.travels);
    this.applyTheme();
    this.applyToggles();
    this.resize();
    this.view.frame('iso');
    this.plots.showSelection();
    if (this.modes && !prefers('prefers-reduced-motion: reduce')) this.modes.toggle();
    live?.tell();
    if (live) this.takeLook(live.takeLook());
  }

  private build(): void {
    const { run, state, modes } = this;
    this.canvas.setAttribute('aria-label', `The mechanism in three dimensions: ${run.header.title}`);
    this.stage.append(this.clock, this.label, this.distance, card(run, state), this.scale, this.note, this.triad.root);
    if (this.view.flex && !modes) this.stage.append(bendingBox(this.view.flex, state));
    const actions = {
      view: (name: ViewName) => this.look(name),
      picture: () => this.savePicture(),
      film: () => this.saveFilm(),
      help: () => this.help.showModal(),
      escape: () => this.escape(),
      mode: modes ? (direction: 1 | -1) => modes.move(direction) : undefined,
    };
    const kind = modes ? 'still modal' : run.rows > 1 || this.live ? '' : 'still';
    const panel = modes ? modesPanel(run, state, modes) : this.live ? livePanel(this.live) : freedomsPanel(run, state);
    const bar = modes ? modesBar(state, modes, () => this.motion()) : timeline(run, state, this.player);
    document.body.append(
      h(
        'div', { class: ['app', kind, wants('bare') ? 'bare' : ''].filter(Boolean).join(' ') },
        header(run, state, actions, this.live), lists(run, state, this.view.bodies.colours), this.stage, signalsPanel(run, this.plots, panel), bar,
      ),
      this.help,
    );
    listenToKeys(state, this.player, actions);
  }

  private listen(): void {
    const { state } = this;
    state.on(['time', 'tried', 'mode', 'phase', 'amplitude'], () => this.moveAndDraw());
    state.on(['bend', 'colouring'], () => {
      if (this.view.flex) Object.assign(this.view.flex, { magnified: state.get('bend'), colouring: state.get('colouring') });
      this.moveAndDraw();
    });
    state.on('playing', () => {
      this.before = 0;
      this.draw();
    });
    state.on(['joints', 'forces', 'torques', 'trace', 'xray', 'follow', 'measure', 'rest', 'selection'], () => this.applyToggles());
    state.on('theme', () => this.applyTheme());
    this.view.rig.controls.addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.stage);
    let down = { x: 0, y: 0 };
    this.canvas.addEventListener('pointerdown', (event) => (down = { x: event.clientX, y: event.clientY }));
    this.canvas.addEventListener('click', (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < clickReach) this.click(event.clientX, event.clientY);
    });
  }

  private moveAndDraw(): void {
    this.moved = true;
    this.draw();
  }

  /** Rows come sixty times a second. Curves and marks follow five times, and what depends on the whole run when it is longer by half. */
  private listenToGrowth(live: Live): void {
    let drawn = 0, scaled = this.run.end;
    live.onGrowth((replaced) => {
      const now = performance.now(), { run, view, state } = this;
      if (now - drawn < 200 && !replaced) return;
      drawn = now;
      this.plots.renew();
      view.trace.renew();
      const silent = [view.forces, view.torques].filter(({ perTenth }) => perTenth === 0);
      if (run.end > 1.5 * scaled || replaced) {
        scaled = run.end;
        view.renew();
        this.showScale();
      } else {
        for (const arrows of silent) arrows.setScale(); // the first force of all must have an arrow
        if (silent.some(({ perTenth }) => perTenth > 0)) this.showScale();
      }
      state.set('renewed', state.get('renewed') + 1);
      this.moveAndDraw();
    });
    // A new start keeps the eye where it was.
    live.look = () => {
      const { state, view: { rig: { camera, controls } } } = this;
      return { eye: camera.position.toArray(), target: controls.target.toArray(), selection: state.get('selection'), theme: state.get('theme') };
    };
  }

  private takeLook(look: unknown): void {
    if (!look) return;
    const { eye, target, selection, theme } = look as { eye: Vec3; target: Vec3; selection: Selection | null; theme: 'light' | 'dark' };
    const { camera, controls } = this.view.rig;
    camera.position.set(...eye);
    controls.target.set(...target);
    controls.update();
    this.state.set('theme', theme);
    this.state.set('selection', selection);
  }

  private click(clientX: number, clientY: number): void {
    const box = this.canvas.getBoundingClientRect();
    const hit = this.view.pick(2 * ((clientX - box.left) / box.width) - 1, 1 - 2 * ((clientY - box.top) / box.height));
    if (this.state.get('measure')) {
      if (hit) this.view.measure.add(hit.body, hit.point, this.view.poses);
      this.applyToggles();
    } else if (!hit || hit.body === ground) this.state.set('selection', null);
    else this.state.set('selection', { of: 'body', name: this.run.header.bodies[hit.body].name });
  }

  /** What is selected: a body at its origin, or a joint or force at its frame on the second body. */
  private selected(): { body: number; local: Vec3; frame?: FrameInfo } | null {
    const selection = this.state.get('selection');
    if (!selection) return null;
    if (selection.of === 'body') return { body: this.run.body(selection.name), local: [0, 0, 0] };
    const frames = this.run.header.elements.find((e) => e.of === selection.of && e.name === selection.name)?.frames;
    if (!frames?.length) return null;
    const frame = frames[Math.min(1, frames.length - 1)];
    return { body: this.run.body(frame.body), local: frame.position, frame };
  }

  private applyToggles(): void {
    const { state, view } = this, body = this.selected()?.body ?? null;
    view.joints.group.visible = state.get('joints');
    view.forces.group.visible = state.get('forces');
    view.torques.group.visible = state.get('torques');
    this.showScale();
    view.xray(state.get('xray'));
    if (view.rest) view.rest.group.visible = state.get('rest');
    view.select(state.get('selection')?.of === 'body' ? body : null);
    view.trace.show(state.get('trace') && body !== null && body !== ground ? body : null);
    view.follow(state.get('follow') && this.run.header.bodies.length > 0 ? (body !== null && body !== ground ? body : 0) : null);
    if (!state.get('measure')) view.measure.clear();
    this.stage.classList.toggle('measuring', state.get('measure'));
    const nothing = this.run.header.bodies.length === 0 ? 'This result has no bodies to draw; its signals are beside' : '';
    this.say(state.get('measure') && view.measure.count < 2 ? `Measure: click ${view.measure.count === 0 ? 'a first' : 'a second'} point on a body` : nothing);
    this.moved = true;
    this.draw();
  }

  /** How long an arrow is, for those that are shown. */
  private showScale(): void {
    const { forces, torques } = this.view;
    const lines = [forces, torques].filter((arrows) => arrows.group.visible && arrows.perTenth > 0);
    this.scale.replaceChildren(...lines.map(({ kind, perTenth }) =>
      h('div', {}, `${kind.heads === 2 ? 'double arrow' : 'arrow'} of 10 % of the scene = ${withPrefix(perTenth, kind.unit)}`)));
    const { ghost } = this.view;
    if (ghost) this.scale.append(h('div', {}, `second result: blue together, red ${withPrefix(ghost.greatest, 'm')} apart`));
    this.scale.hidden = this.scale.childElementCount === 0;
  }

  private applyTheme(): void {
    const theme = this.state.get('theme');
    document.documentElement.dataset.theme = theme;
    this.view.theme(theme === 'dark');
    this.draw();
  }

  private resize(): void {
    this.view.resize(this.stage.clientWidth, this.stage.clientHeight);
    this.draw();
  }

  private look(name: ViewName): void {
    this.view.frame(name);
    this.draw();
  }

  private escape(): void {
    const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
    if (dialog) dialog.close();
    else if (this.state.get('measure')) this.state.set('measure', false);
    else this.state.set('selection', null);
  }

  /** Draws in the next frame. Nothing is drawn while nothing changes. */
  draw(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => {
      this.asked = false;
      this.tick(now);
    });
  }

  private tick(now: number): void {
    const playing = this.state.get('playing');
    if (playing && this.before > 0) {
      this.watchSpeed(now - this.before);
      this.player.advance((now - this.before) / 1000);
    }
    this.before = playing ? now : 0;
    this.render();
    if (this.view.rig.controls.update() || this.state.get('playing')) this.draw();
  }

  render(): void {
    if (this.moved) this.move();
    this.moved = false;
    this.view.render();
    this.triad.update(this.view.rig.camera);
    this.clock.textContent = this.modes ? modeTitle(this.modes, this.state) : `${this.state.get('time').toFixed(timeDigits(this.run.end))} s`;
    this.placeLabels();
  }

  private move(): void {
    const { state } = this, motion = this.motion();
    if (motion) this.view.moveToPhase(motion, state.get('amplitude'), state.get('phase'));
    else this.view.moveTo(state.get('time'), state.get('tried'));
  }

  /** How the chosen mode is drawn. */
  private motion(): ModeMotion | null {
    const mode = this.state.get('mode');
    if (!mode || !this.modes) return null;
    if (this.drawn?.mode !== mode) this.drawn = { mode, motion: this.view.mode(this.modes.sets[mode.set], mode.mode) };
    return this.drawn.motion;
  }

  private placeLabels(): void {
    const selected = this.selected();
    const { poses } = this.view, local = selected && new Vector3(...selected.local);
    const at = selected && (selected.frame ? poses.place(selected.frame, local!) : local!.applyMatrix4(poses.of(selected.body)));
    this.place(this.label, at, this.state.get('selection')?.name ?? '');
    const measured = this.view.measure.update(this.view.poses);
    const { push, view: { tether } } = this;
    if (push?.force) return this.place(this.distance, tether.target, `${number(push.newtons(this.state.get('time')))} N`);
    const [x, y, z] = measured?.way.toArray().map(number) ?? [];
    this.place(this.distance, measured?.middle ?? null, measured ? `${number(measured.way.length())} m  (${x}, ${y}, ${z})` : '');
  }

  private place(label: HTMLElement, point: Vector3 | null, text: string): void {
    const at = point && this.view.project(point, this.stage.clientWidth, this.stage.clientHeight);
    label.hidden = !at;
    if (!at) return;
    if (label.textContent !== text) label.textContent = text;
    label.style.transform = `translate(-50%, -50%) translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
  }

  private watchSpeed(milliseconds: number): void {
    this.slowFrames = milliseconds > slowFrame ? this.slowFrames + 1 : 0;
    if (this.slowFrames < slowFramesInARow) return;
    this.slowFrames = 0;
    if (this.view.simplify()) this.say(this.view.shadows ? '' : 'Drawn with less detail to keep up');
    this.resize();
  }

  private say(text: string): void {
    this.note.textContent = text;
    this.note.hidden = text === '';
  }

  savePicture(): void {
    save(this.view.picture(this.sky()), `${fileName(this.run.header.title)}.png`);
  }

  /** The scene at a time, as the address of a PNG: one frame of a film. */
  pictureAt(t: number): string {
    this.player.seek(t);
    this.render();
    return this.view.picture(this.sky());
  }

  private sky(): { top: string; bottom: string } {
    const style = getComputedStyle(document.documentElement);
    return { top: style.getPropertyValue('--sky-top').trim(), bottom: style.getPropertyValue('--sky-bottom').trim() };
  }

  /** Plays the run once and saves it. A second press ends it early. */
  saveFilm(): void {
    if (this.live?.going) {
      this.say('A film can be saved when the run is over.');
      return;
    }
    this.state.set('playing', false);
    if (this.recording) return;
    const stop = record(this.canvas, (film, ending) => {
      const address = URL.createObjectURL(film);
      save(address, `${fileName(this.run.header.title)}.${ending}`);
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      this.view.backdrop(null);
      this.recording = false;
      this.say('');
      this.draw();
    });
    if (!stop) {
      this.say('This browser cannot record films.');
      return;
    }
    this.view.backdrop(this.sky());
    this.say(this.modes ? 'Recording two periods; a pause ends it' : 'Recording: ends with the run, or when it is paused');
    this.recording = true;
    if (this.modes) this.modes.playOnce(filmedPeriods);
    else {
      this.player.seek(this.player.first);
      this.state.set('playing', true);
    }
    const leave = this.state.on('playing', () => {
      leave();
      stop();
    });
  }

  seek(t: number): void {
    this.player.seek(t);
  }

  select(name: string | null, of: Selection['of'] = 'body'): void {
    this.state.set('selection', name === null ? null : { of, name });
  }
}
