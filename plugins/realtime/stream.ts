// The readers of the live stream, and what they receive. One that reads nothing for half a minute is disconnected, and
// receives a new snapshot when it reconnects.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import { Frame } from './frame.js';
import { type Reader, ReaderQueue } from './reader-queue.js';

const MIB = 2 ** 20;
/** A larger message is replaced by an `invalidate` of its type. */
const LARGEST_FRAME = 4 * MIB;
/** Readers that come within this time get the same snapshot, as long as nothing was sent meanwhile: after a restart of the panel all come at once. */
const SHARED_MS = 500;

/** Brings messages to the readers of other panels. */
export interface StreamRelay {
  readonly isWanted: boolean;
  want(): void;
  publish(kind: 'state' | 'event' | 'invalidate', type: string, body: string): void;
}

interface Snapshot {
  readonly seq: number;
  /** monotonic ms */
  readonly at: number;
  readonly frame: Promise<Frame>;
}

export class Stream {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #readers = new Map<Reader, ReaderQueue>();
  readonly #snapshots = new Map<string, () => unknown>();
  /** the last snapshots, by the types that are in them */
  readonly #shared = new Map<string, Snapshot>();
  #seq = 0;
  /** where several panels share a database, and a Redis */
  relay: StreamRelay | undefined;

  constructor({ log, clock }: { log: Log; clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** A part of the snapshot for new readers. */
  addSnapshot(type: string, snapshot: () => unknown): void {
    this.#snapshots.set(type, snapshot);
  }

  async join(reader: Reader): Promise<void> {
    const isFirst = this.#readers.size === 0;
    // Without readers nothing was sent, so an unchanged number says nothing.
    if (isFirst) this.#shared.clear();
    const queue = new ReaderQueue(reader);
    this.#readers.set(reader, queue);
    if (isFirst) this.relay?.want();
    const types = [...this.#snapshots.keys()].filter((type) => reader.mayRead(type));
    const snapshot = await this.#current(types);
    if (this.#readers.get(reader) === queue) queue.open(snapshot);
  }

  #current(types: readonly string[]): Promise<Frame> {
    const key = types.join();
    const now = performance.now();
    for (const [name, { seq, at }] of this.#shared)
      if (seq !== this.#seq || now - at >= SHARED_MS) this.#shared.delete(name);
    const known = this.#shared.get(key);
    if (known) return known.frame;
    const frame = this.#compose(this.#seq, types);
    this.#shared.set(key, { seq: this.#seq, at: now, frame });
    return frame;
  }

  async #compose(seq: number, types: readonly string[]): Promise<Frame> {
    const entries = await Promise.all(
      types.map(
        async (type) =>
          [type, await this.#part(type, this.#snapshots.get(type) ?? (() => undefined))] as const,
      ),
    );
    const parts = entries.flatMap(([type, part]) =>
      part === undefined ? [] : [`${JSON.stringify(type)}:${part}`],
    );
    return new Frame('snapshot', `{${parts.join()}}`, seq, this.#clock.now());
  }

  /** The snapshot as JSON; a part that fails is left out. */
  async #part(type: string, snapshot: () => unknown): Promise<string | undefined> {
    try {
      return JSON.stringify(await snapshot());
    } catch (error) {
      this.#log.debug('a part of the snapshot is left out', { type, reason: messageOf(error) });
      return undefined;
    }
  }

  leave(reader: Reader): void {
    this.#readers.get(reader)?.close();
    this.#readers.delete(reader);
  }

  /** Sends a state to all readers: a newer message replaces this one at a reader that is slow. A function is called for the payload only if there are readers. */
  send(type: string, payload: unknown): void {
    this.#send('state', type, payload);
  }

  /** As `send`, for what no newer message repeats. */
  sendEvent(type: string, payload: unknown): void {
    this.#send('event', type, payload);
  }

  #send(kind: 'state' | 'event', type: string, payload: unknown): void {
    const isRelayed = this.relay?.isWanted ?? false;
    if (this.#readers.size === 0 && !isRelayed) return;
    const body = json(payload);
    if (this.#readers.size > 0) this.#tell(type, body, kind === 'state' ? type : undefined);
    if (isRelayed) this.relay?.publish(kind, type, body);
  }

  /** Whether somebody waits for messages, here or at another panel. */
  get isRead(): boolean {
    return this.#readers.size > 0 || (this.relay?.isWanted ?? false);
  }

  /** Tells all readers that their copy of this resource is out of date; `isOurs`: also those of other panels, which do not know. */
  invalidate(resource: string, isOurs = false): void {
    if (isOurs && this.relay?.isWanted) this.relay.publish('invalidate', resource, 'null');
    if (this.#readers.size > 0) this.#tell('invalidate', json({ type: resource }), `invalidate ${resource}`);
  }

  /** A message of another panel, whose payload is JSON. */
  relayed(kind: 'state' | 'event' | 'invalidate', type: string, body: string): void {
    if (this.#readers.size === 0) return;
    if (kind === 'invalidate') this.invalidate(type);
    else this.#tell(type, body, kind === 'state' ? type : undefined);
  }

  /** Sends the current snapshot to all readers. */
  async sendSnapshot(type: string): Promise<void> {
    const snapshot = this.#snapshots.get(type);
    const part = snapshot && this.#readers.size > 0 ? await this.#part(type, snapshot) : undefined;
    if (part !== undefined) this.#tell(type, part, type);
  }

  #tell(type: string, payload: string, key: string | undefined): void {
    if (payload.length > LARGEST_FRAME) {
      this.#tell('invalidate', json({ type }), `invalidate ${type}`);
      return;
    }
    const frame = new Frame(type, payload, ++this.#seq, this.#clock.now(), key);
    for (const [reader, queue] of this.#readers)
      if (reader.mayRead(type) && !queue.push(frame)) this.#cut(reader);
  }

  /** Disconnects readers that are behind and read nothing. A job calls it every five seconds. */
  cutStuck(): void {
    for (const [reader, queue] of this.#readers) if (queue.isStuck()) this.#cut(reader);
  }

  #cut(reader: Reader): void {
    this.#log.info('disconnected a reader of the live stream that was too slow', {
      backlog: reader.backlog(),
    });
    this.leave(reader);
    reader.cut();
  }

  /** Whether a message that need not arrive would go out now. */
  isFree(reader: Reader): boolean {
    return this.#readers.get(reader)?.isFree ?? false;
  }

  /** A message for some readers only. Its number is that of the last broadcast, so that it leaves no gap at others. `payload` is JSON. */
  aside(type: string, payload: string): Frame {
    return new Frame(type, payload, this.#seq, this.#clock.now());
  }
}

const json = (payload: unknown): string => {
  const content: unknown = typeof payload === 'function' ? (payload as () => unknown)() : payload;
  return JSON.stringify(content) ?? 'null';
};
