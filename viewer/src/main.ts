// Opens the data in the page and starts the viewer, or says why it cannot.
import { App } from './app.ts';
import { Live } from './live.ts';
import { openRun } from './run.ts';
import type { Selection } from './state.ts';
import { BadView } from './trv1.ts';
import { h } from './ui/dom.ts';

declare global {
  interface Window {
    trammel?: object; // what tests and curious people use
  }
  interface Uint8ArrayConstructor {
    fromBase64?(text: string): Uint8Array;
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    throw new BadView('its data are damaged or cut off.');
  }
}

async function start(): Promise<void> {
  const begun = performance.now();
  const text = document.getElementById('trammel-data')?.textContent?.trim();
  if (!text) throw new BadView('it holds no data.');
  const live = text === 'live' ? new Live() : undefined;
  const [run, ghost] = live ? [await live.open()] : await Promise.all(text.split(/\s+/).map((part) => openRun(bytesOf(part))));
  await live?.informed;
  const opened = performance.now();
  const app = new App(run, ghost, live);
  app.render();
  const drawn = performance.now();
  window.trammel = {
    run,
    live,
    view: app.view,
    plots: app.plots,
    seek: (t: number) => app.seek(t),
    picture: (t: number) => app.pictureAt(t),
    select: (name: string | null, of?: Selection['of']) => app.select(name, of),
    get t() {
      return app.state.get('time');
    },
    state: app.state,
    timers: { open: opened - begun, build: drawn - opened, sincePageLoad: drawn },
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof BadView) return error.message;
  if (error instanceof Error && /WebGL/i.test(error.message)) return 'this browser draws no 3-D (WebGL 2 is missing or switched off).';
  return `of an error in the viewer: ${String(error)}`;
}

function refuse(error: unknown): void {
  const reason = reasonOf(error);
  document.querySelector('.app')?.remove();
  document.body.append(h('p', { class: 'refusal', role: 'alert' }, `This view cannot be shown: ${reason}`));
}

start().then(
  () => (document.documentElement.dataset.ready = '1'),
  (error: unknown) => {
    refuse(error);
    document.documentElement.dataset.ready = 'failed';
  },
);
