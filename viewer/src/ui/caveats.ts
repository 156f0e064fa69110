// What a reader of the result should know before believing it: caveats of signals, and why a run stopped.
import type { Run } from '../run.ts';
import { dialog, h, nameOf } from './dom.ts';

const mostNames = 12;

/** Signals by their caveat. */
function signalsByCaveat(run: Run): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { flag, name } of run.header.signals) if (flag) found.set(flag, [...(found.get(flag) ?? []), name]);
  return found;
}

function caveatEntry(text: string, names: string[]): HTMLElement {
  const shown = names.slice(0, mostNames).flatMap((name, i) => [i > 0 ? ', ' : '', nameOf(name)]);
  const more = names.length - mostNames;
  return h('li', {}, text, h('p', { class: 'soft' }, ...shown, more > 0 ? ` and ${more} more` : ''));
}

/** A button that opens the list; null where there is nothing to say. */
export function caveatsButton(run: Run): HTMLElement | null {
  const caveats = [...signalsByCaveat(run)], why = run.failure?.what;
  const count = caveats.length + (why ? 1 : 0);
  if (count === 0) return null;
  const list = h('ul', {}, why ? h('li', { dir: 'auto' }, `The run stopped: ${why}`) : null, ...caveats.map(([text, names]) => caveatEntry(text, names)));
  const box = dialog('Caveats', list);
  return h('span', {}, h('button', { type: 'button', class: 'pill warning', onclick: () => box.showModal() }, `${count} ${count === 1 ? 'caveat' : 'caveats'}`), box);
}
