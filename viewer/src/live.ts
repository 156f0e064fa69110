// A run that goes on: rows come over a WebSocket from the program that serves this page, and what is done here goes back.
// app/live_view.cc is the other end; app/live_commands.h lists what may be asked.
import { type EventInfo, openRun, type Run } from './run.ts';
import type { State } from './state.ts';
import { BadView } from './trv1.ts';
import { Player, speeds } from './ui/timeline.ts';

export interface Status {
  run: number;
  status: 'running' | 'finished' | 'failed' | 'interrupted';
  held: boolean;
  speed: number | null; // null: as fast as it can
  real_time: boolean;
  inputs: { name: string; unit: string; value: number }[];
  parameters: { name: string; value: number; unit: string }[]; // in SI, where the file states a unit
  pushes: { body: string; force: string }[]; // bodies that can be pushed, and the forces that do it
  events: EventInfo[]; // the latest
  message: string;
  cannot_show: string; // why there are no rows for any page
}

const mostEarly = 600; // rows that wait: ten seconds of them
const kept = 'trammel-look'; // what a new start of the run keeps, in the storage of this tab

export class Live {
  status: Status | null = null;
  connected = true;
  received = 0; // rows, one by one
  /** Why rows that came are not shown. */
  problem = '';
  private readonly token = new URLSearchParams(location.search).get('token') ?? '';
  private readonly socket: WebSocket;
  private readonly listeners: (() => void)[] = [];
  private readonly growth: ((replaced: boolean) => void)[] = [];
  private run: Run | null = null;
  private number = 0; // of the run that is shown; 0: none yet
  private unpacking = true; // a header: what comes meanwhile waits
  private header: [number, Uint8Array] | null = null;
  private early: [number, ArrayBuffer][] = [];
  /** What is to be kept when the run starts anew. */
  look: () => unknown = () => null;

