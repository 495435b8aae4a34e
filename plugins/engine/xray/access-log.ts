// Follows the access log of a core: reads what was written since the last call.
import { open } from 'node:fs/promises';
import type { LoggedConnection } from '../driver.js';
import { connectionOf } from './access-line.js';

/** About 600 lines: followers take some 10 ms for them, then others get their turn. */
const CHUNK = 64 * 1024;

export class AccessLog {
  readonly #path: string;
  /** end of what has been read */
  position = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** A log that was truncated in place is read from its beginning; half a line waits for its end. */
  async read(listener: (batch: readonly LoggedConnection[]) => void): Promise<void> {
    const file = await open(this.#path, 'r');
    try {
      const { size } = await file.stat();
      if (size < this.position) this.position = 0;
      if (size === this.position) return;
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - this.position));
      while (this.position < size) {
        const { bytesRead } = await file.read(
          buffer,
          0,
          Math.min(buffer.length, size - this.position),
          this.position,
        );
        const whole = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
        // No line is that long; skip it.
        const done = whole === 0 && bytesRead === CHUNK ? bytesRead : whole;
        if (done === 0) return;
        this.position += done;
        const batch = connectionsIn(buffer.subarray(0, whole));
        if (batch.length > 0) listener(batch);
      }
    } finally {
      await file.close();
    }
  }
}

/** Copies each line: a slice that is stored would keep the whole chunk in memory. */
function connectionsIn(lines: Buffer): LoggedConnection[] {
  const batch: LoggedConnection[] = [];
  for (let at = 0, end = lines.indexOf(10); end >= 0; at = end + 1, end = lines.indexOf(10, at)) {
    const connection = connectionOf(lines.toString('latin1', at, end));
    if (connection) batch.push(connection);
  }
  return batch;
}
