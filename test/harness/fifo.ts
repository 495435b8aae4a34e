// A pipe with a name, for tests whose reader goes away, comes back, or never reads.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const CHUNK = 64 * 1024;

export class Fifo {
  /** for a writer; blocking, as a shell hands it out */
  readonly fd: number;
  readonly path: string;
  readonly #open = new Set<number>();

  private constructor(path: string) {
    this.path = path;
    // Neither end can be opened without the other.
    const both = openSync(path, O_RDWR | O_NONBLOCK);
    this.fd = openSync(path, O_WRONLY);
    this.#open.add(this.fd).add(both);
  }

  /** Has a reader, which does not read, until `closeReaders`. */
  static make(t: ExecutionContext): Fifo {
    const folder = mkdtempSync(join(tmpdir(), 'weir-fifo-'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const fifo = new Fifo(join(folder, 'pipe'));
    t.teardown(() => {
      for (const fd of fifo.#open) closeSync(fd);
      rmSync(folder, { recursive: true });
    });
    return fifo;
  }

  /** A stream of what comes out; destroy it to stop reading. */
  reader(): Socket {
    return new Socket({ fd: openSync(this.path, O_RDONLY | O_NONBLOCK), readable: true, writable: false });
  }

  /** All that is in the pipe at this moment. */
  take(): string {
    const fd = openSync(this.path, O_RDONLY | O_NONBLOCK);
    const parts: Buffer[] = [];
    try {
      for (;;) {
        const buffer = Buffer.alloc(CHUNK);
        const bytes = readSync(fd, buffer);
        if (bytes === 0) break;
        parts.push(buffer.subarray(0, bytes));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    } finally {
      closeSync(fd);
    }
    return Buffer.concat(parts).toString();
  }

  /** Nothing more goes in after this. */
  fill(): void {
    const fd = openSync(this.path, O_WRONLY | O_NONBLOCK);
    try {
      for (let size = CHUNK; size > 0; ) {
        try {
          writeSync(fd, '\n'.repeat(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Writers get EPIPE from now on. */
  closeReaders(): void {
    for (const fd of this.#open) {
      if (fd === this.fd) continue;
      closeSync(fd);
      this.#open.delete(fd);
    }
  }
}