  constructor() {
    history.replaceState(null, '', location.pathname + location.hash); // no token in pictures of the screen
    this.socket = new WebSocket(`ws://${location.host}/ws?token=${this.token}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.addEventListener('close', () => {
      this.connected = false;
      this.tell();
    });
  }

  /** Once the first status is there. */
  readonly informed = new Promise<void>((done) => this.listeners.push(() => this.status && done()));

  /** The run as it stands; then it grows. */
  async open(): Promise<Run> {
    const [first] = await new Promise<[Uint8Array]>((done, fail) => {
      this.socket.addEventListener('close', () => fail(new BadView('the program that serves it does not answer.')));
      this.socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (typeof data === 'string') {
          this.hear(JSON.parse(data) as Status);
          if (this.status!.cannot_show) fail(new BadView(`${this.status!.cannot_show}.`)); // of a page that shows nothing yet
          return;
        }
        const [kind, run] = new Uint32Array(data, 0, 2);
        if (String.fromCharCode(kind) === 'F') this.frame(run, data);
        else if (this.number === 0) {
          this.number = run;
          done([new Uint8Array(data, 8)]);
        } else void this.replace(run, new Uint8Array(data, 8));
      });
    });
    try {
      this.run = await openRun(first);
    } catch (error) {
      this.socket.close(); // nothing that follows can be shown either
      throw error;
    }
    await this.catchUp();
    return this.run;
  }

  private hear(status: Status): void {
    this.status = status;
    this.run?.addEvents(status.events ?? []);
    this.tell();
  }

  private frame(run: number, data: ArrayBuffer): void {
    ++this.received;
    if (!this.unpacking) return this.append(run, data);
    if (this.early.length === mostEarly) this.early.shift();
    this.early.push([run, data]);
  }

  /** What has come while a header was unpacked: a newer header, then rows. */
  private async catchUp(): Promise<void> {
    this.unpacking = false;
    const { header, early } = this;
    this.header = null;
    this.early = [];
    this.run?.addEvents(this.status?.events ?? []);
    if (header) await this.replace(...header);
    for (const frame of early) this.append(...frame);
  }

  private append(run: number, data: ArrayBuffer): void {
    if (!this.run || run !== this.number) return;
    const rows = this.run.rows;
    this.run.append(new Float64Array(data, 8, 1)[0], new Float32Array(data, 16));
    if (this.run.rows !== rows) for (const listener of this.growth) listener(false);
  }

  /** All rows at the end of the run; or a run that has started anew, for which the page is loaded again. */
  private async replace(run: number, packed: Uint8Array): Promise<void> {
    if (this.unpacking) {
      this.header = [run, packed]; // holds the rows of those before it
      this.early = [];
      return;
    }
    if (run === this.number) {
      const same = await this.adopt(packed);
      await this.catchUp();
      if (same) return;
    }
    sessionStorage.setItem(kept, JSON.stringify(this.look()));
    location.replace(`/?token=${this.token}${location.hash}`);
  }

  /** False: they are of another model. */
  private async adopt(packed: Uint8Array): Promise<boolean> {
    let same = true;
    this.unpacking = true;
    try {
      same = this.run!.adopt(await openRun(packed));
      this.problem = '';
    } catch (error) { // it goes on with the rows that it has
      this.problem = `All rows have come once more and cannot be read: ${error instanceof BadView ? error.message : String(error)}`;
    } finally {
      this.unpacking = false;
    }
    this.tell();
    if (same) for (const listener of this.growth) listener(true);
    return same;
  }

  /** What the page before a new start has kept, once. */
  takeLook(): unknown {
    const text = sessionStorage.getItem(kept);
    sessionStorage.removeItem(kept);
    return text && JSON.parse(text);
  }

  /** Whether there are steps to come. */
  get going(): boolean {
    return this.connected && this.status?.status === 'running';
  }

  send(command: object): void {
    if (this.connected) this.socket.send(JSON.stringify(command));
  }

  /** Calls `listener` at every change of the status. */
  on(listener: () => void): void {
    this.listeners.push(listener);
  }

  onGrowth(listener: (replaced: boolean) => void): void {
    this.growth.push(listener);
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** While the run goes on, play and pause are those of the run, and time follows it unless it was set by hand. */
export class LivePlayer extends Player {
  private following = true;

  constructor(run: Run, state: State, private readonly live: Live) {
    super(run, state);
    let went = true;
    live.on(() => {
      if (live.going || went) state.set('playing', live.going && !live.status!.held); // later it is the reader who plays
      went = live.going;
      if (went) state.set('speed', live.status!.real_time ? 1 : live.status!.speed ?? Infinity);
      else if (state.get('speed') === Infinity) state.set('speed', 1);
    });
    live.onGrowth(() => {
      state.set('grown', state.get('grown') + 1);
      if (this.following) super.seek(this.run.end);
    });
    state.on('speed', () => {
      const speed = state.get('speed'), wanted = speed === Infinity ? null : speed;
      if (live.going && !live.status!.real_time && wanted !== live.status!.speed) live.send({ speed: wanted });
    });
  }

  override get speeds(): number[] {
    return this.live.status?.real_time ? [1] : [...speeds, Infinity];
  }

  override seek(t: number): void {
    this.following = t >= this.run.end;
    super.seek(t);
  }

  override scrub(t: number): void {
    if (this.live.going) this.seek(t);
    else super.scrub(t);
  }

  override toggle(): void {
    if (!this.live.going) return super.toggle();
    this.following ||= this.live.status!.held;
    this.live.send({ pause: !this.live.status!.held });
  }

  /** At the newest row, one more is computed. */
  override step(direction: 1 | -1): void {
    if (!this.live.going || direction < 0 || this.state.get('time') < this.run.end) return super.step(direction);
    this.following = true;
    this.live.send({ step: true });
  }

  override advance(seconds: number): void {
    if (!this.live.going) super.advance(seconds);
  }
}
