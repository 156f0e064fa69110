// Elements of the page. Texts from a model are set as text only, never as markup.

type Child = Node | string | null | undefined;
type Props = Record<string, string | boolean | ((event: never) => void) | undefined>;

/** h('button', { class: 'x', 'aria-label': 'Play', onclick: f }, 'text', child) */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value as EventListener);
    else if (typeof value === 'boolean') element.toggleAttribute(key, value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

/** A name from a model, set off so that right-to-left text does not reorder what stands beside it. */
export const nameOf = (text: string): HTMLElement => h('bdi', { class: 'name' }, text);

/** Closed by its button or Esc. */
export function dialog(title: string, ...children: Child[]): HTMLDialogElement {
  const box = h(
    'dialog', { 'aria-label': title },
    h('div', { class: 'dialog-title' }, h('h2', {}, title), iconButton('close', 'Close', () => box.close())),
    ...children,
  );
  return box;
}

const paths = {
  start: 'M6 5v14M19 5v14l-10-7z',
  back: 'M17 5v14L7 12z',
  play: 'M7 4v16l13-8z',
  pause: 'M7 4h4v16H7zM14 4h4v16h-4z',
  forward: 'M7 5v14l10-7z',
  theme: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  picture: 'M4 7h4l2-3h4l2 3h4v13H4zM12 9.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  film: 'M3 6h12v12H3zM15 10l6-3v10l-6-3z',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .6-1 1-1 2M12 17.5v.5',
  close: 'M6 6l12 12M18 6L6 18',
  measure: 'M4 16L16 4l4 4L8 20zM8 12l2 2M11 9l2 2M14 6l2 2',
  plus: 'M12 5v14M5 12h14',
  chevron: 'M8 10l4 4 4-4',
};
const filled = new Set(['start', 'back', 'play', 'pause', 'forward']);
export type IconName = keyof typeof paths;

/** Symbols of a font come out as empty boxes on a plain Debian. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', filled.has(name) ? 'icon filled' : 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name: IconName, label: string, onclick: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick }, icon(name));
}
