// The list of keys.
import { dialog, h } from './dom.ts';

const ofModes: [string, string][] = [
  ['Space', 'play, pause'],
  ['Up, Down', 'the mode before, the next one'],
  ['Left, Right', 'a sixteenth of a period back, forward'],
  ['Home, End', 'one extreme, the other'],
  ['[ , ]', 'slower, faster'],
  ['J G X', 'joints, mechanism at rest, X-ray'],
];
const ofRuns: [string, string][] = [
  ['Space', 'play, pause'],
  ['Left, Right', 'one recorded row back, forward'],
  ['Shift + Left, Right', 'a tenth of the run'],
  ['Home, End', 'start, end'],
  ['[ , ]', 'slower, faster'],
  ['J F Q T X C', 'joints, forces, torques, trace, X-ray, follow'],
];
const ofAll: [string, string][] = [
  ['1 2 3 4', 'views: iso, front, side, top'],
  ['0', 'frame everything'],
  ['M', 'measure: click two points'],
  ['P', 'save a picture'],
  ['D', 'dark or light'],
  ['Esc', 'select nothing, close'],
  ['?', 'this list'],
];

export function helpDialog(modes: boolean): HTMLDialogElement {
  const keys = [...(modes ? ofModes : ofRuns), ...ofAll];
  return dialog(
    'Keys',
    h('table', {}, ...keys.map(([key, text]) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, key)), h('td', {}, text)))),
    h('p', { class: 'soft' }, 'Drag turns the view, the wheel zooms, the right button shifts. A click selects a body; in a live run, Ctrl and a drag push it. In a plot, a click sets the time, a drag zooms, a double click shows all.'),
  );
}
