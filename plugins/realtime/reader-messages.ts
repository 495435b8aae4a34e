// What readers of the live stream may say: which logs they watch.
import { inspect, optional, shape, text, word } from '../../kernel/index.js';
import { errorOf, type LogWatches } from './log-watches.js';
import { PLACE_FORM, placeIn } from './log-place.js';
import type { Reader } from './reader-queue.js';
import type { Stream } from './stream.js';

/** Messages of a reader at once; one more each second. A page sends a few when somebody opens a log. */
const MOST_AT_ONCE = 30;
const REFILL_MS = 1_000;
/** Bytes that were sent and not read, from which on errors are not told. */
const MOST_UNREAD = 64 * 1024;

const LOG = word().max(64);
const SHAPES = {
  watch: shape({
    log: LOG,
    after: optional(text().max(80).pattern(PLACE_FORM, 'the end that an earlier message or a tail had')),
  }),
  unwatch: shape({ log: LOG }),
};

interface Allowance {
  left: number;
  /** monotonic ms */
  at: number;
  /** was told that this stream takes two types of messages */
  isTold: boolean;
}

export class ReaderMessages {
  readonly #stream: Stream;
  readonly #watches: LogWatches;
  readonly #allowances = new WeakMap<Reader, Allowance>();

  constructor({ stream, watches }: { stream: Stream; watches: LogWatches }) {
    this.#stream = stream;
    this.#watches = watches;
  }

  /** `read` gives the message, or throws. A reader that sends too many is cut. */
  take(reader: Reader, read: () => unknown): void {
    const allowance = this.#allowances.get(reader) ?? {
      left: MOST_AT_ONCE,
      at: performance.now(),
      isTold: false,
    };
    this.#allowances.set(reader, allowance);
    const now = performance.now();
    allowance.left = Math.min(MOST_AT_ONCE, allowance.left + (now - allowance.at) / REFILL_MS) - 1;
    allowance.at = now;
    if (allowance.left < 0) {
      reader.cut();
      return;
    }
    let message: unknown;
    try {
      message = read();
    } catch {
      message = undefined;
    }
    const type = (message as { readonly type?: unknown } | null | undefined)?.type;
    if (type === 'watch') this.#watch(reader, message);
    else if (type === 'unwatch') this.#unwatch(reader, message);
    else if (!allowance.isTold) {
      allowance.isTold = true;
      this.#refuse(reader, 'type', 'this stream takes messages of the types watch and unwatch only');
    }
  }

  #watch(reader: Reader, message: unknown): void {
    const result = inspect(SHAPES.watch, message);
    if ('issues' in result) {
      this.#refuseFirst(reader, result.issues);
      return;
    }
    const { log, after } = result.value;
    const names = this.#watches.names();
    if (!names.includes(log))
      this.#refuse(
        reader,
        'log',
        `there is no live log ${log}; there are: ${names.join(', ') || 'none'}`,
        log,
      );
    else if (!reader.mayRead(log))
      this.#refuse(reader, 'log', `your role does not allow to read ${log}`, log);
    else this.#watches.watch(reader, log, after === undefined ? undefined : placeIn(after));
  }

  #unwatch(reader: Reader, message: unknown): void {
    const result = inspect(SHAPES.unwatch, message);
    if ('issues' in result) {
      this.#refuseFirst(reader, result.issues);
      return;
    }
    this.#watches.unwatch(reader, result.value.log);
  }

  #refuseFirst(
    reader: Reader,
    [issue]: readonly { readonly path: string; readonly message: string }[],
  ): void {
    this.#refuse(reader, issue?.path || 'type', issue?.message ?? 'the message is not valid');
  }

  #refuse(reader: Reader, field: string, msg: string, log?: string): void {
    if (reader.backlog() <= MOST_UNREAD) reader.send(this.#stream.aside('error', errorOf(field, msg, log)));
  }

  /** Call it when the connection has closed. */
  left(reader: Reader): void {
    this.#watches.leave(reader);
  }
}
