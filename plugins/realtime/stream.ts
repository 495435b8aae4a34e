// The readers of the live stream, and what they receive. Slow readers are disconnected instead of buffered; they
// receive a new snapshot when they reconnect.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import { Frame } from './frame.js';

/** A reader, at either endpoint. */
export interface Reader {
  /** bytes that were sent and not yet read */
  backlog(): number;
  send(frame: Frame): void;
  /** Closes the connection at once, without a last message, which would wait behind the others. */
  cut(): void;
}

const MIB = 2 ** 20;
/** A larger message is replaced by an `invalidate` of its type. */
const LARGEST_FRAME = 4 * MIB;
const MOST_BACKLOG = 8 * MIB;

export class Stream {
  readonly #log: Log;
  readonly #clock: Clock;
  /** With everything that a new reader waits for until its snapshot has been sent. */
  readonly #readers = new Map<Reader, Frame[] | undefined>();
  readonly #snapshots = new Map<string, () => unknown>();
  #seq = 0;

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
    const waiting: Frame[] = [];
    this.#readers.set(reader, waiting);
    const seq = this.#seq;
    const entries = await Promise.all(
      [...this.#snapshots].map(async ([type, snapshot]) => [type, await this.#part(type, snapshot)] as const),
    );
    if (!this.#readers.has(reader)) return;
    const parts = entries.flatMap(([type, part]) =>
      part === undefined ? [] : [`${JSON.stringify(type)}:${part}`],
    );
    reader.send(new Frame('snapshot', `{${parts.join()}}`, seq, this.#clock.now()));
    for (const frame of waiting) reader.send(frame);
    this.#readers.set(reader, undefined);
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
    this.#readers.delete(reader);
  }

  /** Sends to all readers. A function is called for the payload only if there are readers. */
  send(type: string, payload: unknown): void {
    if (this.#readers.size === 0) return;
    const content: unknown = typeof payload === 'function' ? (payload as () => unknown)() : payload;
    this.#tell(type, JSON.stringify(content) ?? 'null');
  }

  /** Sends the current snapshot to all readers. */
  async sendSnapshot(type: string): Promise<void> {
    const snapshot = this.#snapshots.get(type);
    const part = snapshot && this.#readers.size > 0 ? await this.#part(type, snapshot) : undefined;
    if (part !== undefined) this.#tell(type, part);
  }

  #tell(type: string, payload: string): void {
    const [sent, content] =
      payload.length <= LARGEST_FRAME ? [type, payload] : ['invalidate', JSON.stringify({ type })];
    const frame = new Frame(sent, content, ++this.#seq, this.#clock.now());
    for (const [reader, waiting] of this.#readers) {
      if (waiting) waiting.push(frame);
      else if (reader.backlog() <= MOST_BACKLOG) reader.send(frame);
      else this.#cut(reader);
    }
  }

  #cut(reader: Reader): void {
    this.#log.info('disconnected a reader of the live stream that was too slow', {
      backlog: reader.backlog(),
    });
    this.#readers.delete(reader);
    reader.cut();
  }

  /** The reply to a reader that sends messages. */
  complaint(): Frame {
    return new Frame(
      'error',
      JSON.stringify({ msg: 'this stream only sends; messages to it are ignored' }),
      this.#seq,
      this.#clock.now(),
    );
  }
}
