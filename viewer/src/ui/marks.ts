// Marks over the time line: events, the place where a run stopped, and stretches in which an output has no value.
import { number } from '../format.ts';
import type { Run } from '../run.ts';
import { h } from './dom.ts';

export interface Mark {
  time: number;
  end?: number; // of a stretch
  text: string;
}

const mostMarks = 200;

/** Outputs that could not be evaluated for a while. */
function gaps(run: Run): Mark[] {
  return run.header.tables[0].values.flatMap(({ missing = [], signals }) =>
    missing.flatMap(([column, first, rows]) => {
      const { of, name } = run.header.signals[signals[column]] ?? {};
      return of === 'output' ? [{ time: run.time[first], end: run.time[first + rows - 1], text: `${name} has no value` }] : [];
    }),
  );
}

export function marksOf(run: Run): Mark[] {
  const events = run.events.map(({ time, text }) => ({ time, text }));
  const { failure } = run, stop = failure?.what ? [{ time: failure.t ?? run.end, text: `the run stopped: ${failure.what}` }] : [];
  // Stretches first: what stands at an instant lies over them and can be clicked.
  return [...gaps(run), ...events, ...stop].filter(({ time }) => Number.isFinite(time)).slice(0, mostMarks);
}

/** Each mark is a button that goes to its time. */
export function marksBar(run: Run, seek: (t: number) => void): HTMLElement {
  const begin = run.time[0], length = run.end - begin || 1;
  const part = (t: number) => Math.min(1, Math.max(0, (t - begin) / length));
  const buttons = marksOf(run).map(({ time, end, text }) => {
    const label = `${text} (${number(time)} s)`;
    const button = h('button', { type: 'button', class: 'mark', title: label, 'aria-label': label, onclick: () => seek(time) });
    button.style.left = `${100 * part(time)}%`;
    if (end !== undefined) button.style.width = `max(5px, ${100 * (part(end) - part(time))}%)`;
    return button;
  });
  return h('div', { class: 'marks', role: 'group', 'aria-label': 'Marks on the time line' }, ...buttons);
}
