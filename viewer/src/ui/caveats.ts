// What a reader of the result should know before believing it: caveats of signals, and why a run stopped.
import type { Run } from '../run.ts';
import type { State } from '../state.ts';
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

/** A button that opens the list; hidden where there is nothing to say. A run that goes on may stop later. */
export function caveatsButton(run: Run, state: State): HTMLElement {
  const list = h('ul'), box = dialog('Caveats', list);
  const button = h('button', { type: 'button', class: 'pill warning', onclick: () => box.showModal() }), all = h('span', {}, button, box);
  const show = () => {
    const caveats = [...signalsByCaveat(run)], why = run.failure?.what, count = caveats.length + (why ? 1 : 0);
    all.hidden = count === 0;
    button.textContent = `${count} ${count === 1 ? 'caveat' : 'caveats'}`;
    list.replaceChildren(...(why ? [h('li', { dir: 'auto' }, `The run stopped: ${why}`)] : []), ...caveats.map(([text, names]) => caveatEntry(text, names)));
  };
  let told: string | undefined = run.failure?.what;
  state.on('renewed', () => {
    if (told !== run.failure?.what) show();
    told = run.failure?.what;
  });
  show();
  return all;
}
