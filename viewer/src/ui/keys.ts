// The keyboard. Keys do nothing while a text field has the focus or with Ctrl, Alt, Meta; Space on a button presses it.
import type { ViewName } from '../scene/camera.ts';
import type { State, Toggle } from '../state.ts';
import type { Player } from './timeline.ts';

export interface KeyActions {
  view(name: ViewName): void;
  picture(): void;
  help(): void;
  escape(): void;
  mode?(direction: 1 | -1): void; // of a page of modes
}

const toggles: Record<string, Toggle> = { j: 'joints', f: 'forces', q: 'torques', t: 'trace', x: 'xray', c: 'follow', m: 'measure', g: 'rest' };
const views: Record<string, ViewName> = { 1: 'iso', 2: 'front', 3: 'side', 4: 'top', 0: 'iso' };

function isBusy(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey) return true;
  const target = event.target;
  if (target instanceof HTMLInputElement && (target.type !== 'range' || target.closest('.freedom'))) return true;
  if (target instanceof HTMLSelectElement) return true;
  return event.key === ' ' && target instanceof HTMLElement && target.closest('button, summary') !== null;
}

export function listenToKeys(state: State, player: Player, actions: KeyActions): void {
  const handle = (event: KeyboardEvent): boolean => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key in toggles) state.toggle(toggles[key]);
    else if (key in views) actions.view(views[key]);
    else if (key === ' ') player.toggle();
    else if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const direction = key === 'ArrowRight' ? 1 : -1;
      if (event.shiftKey) player.jump(direction / 10);
      else player.step(direction);
    } else if (actions.mode && (key === 'ArrowUp' || key === 'ArrowDown')) actions.mode(key === 'ArrowDown' ? 1 : -1);
    else if (key === 'Home') player.jump(-1);
    else if (key === 'End') player.jump(1);
    else if (key === '[') player.changeSpeed(-1);
    else if (key === ']') player.changeSpeed(1);
    else if (key === 'p') actions.picture();
    else if (key === 'd') state.set('theme', state.get('theme') === 'dark' ? 'light' : 'dark');
    else if (key === '?') actions.help();
    else if (key === 'Escape') actions.escape();
    else return false;
    return true;
  };
  document.addEventListener('keydown', (event) => {
    if (!isBusy(event) && handle(event)) event.preventDefault();
  });
}
