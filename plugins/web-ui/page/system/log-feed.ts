// A log as it is written: the last lines are asked for once, and what comes after them is told by the live stream. Each
// message says after which place its lines come, so none is missed or shown twice. Without the stream, the panel is asked
// again and again for what was written since.
import type { LiveState } from '../live/live-stream.js';
import { type Entry, gapOf, type Log, NO_LINES, withLines } from './log-lines.js';

export interface Tail {
  /** oldest first */
  readonly entries: readonly Entry[];
  /** the place after them; blank where there is no log */
  readonly end: string;
  /** they come after the place that was asked about; false: they are the last lines, whatever was known */
  readonly goesOn: boolean;
  readonly leftOut: number;
}
/** A message of the live stream. */
interface Lines {
  readonly after: string | null;
  readonly end: string | null;
  readonly leftOut: number;
  readonly isLost: boolean;
  readonly lines: readonly unknown[];
}
export interface FeedParts {
  /** its name in the live stream */
  readonly log: string;
  readonly stream: {
    state(): LiveState;
    watch(run: () => void): () => void;
    onEach(type: string, listener: (payload: unknown) => void): () => void;
    send(message: object): void;
  };
  readonly tail: (after: string | undefined, signal: AbortSignal) => Promise<Tail>;
  /** undefined for a line that the filters of the page leave out */
  readonly entryOf: (line: unknown) => Entry | undefined;
  /** calls `run` after a while; returns what prevents it */
  readonly later: (run: () => void, ms: number) => () => void;
  /** between two questions, without the stream */
  readonly pauseMs: number;
}
export interface FeedState {
  /** undefined until the first answer */
  readonly log: Log | undefined;
  readonly error: unknown;
  readonly isStreamed: boolean;
}

/** The panel answers a `watch` within a second. */
const ANSWER_MS = 5_000;

export class LogFeed {
  readonly #parts: FeedParts;
  readonly #listeners = new Set<() => void>();
  #state: FeedState = { log: undefined, error: undefined, isStreamed: false };
  #place = '';
  #isOn = false;
  /** the stream was asked for lines after `#place` */
  #isWatching = false;
  /** this connection does not tell this log */
  #isRefused = false;
  #call: AbortController | undefined;
  #cancel: () => void = () => undefined;
  #ends: readonly (() => void)[] = [];

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  readonly state = (): FeedState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    const { stream, log } = this.#parts;
    this.#ends = [
      stream.watch(() => this.#streamChanged()),
      stream.onEach(log, (payload) => this.#receive(payload as Lines)),
      stream.onEach('error', (payload) => {
        if ((payload as { readonly log?: string }).log === log && this.#isWatching) this.#giveUp();
      }),
    ];
    void this.#load();
  }

  /** What was written meanwhile comes with the next start. */
  stop(): void {
    if (this.#isWatching) this.#parts.stream.send({ type: 'unwatch', log: this.#parts.log });
    this.#isOn = false;
    this.#isWatching = false;
    this.#call?.abort();
    this.#call = undefined;
    this.#cancel();
    for (const end of this.#ends) end();
    this.#ends = [];
    this.#set({ isStreamed: false });
  }

  /** Asks once, also while it is stopped. */
  readonly retry = (): void => void this.#load();

  #set(changes: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }

  async #load(): Promise<void> {
    this.#cancel();
    this.#call?.abort();
    this.#isWatching = false;
    const call = new AbortController();
    this.#call = call;
    try {
      const tail = await this.#parts.tail(this.#place || undefined, call.signal);
      if (call.signal.aborted) return;
      this.#call = undefined;
      this.#place = tail.end;
      if (tail.goesOn) this.#add(tail.entries, tail.leftOut);
      else this.#set({ log: withLines({ ...NO_LINES, nextId: this.#nextId }, tail.entries) });
      this.#set({ error: undefined });
      this.#goOn();
    } catch (error) {
      if (call.signal.aborted) return;
      this.#call = undefined;
      this.#set({ error });
      this.#askLater();
    }
  }

  get #nextId(): number {
    return this.#state.log?.nextId ?? NO_LINES.nextId;
  }

  #add(entries: readonly Entry[], leftOut: number): void {
    const all = leftOut > 0 ? [gapOf(leftOut), ...entries] : entries;
    if (all.length > 0) this.#set({ log: withLines(this.#state.log ?? NO_LINES, all) });
  }

  #goOn(): void {
    if (!this.#isOn) return;
    const { stream, log } = this.#parts;
    if (this.#isRefused || stream.state() !== 'live') {
      this.#askLater();
      return;
    }
    this.#isWatching = true;
    stream.send({ type: 'watch', log, ...(this.#place !== '' && { after: this.#place }) });
    this.#cancel = this.#parts.later(() => this.#giveUp(), ANSWER_MS);
  }

  #askLater(): void {
    this.#isWatching = false;
    this.#set({ isStreamed: false });
    if (this.#isOn) this.#cancel = this.#parts.later(() => void this.#load(), this.#parts.pauseMs);
  }

  /** Until the next connection. */
  #giveUp(): void {
    this.#isRefused = true;
    this.#cancel();
    this.#askLater();
  }

  #streamChanged(): void {
    if (this.#parts.stream.state() === 'live') {
      this.#isRefused = false;
      // A call that is under way goes on with the stream.
      if (!this.#call) void this.#load();
    } else if (this.#isWatching) {
      this.#cancel();
      this.#askLater();
    }
  }

  #receive({ after, end, leftOut, isLost, lines }: Lines): void {
    // Of an earlier watch: its lines are here already, or come with the answer to this one.
    if (!this.#isWatching || (after ?? '') !== this.#place) return;
    this.#cancel();
    if (isLost) return void this.#load();
    this.#place = end ?? '';
    this.#add(
      lines.flatMap((line) => this.#parts.entryOf(line) ?? []),
      leftOut,
    );
    if (!this.#state.isStreamed) this.#set({ isStreamed: true });
  }
}
