// What one reader has yet to receive. While its connection is busy, messages wait here and not in the socket: there they
// could not be replaced by newer ones. Messages are shared by all readers, so waiting ones cost hardly any memory.
import type { Frame } from './frame.js';

/** A reader, at either endpoint. */
export interface Reader {
  /** bytes that were sent and not yet read */
  backlog(): number;
  send(frame: Frame): void;
  /** Whether it may read messages of this type, now. */
  mayRead(type: string): boolean;
  /** Closes the connection at once, without a last message, which would wait behind the others. */
  cut(): void;
  /** The endpoint calls it when the connection has taken what was sent. */
  drained?: () => void;
}

/** With more than this in the socket, a reader is slow. */
const MOST_SENT = 64 * 1024;
/** From here on a newer message replaces the older one with its key. */
const CALM = 16;
/** Messages that cannot be replaced and that a reader may be behind. */
const MOST_WAITING = 100;
/** Checks in a row at which a slow reader has read nothing. */
const MOST_STUCK = 6;

export class ReaderQueue {
  readonly #reader: Reader;
  #waiting: Frame[] = [];
  /** its snapshot has been sent */
  #isOpen = false;
  #stuck = 0;
  #lastBacklog = 0;

  constructor(reader: Reader) {
    this.#reader = reader;
    reader.drained = () => this.#flush();
  }

  /** Sends the snapshot, and then what has come since. */
  open(snapshot: Frame): void {
    this.#reader.send(snapshot);
    this.#isOpen = true;
    this.#flush();
  }

  /** Nothing waits, and the connection takes more. */
  get isFree(): boolean {
    return this.#waiting.length === 0 && this.#isReady();
  }

  /** Returns false when the reader is too far behind. */
  push(frame: Frame): boolean {
    if (this.isFree) {
      this.#reader.send(frame);
      return true;
    }
    if (this.#waiting.length >= CALM && frame.key !== undefined) {
      const older = this.#waiting.findIndex(({ key }) => key === frame.key);
      if (older >= 0) this.#waiting.splice(older, 1);
    }
    this.#waiting.push(frame);
    return this.#waiting.length <= MOST_WAITING;
  }

  /** Whether the reader has messages waiting and has read nothing at this and the previous checks. Call it every few seconds: checks are counted, because a clock can jump. */
  isStuck(): boolean {
    const backlog = this.#reader.backlog();
    const reads = this.#waiting.length === 0 || !this.#isOpen || backlog < this.#lastBacklog;
    this.#stuck = reads ? 0 : this.#stuck + 1;
    this.#lastBacklog = backlog;
    return this.#stuck >= MOST_STUCK;
  }

  close(): void {
    this.#isOpen = false;
    this.#waiting = [];
  }

  #isReady(): boolean {
    return this.#isOpen && this.#reader.backlog() <= MOST_SENT;
  }

  #flush(): void {
    let sent = 0;
    while (sent < this.#waiting.length && this.#isReady()) this.#reader.send(this.#waiting[sent++] as Frame);
    if (sent > 0) this.#waiting.splice(0, sent);
    // What it has read since the last check is progress, although more was sent.
    if (sent > 0) this.#stuck = 0;
  }
}
