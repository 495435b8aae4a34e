// Who listens, and what they are told. Nothing is kept for slow readers: who does not read what is sent is cut off, and
// learns what it missed when it comes back.
import { type Clock, type Log, messageOf } from '../../kernel/index.js';
import { Frame } from './frame.js';

/** Somebody who listens, by whichever door. */
export interface Reader {
  /** bytes that were sent and not yet taken */
  backlog(): number;
  send(frame: Frame): void;
  /** Ends the connection at once, without a word that would wait behind the others. */
  cut(): void;
}

const MIB = 2 ** 20;
/** A larger message becomes an `invalidate` of its type. */
const LARGEST_FRAME = 4 * MIB;
const MOST_BACKLOG = 8 * MIB;

export class Stream {
  readonly #log: Log;
  readonly #clock: Clock;
  /** With what a newcomer has to wait for until its snapshot has been sent. */
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

  /** A part of what newcomers are told. */
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

  /** As JSON; what one plugin cannot tell is left out, and the rest told. */
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

  /** Tells all. A function is called for the payload only if somebody listens. */
  send(type: string, payload: unknown): void {
    if (this.#readers.size === 0) return;
    const content: unknown = typeof payload === 'function' ? (payload as () => unknown)() : payload;
    this.#tell(type, JSON.stringify(content) ?? 'null');
  }

  /** Tells all what a newcomer would be told now. */
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
    this.#log.info('a reader of the live stream did not read and was disconnected', {
      backlog: reader.backlog(),
    });
    this.#readers.delete(reader);
    reader.cut();
  }

  /** What is said to somebody who talks to a stream that only tells. */
  complaint(): Frame {
    return new Frame(
      'error',
      JSON.stringify({ msg: 'this stream only tells; messages to it are not read' }),
      this.#seq,
      this.#clock.now(),
    );
  }
}
