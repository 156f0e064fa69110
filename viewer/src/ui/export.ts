// Pictures and films as files.
import { h } from './dom.ts';

export function save(address: string, name: string): void {
  const link = h('a', { href: address, download: name });
  link.click();
}

/** A name for files, from any title. */
export const fileName = (title: string): string => title.replaceAll(/[^\p{L}\p{N}]+/gu, '_').replaceAll(/^_+|_+$/g, '').slice(0, 60) || 'trammel';

const filmTypes = [
  ['video/mp4;codecs=avc1.42E01E', 'mp4'],
  ['video/mp4', 'mp4'],
  ['video/webm;codecs=vp9', 'webm'],
  ['video/webm;codecs=vp8', 'webm'],
];

/** Records what the screen manages. Returns how to stop it, or null where the browser cannot. */
export function record(canvas: HTMLCanvasElement, done: (film: Blob, ending: string) => void): (() => void) | null {
  if (typeof MediaRecorder === 'undefined') return null;
  const kind = filmTypes.find(([type]) => MediaRecorder.isTypeSupported(type));
  if (!kind) return null;
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: kind[0], videoBitsPerSecond: 8e6 });
  const parts: Blob[] = [];
  recorder.addEventListener('dataavailable', (event) => parts.push(event.data));
  recorder.addEventListener('stop', () => done(new Blob(parts, { type: kind[0] }), kind[1]));
  recorder.start();
  return () => recorder.stop();
}
