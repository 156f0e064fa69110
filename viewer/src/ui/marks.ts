// Marks over the time line: events, contacts that close and open, the place where a run stopped, and stretches in which
// an output has no value.
import { number } from '../format.ts';
import type { Run } from '../run.ts';
import type { State } from '../state.ts';
import { h } from './dom.ts';

export interface Mark {
  time: number;
  end?: number; // of a stretch
  text: string;
}

const mostMarks = 200;

/** Outputs that could not be evaluated for a while. */
function gaps(run: Run): Mark[] {
  return run.header.signals.flatMap(({ of, name }, index) =>
    of === 'output' ? run.gaps(index).map(([first, last]) => ({ time: run.time[first], end: run.time[last], text: `${name} has no value` })) : []);
}

/** Contacts that close and open between two rows, where no event says when. */
function contacts(run: Run): Mark[] {
  const said = run.events.map(({ text }) => text).join('\n');
  return run.header.signals.flatMap(({ of, element, quantity, table }, index) => {
    if (of !== 'force' || quantity !== 'penetration' || said.includes(`force '${element}':`)) return [];
    const depth = run.signal(index), time = run.tableTime(table), found: Mark[] = [];
    for (let row = 1; row < depth.length; ++row) {
      const before = depth[row - 1], now = depth[row];
      if (before > 0 === now > 0 || !Number.isFinite(before - now)) continue;
      const part = before / (before - now);
      found.push({ time: time[row - 1] + part * (time[row] - time[row - 1]), text: `contact ${element} ${now > 0 ? 'closes' : 'opens'}` });
    }
    return found;
  });
}

/** Those that are shown, and how many are not. That the run stopped is always told. */
export function marksOf(run: Run): { marks: Mark[]; left: number } {
  const events = run.events.map(({ time, text }) => ({ time, text }));
  const { failure } = run, stop: Mark[] = failure?.what ? [{ time: failure.t ?? run.end, text: `the run stopped: ${failure.what}` }] : [];
  // Stretches first: what stands at an instant lies over them and can be clicked.
  const rest = [...gaps(run), ...events, ...contacts(run)].filter(({ time }) => Number.isFinite(time)), shown = rest.slice(0, mostMarks - stop.length);
  return { marks: [...shown, ...stop], left: rest.length - shown.length };
}

/** Each mark is a button that goes to its time. */
export function marksBar(run: Run, state: State, seek: (t: number) => void): HTMLElement {
  const bar = h('div', { class: 'marks', role: 'group' });
  let marks: Mark[] = [], said = '', buttons: HTMLButtonElement[] = [];
  const rebuild = (labels: string[], left: number) => {
    buttons = labels.map((label, i) => h('button', { type: 'button', class: 'mark', title: label, 'aria-label': label, onclick: () => seek(marks[i].time) }));
    const rest = left > 0 ? h('span', { class: 'more-marks', title: `${left} more are not shown` }, `+${left}`) : null;
    bar.setAttribute('aria-label', `Marks on the time line${left > 0 ? `, ${left} more are not shown` : ''}`);
    bar.replaceChildren(...buttons, ...(rest ? [rest] : []));
  };
  const show = () => {
    const now = marksOf(run), labels = now.marks.map(({ time, text }) => `${text} (${number(time)} s)`), all = [now.left, ...labels].join('\n');
    marks = now.marks;
    if (all !== said) rebuild(labels, now.left); // else a button may have the focus
    said = all;
    const begin = run.time[0], length = run.end - begin || 1, part = (t: number) => Math.min(1, Math.max(0, (t - begin) / length));
    marks.forEach(({ time, end }, i) => {
      buttons[i].style.left = `${100 * part(time)}%`;
      if (end !== undefined) buttons[i].style.width = `max(5px, ${100 * (part(end) - part(time))}%)`;
    });
  };
  state.on('renewed', show);
  show();
  return bar;
}
