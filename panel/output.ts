// Standard output and standard error. A slow, closed or full reader must neither crash nor stall the panel, so nothing
// here waits: data that cannot be written now is buffered up to a limit and retried; lines over the limit are counted.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Most bytes to buffer; a single line that was partly written may be longer. */
const WAITING_LIMIT = 1024 * 1024;
const FIRST_RETRY_MS = 20;
const LONGEST_RETRY_MS = 1_000;
/** How long the exit of the process waits for a slow reader. */
const FLUSH_LIMIT_MS = 400;
const FLUSH_LOOK_MS = 5;

/** Called once writing works again, when lines were dropped. `reason` is the code of the first failure, e.g. EPIPE. */
export type Dropped = (lines: number, reason: string) => void;

export class Output {
  readonly #fd: number;
  readonly #onDropped: Dropped;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #droppedBecause = '';
  #problem = '';
  #delay = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;

  /** @param fd must be a regular file, or a pipe, socket or terminal; a socket must be non-blocking already */
  constructor(fd: number, onDropped: Dropped) {
    this.#fd = withoutWaiting(fd);
    this.#onDropped = onDropped;
  }

  /** Why lines are buffered: the code of the last failure, e.g. EAGAIN; empty when none are. */
  get problem(): string {
    return this.#waiting.length === 0 ? '' : this.#problem;
  }

  /** Takes one or more whole lines. Never throws, never waits. */
  write(lines: string | Uint8Array): void {
    const bytes = Buffer.from(lines);
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes.length > WAITING_LIMIT) {
      if (this.#dropped++ === 0) this.#droppedBecause = this.#problem;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#retry === undefined) this.#drain();
  }

  /** Call it at exit: waits a moment for a reader that is still there. */
  flush(): void {
    const deadline = Date.now() + FLUSH_LIMIT_MS;
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (;;) {
      this.#drain();
      if (this.problem !== 'EAGAIN' || Date.now() > deadline) return;
      Atomics.wait(pause, 0, 0, FLUSH_LOOK_MS);
    }
  }

  #drain(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const before = this.#waitingBytes;
    try {
      for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) this.#writeSome(first);
    } catch (error) {
      this.#problem = (error as NodeJS.ErrnoException).code ?? String(error);
      this.#delay =
        this.#waitingBytes < before ? FIRST_RETRY_MS : Math.min(this.#delay * 2, LONGEST_RETRY_MS);
      this.#retry = setTimeout(() => this.#drain(), this.#delay).unref();
      return;
    }
    this.#delay = FIRST_RETRY_MS;
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#onDropped(dropped, this.#droppedBecause);
  }

  #writeSome(first: Buffer): void {
    const written = writeSync(this.#fd, first);
    if (written === 0 && first.length > 0)
      throw Object.assign(new Error('nothing taken'), { code: 'EAGAIN' });
    this.#waitingBytes -= written;
    if (written < first.length) this.#waiting[0] = first.subarray(written);
    else this.#waiting.shift();
  }
}

/**
 * Opens the same pipe or terminal again, without blocking. O_NONBLOCK on the inherited descriptor would also change it
 * for the shell and other processes that share it. A file keeps its descriptor, because its position is shared.
 */
function withoutWaiting(fd: number): number {
  try {
    if (!isatty(fd) && !fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // No /proc, a pipe of another user, or no reader at the moment.
    return fd;
  }
}

/** Redirects writes to this stream to the output: plugins and libraries write there, too. */
export function redirect(stream: NodeJS.WriteStream, output: Output): void {
  stream.on('error', () => undefined);
  type Done = (error?: Error | null) => void;
  const write = (data: string | Uint8Array, encoding?: BufferEncoding | Done, callback?: Done): boolean => {
    output.write(
      typeof data === 'string' && typeof encoding === 'string' ? Buffer.from(data, encoding) : data,
    );
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done) process.nextTick(done);
    return true;
  };
  stream.write = write as typeof stream.write;
}
