// Curves over time with one cursor: a click sets the time, a drag zooms all plots, a double click shows everything.
import uPlot from 'uplot';
import { curveColours } from '../colours.ts';
import { number, unitText } from '../format.ts';
import type { Run, SignalInfo } from '../run.ts';
import type { State } from '../state.ts';
import { h, iconButton, nameOf } from './dom.ts';

const height = 168;
const mostCurves = 6;
export const draggedSignal = 'application/x-trammel-signal';

/** What all curves of a plot have in common stands in its title, the rest in its legend. */
function titles(infos: SignalInfo[]): { title: string; labels: string[] } {
  const common = <K extends keyof SignalInfo>(key: K) => infos.every((s) => s[key] === infos[0][key]);
  const words = (s: SignalInfo, keys: (keyof SignalInfo)[]) =>
    keys.map((key) => (key === 'quantity' ? s.quantity?.replaceAll('_', ' ') : s[key])).filter((word) => word !== undefined && word !== 'value').join(' ');
  if (infos.some((s) => s.of === undefined)) {
    return infos.length === 1 ? { title: infos[0].name, labels: [''] } : { title: '', labels: infos.map((s) => s.name) };
  }
  const keys: (keyof SignalInfo)[] = ['element', 'quantity', 'on', 'axis'];
  const shared = keys.filter(common), own = keys.filter((key) => !common(key));
  const isOneOf = (of: string) => infos.every((s) => s.of === of);
  const title = words(infos[0], shared) || (isOneOf('energy') ? 'energy' : isOneOf('output') ? 'outputs' : infos[0].of ?? '');
  return { title, labels: infos.map((s) => (infos.length === 1 ? '' : words(s, own))) };
}

/** Curves are broken where values are missing; uPlot knows that by null. */
const withGaps = (values: Float32Array) => (values.some(Number.isNaN) ? Array.from(values, (x) => (Number.isNaN(x) ? null : x)) : values);

/** Ticks of one axis with as many digits as tell them apart. */
function tickTexts(ticks: number[]): string[] {
  const largest = Math.max(...ticks.map(Math.abs)), step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : largest;
  if (!(step > 0)) return ticks.map(String);
  const digits = Math.max(1, Math.ceil(Math.log10(largest / step)) + 1);
  return ticks.map((x) => (Math.abs(x) < 1e-9 * step ? '0' : largest >= 1e5 || largest < 1e-3 ? x.toExponential(digits).replace(/\.?0*e\+?/, 'e') : String(Number(x.toPrecision(digits + 1)))));
}

/** What never changes lies in the middle; uPlot would show a zero on an axis up to 100. */
function rangeOf(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [-1, 1];
  const room = Math.abs(low) || 1;
  return low === high ? [low - 0.5 * room, high + 0.5 * room] : (uPlot.rangeNum(low, high, 0.1, true) as [number, number]);
}

class Plot {
  readonly root: HTMLElement;
  private chart: uPlot | null = null;
  private readonly holder = h('div', { class: 'chart' });
  private readonly cursor = h('div', { class: 'time-cursor' });
  private readonly legend = h('div', { class: 'legend' });
  private readonly title = h('h3', { dir: 'auto' });
  private readonly caveat = h('p', { class: 'caveat', hidden: true });
  private readings: HTMLElement[] = [];

