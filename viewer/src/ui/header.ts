// The top bar: what is shown, what of it is drawn, the views, and what can be saved.
import type { Live } from '../live.ts';
import type { Run } from '../run.ts';
import type { ViewName } from '../scene/camera.ts';
import type { State, Toggle } from '../state.ts';
import { caveatsButton } from './caveats.ts';
import { h, iconButton, nameOf } from './dom.ts';

export interface HeaderActions {
  view(name: ViewName): void;
  picture(): void;
  film(): void;
  help(): void;
}

const toggles: [Toggle, string, string][] = [
  ['joints', 'Joints', 'Show joints (J)'],
  ['forces', 'Forces', 'Show forces and reactions (F)'],
  ['torques', 'Torques', 'Show torques and reaction torques as double arrows (Q)'],
  ['trace', 'Trace', 'Show the path of the selected body (T)'],
  ['xray', 'X-ray', 'Make bodies transparent (X)'],
  ['follow', 'Follow', 'Move the camera along with the selected body (C)'],
];
const ofModes: [Toggle, string, string][] = [toggles[0], ['rest', 'At rest', 'Show the mechanism at rest as a ghost (G)'], toggles[4]];
const views: [ViewName, string][] = [['iso', 'Iso'], ['front', 'Front'], ['side', 'Side'], ['top', 'Top']];

function toggleButton(state: State, key: Toggle, text: string, label: string): HTMLButtonElement {
  const button = h('button', { type: 'button', title: label, onclick: () => state.toggle(key) }, text);
  const show = () => button.setAttribute('aria-pressed', String(state.get(key)));
  state.on(key, show);
  show();
  return button;
}

const pill = (text: string, kind = '') => h('span', { class: `pill ${kind}`, dir: 'auto' }, text);

/** How a run ended, or that it goes on. */
function statusPill(run: Run, live?: Live): HTMLElement {
  const shown = pill('');
  const show = () => {
    const status = live?.status?.status ?? run.header.status;
    shown.textContent = status;
    shown.classList.toggle('warning', status !== 'finished' && !live?.going);
  };
  live?.on(show);
  show();
  return shown;
}

export function header(run: Run, state: State, actions: HeaderActions, live?: Live): HTMLElement {
  const { title, method, bodies } = run.header;
  return h(
    'header', {},
    h('h1', {}, nameOf(title || 'Untitled')),
    statusPill(run, live),
    caveatsButton(run, state),
    method ? pill(method) : null,
    pill(`${bodies.length} ${bodies.length === 1 ? 'body' : 'bodies'}`),
    h('span', { class: 'grow' }),
    h('div', { class: 'group', role: 'group', 'aria-label': 'Show' }, ...(run.modeSets ? ofModes : toggles).map(([key, text, label]) => toggleButton(state, key, text, label))),
    h(
      'div', { class: 'group', role: 'group', 'aria-label': 'Camera' },
      ...views.map(([name, text], i) =>
        h('button', { type: 'button', title: `View: ${text} (${i + 1})`, onclick: () => actions.view(name) }, text),
      ),
    ),
    iconButton('measure', 'Measure a distance (M)', () => state.toggle('measure')),
    iconButton('theme', 'Light or dark (D)', () => state.set('theme', state.get('theme') === 'dark' ? 'light' : 'dark')),
    iconButton('picture', 'Save a picture (P)', actions.picture),
    iconButton('film', run.modeSets ? 'Save a film of two periods' : 'Save a film of the whole run', actions.film),
    iconButton('help', 'Keys (?)', actions.help),
  );
}
