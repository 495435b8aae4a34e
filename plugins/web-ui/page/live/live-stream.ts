// The live stream of the panel: connects again with growing pauses, notices gaps, and hands over at most once a second.

export interface LiveMessage {
  readonly type: string;
  readonly seq: number;
  readonly payload: unknown;
}
/** The part of a WebSocket that is used; a test has one of its own. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number }) => void) | null;
  send(text: string): void;
  close(): void;
}
export interface LiveParts {
  readonly connect: () => Socket;
  /** calls `run` after a while; returns what prevents it */
  readonly later: (run: () => void, ms: number) => () => void;
  readonly isHidden: () => boolean;
  readonly random?: () => number;
}

export type LiveState = 'off' | 'connecting' | 'live' | 'waiting';
type Listener = (payloads: readonly unknown[]) => void;
type EachListener = (payload: unknown) => void;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;
const PAINT_MS = 1_000;
/** Most messages of one type that wait for a paint; older ones are dropped, and what is shown is asked for again. */
const MOST_WAITING = 50;
/** The panel closes the stream with it when the session ends. */
const SESSION_ENDED = 4401;
/** Types of this module: messages were missed; the session is over. */
export const GAP = 'gap';
export const ENDED = 'ended';

/** ms before attempt number `attempt` (1 is the first after a connection broke). */
export const pauseBefore = (attempt: number, random = Math.random): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)) * (0.75 + random() / 4);

export class LiveStream {
  readonly #parts: LiveParts;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #each = new Map<string, Set<EachListener>>();
  readonly #watchers = new Set<() => void>();
  #pending = new Map<string, unknown[]>();
  #cancelPaint: (() => void) | undefined;
  #cancelRetry: (() => void) | undefined;
  #socket: Socket | undefined;
  #state: LiveState = 'off';
  #attempt = 0;
  #seq: number | undefined;
  #missed = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  readonly state = (): LiveState => this.#state;
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  /** Calls `listener` with the payloads of this type since its previous call; returns what ends it. */
  on(type: string, listener: Listener): () => void {
    const found = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, found.add(listener));
    return () => void found.delete(listener);
  }

  /** Calls `listener` with each payload of this type at once, also in a hidden page; returns what ends it. */
  onEach(type: string, listener: EachListener): () => void {
    const found = this.#each.get(type) ?? new Set();
    this.#each.set(type, found.add(listener));
    return () => void found.delete(listener);
  }

  /** Call it in the state `live` only: a message that cannot be sent is dropped. */
  send(message: object): void {
    if (this.#state === 'live') this.#socket?.send(JSON.stringify(message));
  }

  start(): void {
    if (this.#state !== 'off') return;
    this.#attempt = 0;
    this.#connect();
  }

  stop(): void {
    this.#cancelRetry?.();
    this.#cancelPaint?.();
    this.#cancelPaint = undefined;
    this.#pending.clear();
    this.#enter('off');
    this.#drop();
  }

  /** Call it when the page can be seen again: what was missed while it was hidden is asked for again. */
  shown(): void {
    if (this.#missed && !this.#parts.isHidden()) this.#tellGap();
  }

  #enter(state: LiveState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #connect(): void {
    this.#enter('connecting');
    const socket = this.#parts.connect();
    this.#socket = socket;
    socket.onopen = () => this.#enter('live');
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code }) => {
      this.#socket = undefined;
      this.#seq = undefined;
      // What happened meanwhile was not sent.
      this.#missed = true;
      if (code === SESSION_ENDED) {
        this.#enter('off');
        this.#emit(ENDED, []);
        return;
      }
      this.#enter('waiting');
      this.#attempt++;
      this.#cancelRetry = this.#parts.later(
        () => this.#connect(),
        pauseBefore(this.#attempt, this.#parts.random),
      );
    };
  }

  #receive(data: unknown): void {
    const message = messageOf(data);
    if (!message) return;
    const expected = this.#seq === undefined ? undefined : this.#seq + 1;
    this.#seq = message.seq;
    if (message.type === 'snapshot') {
      this.#attempt = 0;
      for (const [type, payload] of Object.entries((message.payload ?? {}) as object))
        this.#add(type, payload);
      if (this.#missed) this.#tellGap();
      return;
    }
    if (expected !== undefined && message.seq > expected) this.#missed = true;
    const each = this.#each.get(message.type);
    if (each) for (const listener of each) listener(message.payload);
    else this.#add(message.type, message.payload);
    if (this.#missed) this.#tellGap();
  }

  #add(type: string, payload: unknown): void {
    if (this.#parts.isHidden()) {
      this.#missed = true;
      return;
    }
    const waiting = this.#pending.get(type) ?? [];
    if (waiting.push(payload) > MOST_WAITING) {
      waiting.shift();
      this.#missed = true;
    }
    this.#pending.set(type, waiting);
    this.#cancelPaint ??= this.#parts.later(() => this.#paint(), PAINT_MS);
  }

  #tellGap(): void {
    if (this.#parts.isHidden()) return;
    this.#missed = false;
    this.#emit(GAP, []);
  }

  #paint(): void {
    this.#cancelPaint = undefined;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [type, payloads] of pending) this.#emit(type, payloads);
  }

  #emit(type: string, payloads: readonly unknown[]): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(payloads);
  }
}

function messageOf(data: unknown): LiveMessage | undefined {
  try {
    const { type, seq, payload } = JSON.parse(String(data)) as Partial<LiveMessage>;
    return typeof type === 'string' && typeof seq === 'number' ? { type, seq, payload } : undefined;
  } catch {
    return undefined;
  }
}