  constructor(private readonly owner: Plots, public signals: number[]) {
    this.root = h(
      'section', { class: 'plot' },
      h('div', { class: 'plot-title' }, this.title, this.legend, iconButton('close', 'Remove this plot', () => owner.remove(this))),
      this.holder, this.caveat,
    );
    this.root.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes(draggedSignal)) event.preventDefault();
    });
    this.root.addEventListener('drop', (event) => {
      const index = Number(event.dataTransfer?.getData(draggedSignal));
      event.preventDefault();
      if (owner.fits(this, index)) {
        this.signals.push(index);
        this.draw();
      } else owner.add([index]);
    });
  }

  draw(): void {
    const { run } = this.owner, infos = this.signals.map((i) => run.header.signals[i]);
    this.describe(infos);
    this.chart?.destroy();
    this.holder.replaceChildren();
    this.chart = this.makeChart(infos);
    this.chart.over.append(this.cursor);
    this.chart.ctx.canvas.setAttribute('role', 'img');
    this.chart.ctx.canvas.setAttribute('aria-label', `${this.title.textContent} over time`);
    this.listen(this.chart.over);
    this.moveCursor();
  }

  private get colours(): string[] {
    return curveColours[this.owner.state.get('theme')];
  }

  /** Title, legend and caveats. */
  private describe(infos: SignalInfo[]): void {
    const { title, labels } = titles(infos), unit = unitText(infos[0].unit);
    this.title.textContent = title + (unit ? ` [${unit}]` : '');
    this.title.title = infos.map((s) => s.name + (s.text ? `: ${s.text}` : '')).join('\n');
    // Values of many curves would fill the panel; the card and a click on a body show them.
    this.readings = infos.map(() => h('span', { class: 'reading', hidden: infos.length > 4 }));
    this.legend.replaceChildren(
      ...infos.map((_, i) => {
        const key = h('span', { class: 'curve-key' });
        key.style.background = this.colours[i % this.colours.length];
        return h('span', { class: 'legend-entry' }, key, labels[i] ? nameOf(labels[i]) : null, this.readings[i]);
      }),
    );
    const caveats = [...new Set(infos.map((s) => s.flag).filter(Boolean))] as string[];
    this.caveat.hidden = caveats.length === 0;
    this.caveat.textContent = caveats.join('; ');
  }

  private makeChart(infos: SignalInfo[]): uPlot {
    const style = getComputedStyle(document.documentElement), line = style.getPropertyValue('--line');
    const axis = {
      stroke: style.getPropertyValue('--soft'), grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 },
      font: '11px system-ui, "DejaVu Sans", sans-serif', values: (_: uPlot, ticks: number[]) => tickTexts(ticks),
    };
    const curve = (i: number) => ({ stroke: this.colours[i % this.colours.length], width: 1.6, points: { show: false } });
    const ghosts = this.signals.map((signal, i) => ({ values: this.owner.ghostOf(signal), i })).filter((ghost) => ghost.values !== null);
    let fresh = true; // its first range is that of its data, and no zoom
    return new uPlot(
      {
        width: Math.max(80, this.holder.clientWidth),
        height,
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false, x: false, points: { show: false }, drag: { x: true, y: false, dist: 4 } },
        scales: { x: { time: false }, y: { range: (_, low, high) => rangeOf(low, high) } },
        // The same width for all plots, so that times stand below one another.
        axes: [{ ...axis, size: 24, space: 60 }, { ...axis, size: 62, space: 34 }],
        series: [{}, ...infos.map((_, i) => curve(i)), ...ghosts.map(({ i }) => ({ ...curve(i), dash: [5, 4] }))],
        hooks: {
          setScale: [(chart, key) => {
            if (key !== 'x') return;
            const { shown } = this.owner;
            if (!fresh) this.owner.zoomed(this, chart.scales.x.min, chart.scales.x.max);
            else if (shown) queueMicrotask(() => this.chart === chart && chart.setScale('x', shown));
            fresh = false;
          }],
          draw: [() => this.moveCursor()],
        },
      },
      this.data(),
      this.holder,
    );
  }

  private listen(over: HTMLElement): void {
    let downAt = 0;
    over.addEventListener('mousedown', (event) => (downAt = event.clientX));
    over.addEventListener('click', (event) => {
      if (!this.chart || Math.abs(event.clientX - downAt) > 3) return;
      this.owner.seek(this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'));
    });
  }

  /** The cursor is moved, not drawn: nothing of the plot is painted again. */
  moveCursor(): void {
    if (!this.chart) return;
    const { run, state } = this.owner;
    const x = this.chart.valToPos(state.get('time'), 'x');
    this.cursor.hidden = !(x >= 0 && x <= this.chart.over.clientWidth);
    this.cursor.style.transform = `translateX(${x}px)`;
    this.signals.forEach((signal, i) => (this.readings[i].textContent = number(state.get('tried') ? NaN : run.valueAt(signal, state.get('time')))));
  }

  /** The run has grown. */
  renew(): void {
    const { shown } = this.owner;
    this.chart?.setData(this.data(), !shown);
    if (shown) this.chart?.redraw();
  }

  private data(): uPlot.AlignedData {
    const { run } = this.owner;
    const ghosts = this.signals.map((signal) => this.owner.ghostOf(signal)).filter((values) => values !== null);
    return [run.tableTime(run.header.signals[this.signals[0]].table), ...this.signals.map((i) => withGaps(run.signal(i))), ...ghosts] as unknown as uPlot.AlignedData;
  }

  zoom(min: number, max: number): void {
    this.chart?.setScale('x', { min, max });
  }

  resize(): void {
    const width = Math.max(80, this.holder.clientWidth);
    if (this.chart && this.chart.width !== width) this.chart.setSize({ width, height });
  }

  destroy(): void {
    this.chart?.destroy();
    this.root.remove();
  }
}

