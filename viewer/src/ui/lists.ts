// The panel on the left: bodies, joints and forces by name, with a field to find them.
import type { Run } from '../run.ts';
import type { Selection, State } from '../state.ts';
import { h, nameOf } from './dom.ts';

interface Entry {
  selection: Selection;
  row: HTMLButtonElement;
}

const mostShown = 400; // of a list; the rest is found by typing

export function lists(run: Run, state: State, colours: string[]): HTMLElement {
  const entries: Entry[] = [];
  const section = (title: string, items: { selection: Selection; type?: string; colour?: string }[]): HTMLElement | null => {
    if (items.length === 0) return null;
    const list = h('div', { class: 'list', role: 'group', 'aria-label': title });
    for (const { selection, type, colour } of items) {
      const mark = h('span', { class: colour ? 'swatch' : 'swatch hollow' });
      if (colour) mark.style.background = colour;
      const row = h(
        'button', { type: 'button', class: 'row', onclick: () => state.set('selection', isSelected(selection) ? null : selection) },
        mark, nameOf(selection.name), type ? h('span', { class: 'soft type' }, type) : null,
      );
      row.title = type ? `${selection.name} (${type})` : selection.name;
      entries.push({ selection, row });
      list.append(row);
    }
    return h('details', { open: selectionKind(items) === 'body' || items.length <= 12 }, h('summary', {}, `${title} `, h('span', { class: 'count' }, String(items.length))), list);
  };
  const isSelected = (s: Selection) => {
    const now = state.get('selection');
    return now?.of === s.of && now.name === s.name;
  };

  const { bodies, elements } = run.header;
  const ofKind = (of: 'joint' | 'motion' | 'force') =>
    elements.filter((e) => e.of === of).map((e) => ({ selection: { of, name: e.name } as Selection, type: e.type.replaceAll('_', ' ') }));
  const find = h('input', { type: 'search', placeholder: 'Find', 'aria-label': 'Find a body, joint or force' });
  const panel = h(
    'nav', { class: 'lists', 'aria-label': 'Bodies and elements' },
    find,
    section('Bodies', bodies.map((body, i) => ({ selection: { of: 'body', name: body.name } as Selection, colour: colours[i] }))),
    section('Joints', ofKind('joint')),
    section('Motions', ofKind('motion')),
    section('Forces', ofKind('force')),
  );

  const filter = () => {
    const text = find.value.trim().toLowerCase();
    const shown = new Map<string, number>();
    for (const { selection, row } of entries) {
      const fits = selection.name.toLowerCase().includes(text);
      const count = (shown.get(selection.of) ?? 0) + (fits ? 1 : 0);
      shown.set(selection.of, count);
      row.hidden = !fits || count > mostShown;
    }
    if (text) for (const part of panel.querySelectorAll('details')) part.open = true;
  };
  find.addEventListener('input', filter);
  filter();

  const mark = () => {
    for (const { selection, row } of entries) {
      const chosen = isSelected(selection);
      if (chosen === (row.getAttribute('aria-current') === 'true')) continue;
      row.setAttribute('aria-current', String(chosen));
      if (chosen) row.scrollIntoView({ block: 'nearest' });
    }
  };
  state.on('selection', mark);
  mark();
  return panel;
}

const selectionKind = (items: { selection: Selection }[]) => items[0].selection.of;
