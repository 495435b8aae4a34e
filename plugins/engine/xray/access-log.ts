// Follows the access log of a core: reads what was written since the last call.
import { type FileHandle, open } from 'node:fs/promises';
import { type LogCut, olderLog } from '../../processes/contract.js';
import type { LoggedConnection } from '../driver.js';
import { AccessLines } from './access-line.js';
import type { NameMark } from './name-mark.js';

/** About 600 lines: followers take some 10 ms for them, then others get their turn. */
const CHUNK = 64 * 1024;

type Listener = (batch: readonly LoggedConnection[]) => void;

/** The end of what has been read of a file. */
interface Place {
  position: number;
}
/** An older file of the log whose end has not been read. */
interface Older extends Place {
  /** 1 is the newest */
  readonly number: number;
}

export class AccessLog {
  readonly #path: string;
  readonly #lines: AccessLines;
  #newest: Place = { position: 0 };
  /** oldest first */
  #older: readonly Older[] = [];

  constructor(path: string, names: Pick<NameMark, 'plain'>) {
    this.#path = path;
    this.#lines = new AccessLines(names);
  }

  begin(position: number, older: readonly Older[] = []): void {
    this.#newest = { position };
    this.#older = older;
  }

  /** The log begins at zero again; what has not been read is in its newest older file. Call it before the next read. */
  wasCut({ isKept, lost }: LogCut, keep: number): void {
    if (isKept) {
      const older = this.#older.map(({ number, position }) => ({ number: number + 1, position }));
      older.push({ number: 1, position: Math.max(0, this.#newest.position - lost) });
      this.#older = older.filter(({ number }) => number <= keep);
    }
    this.#newest = { position: 0 };
  }

  /** A log that somebody else truncated is read from its beginning; half a line waits for its end. */
  async read(listener: Listener): Promise<void> {
    for (let [first, ...rest] = this.#older; first; [first, ...rest] = rest) {
      const file = await open(olderLog(this.#path, first.number), 'r').catch(() => undefined);
      if (file) await readLines(file, first, this.#lines, listener);
      this.#older = rest;
    }
    await readLines(await open(this.#path, 'r'), this.#newest, this.#lines, listener);
  }
}

/** Reads whole lines, and moves the place to the end of the last one. Closes the file. */
async function readLines(
  file: FileHandle,
  place: Place,
  lines: AccessLines,
  listener: Listener,
): Promise<void> {
  try {
    const { size } = await file.stat();
    if (size < place.position) place.position = 0;
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size - place.position));
    while (place.position < size) {
      const length = Math.min(buffer.length, size - place.position);
      const { bytesRead } = await file.read(buffer, 0, length, place.position);
      const whole = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
      // No line is that long; skip it.
      const done = whole === 0 && bytesRead === CHUNK ? bytesRead : whole;
      if (done === 0) return;
      place.position += done;
      const batch = connectionsIn(buffer.subarray(0, whole), lines);
      if (batch.length > 0) listener(batch);
    }
  } finally {
    await file.close();
  }
}

/** Copies each line: a slice that is stored would keep the whole chunk in memory. */
function connectionsIn(bytes: Buffer, lines: AccessLines): LoggedConnection[] {
  const batch: LoggedConnection[] = [];
  for (let at = 0, end = bytes.indexOf(10); end >= 0; at = end + 1, end = bytes.indexOf(10, at)) {
    const connection = lines.connectionOf(bytes.toString('latin1', at, end));
    if (connection) batch.push(connection);
  }
  return batch;
}
