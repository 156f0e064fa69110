// What the user can change, in one place: parts of the page listen to it and never to one another.

export interface Selection {
  of: 'body' | 'joint' | 'motion' | 'force';
  name: string;
}

export type Colouring = 'displacement' | 'stress';

export interface Values {
  time: number;
  tried: { freedom: number; value: number } | null; // a mechanism without a run: what is moved, and where to
  mode: { set: number; mode: number } | null; // of a page of modes: which one moves
  phase: number; // of that mode, in periods
  amplitude: number; // 1: as it is best seen
  rest: boolean; // the mechanism at rest as a ghost
  playing: boolean;
  speed: number;
  selection: Selection | null;
  joints: boolean;
  forces: boolean;
  torques: boolean;
  trace: boolean;
  xray: boolean;
  follow: boolean;
  measure: boolean;
  bend: number; // how many times as large as they are deformations are drawn
  colouring: Colouring; // what the colours of bodies that bend say
  theme: 'light' | 'dark';
  grown: number; // of a run that goes on: rises with its rows
  renewed: number; // the same, but a few times a second: what looks at all rows follows it
}

export type Key = keyof Values;
export type Toggle = 'joints' | 'forces' | 'torques' | 'trace' | 'xray' | 'follow' | 'measure' | 'rest';

export class State {
  private readonly listeners = new Map<Key, Set<() => void>>();

  constructor(private readonly values: Values) {}

  get<K extends Key>(key: K): Values[K] {
    return this.values[key];
  }

  set<K extends Key>(key: K, value: Values[K]): void {
    if (this.values[key] === value) return;
    this.values[key] = value;
    for (const listener of this.listeners.get(key) ?? []) listener();
  }

  toggle(key: Toggle): void {
    this.set(key, !this.values[key]);
  }

  /** Calls `listener` at every change of one of the keys. Returns how to stop that. */
  on(keys: Key | Key[], listener: () => void): () => void {
    const lists = [keys].flat().map((key) => {
      const list = this.listeners.get(key) ?? new Set();
      this.listeners.set(key, list);
      return list;
    });
    for (const list of lists) list.add(listener);
    return () => lists.forEach((list) => list.delete(listener));
  }
}