export class Plots {
  readonly root = h('div', { class: 'plots' });
  private plots: Plot[] = [];
  private zooming = false;
  shown: { min: number; max: number } | null = null; // the times that all plots are zoomed to

  constructor(readonly run: Run, readonly state: State, readonly seek: (t: number) => void, private readonly ghost?: Run) {
    state.on(['time', 'tried'], () => {
      for (const plot of this.plots) plot.moveCursor();
    });
    state.on('theme', () => {
      for (const plot of this.plots) plot.draw();
    });
    state.on('selection', () => this.showSelection());
    new ResizeObserver(() => {
      for (const plot of this.plots) plot.resize();
    }).observe(this.root);
  }

  /** The signals of what is selected, else the model's own outputs. */
  showSelection(): void {
    const selection = this.state.get('selection');
    const groups = selection ? this.groupsOf(selection.of, selection.name) : this.run.header.plots;
    this.show(groups.slice(0, 8));
  }

  private groupsOf(of: string, name: string): number[][] {
    const groups = new Map<string, number[]>();
    for (const i of this.run.signalsOf(of, name)) {
      const { quantity, on } = this.run.header.signals[i];
      if (quantity === 'orientation') continue; // numbers that nobody reads
      const key = `${quantity} ${on ?? ''}`;
      const group = groups.get(key);
      if (group) group.push(i);
      else groups.set(key, [i]);
    }
    return [...groups.values()];
  }

  /** The curve of the ghost at the times of the run; nothing where it has none. */
  ghostOf(signal: number): (number | null)[] | null {
    const info = this.run.header.signals[signal];
    const index = this.ghost?.sameSignal(info) ?? -1;
    if (!this.ghost || index < 0) return null;
    const { ghost } = this, end = ghost.tableTime(ghost.header.signals[index].table).at(-1)!;
    return Array.from(this.run.tableTime(info.table), (t) => {
      const value = t <= end ? ghost.valueAt(index, t) : NaN;
      return Number.isNaN(value) ? null : value;
    });
  }

  show(groups: number[][]): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
    for (const group of groups) this.append(group);
    this.root.scrollTop = 0;
  }

  add(signals: number[]): void {
    this.append(signals, true);
    this.root.scrollTop = 0;
  }

  /** The run has grown. */
  renew(): void {
    for (const plot of this.plots) plot.renew();
  }

  private append(signals: number[], first = false): void {
    if (signals.length === 0 || signals.some((i) => !this.run.header.signals[i])) return;
    const plot = new Plot(this, signals.slice(0, mostCurves));
    if (first) this.root.prepend(plot.root);
    else this.root.append(plot.root);
    this.plots.push(plot);
    plot.draw();
  }

  remove(plot: Plot): void {
    plot.destroy();
    this.plots = this.plots.filter((other) => other !== plot);
  }

  fits(plot: Plot, index: number): boolean {
    const { signals } = this.run.header, first = signals[plot.signals[0]], wanted = signals[index];
    return wanted?.unit === first.unit && wanted.table === first.table && plot.signals.length < mostCurves && !plot.signals.includes(index);
  }

  /** All plots show the same time. */
  zoomed(source: Plot, min: number | undefined, max: number | undefined): void {
    if (this.zooming || min === undefined || max === undefined) return;
    this.zooming = true;
    this.shown = min > this.run.time[0] || max < this.run.end ? { min, max } : null;
    for (const plot of this.plots) if (plot !== source) plot.zoom(min, max);
    this.zooming = false;
  }

  get count(): number {
    return this.plots.length;
  }
}
