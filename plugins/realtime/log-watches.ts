// Logs that readers watch. A few times a second each log is asked where it ends; where it has grown, those who watch it get
// the lines after the place that they have. Nothing is kept for them but that place: a reader that is slow stays where it
// is, and gets the newest lines later, with the number of those that were left out.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contributed, PluginContext } from '../../kernel/index.js';
import { type LiveLog, LiveLogs, type LogPart, type LogPlace, textOfPlace } from './contract.js';
import type { Reader } from './reader-queue.js';
import type { Frame } from './frame.js';
import type { Stream } from './stream.js';

/** Of a message; there are four a second. */
const MOST_LINES = 500;
/** Characters of JSON of all lines of a message, and of one line. */
const MOST_CHARACTERS = 256 * 1024;
const LONGEST_LINE = 16 * 1024;
/** Different places that are read in one round: each may be a read of a file. The others have their turn in the next one. */
const MOST_PLACES = 4;
const PATIENCE_MS = 5_000;

interface Watcher {
  /** undefined: the end of the log, as it is found */
  place: LogPlace | undefined;
  /** the reader has no answer to its `watch` yet */
  isNew: boolean;
}
interface Watched {
  readonly source: Contributed<LiveLog>;
  readonly watchers: Map<Reader, Watcher>;
}

export class LogWatches {
  readonly #stream: Stream;
  readonly #contributions: PluginContext['contributions'];
  readonly #logs = new Map<string, Watched>();

  constructor({ stream, contributions }: { stream: Stream; contributions: PluginContext['contributions'] }) {
    this.#stream = stream;
    this.#contributions = contributions;
  }

  /** Names of the logs that there are. */
  names(): string[] {
    return this.#contributions(LiveLogs).map(({ value }) => value.type);
  }

  /** Takes the place of an earlier watch of this log. False for a log that there is not. */
  watch(reader: Reader, type: string, place: LogPlace | undefined): boolean {
    const source = this.#contributions(LiveLogs).find(({ value }) => value.type === type);
    if (!source) return false;
    const watched = this.#logs.get(type) ?? { source, watchers: new Map() };
    this.#logs.set(type, watched);
    watched.watchers.set(reader, { place, isNew: true });
    return true;
  }

  unwatch(reader: Reader, type: string): void {
    const watched = this.#logs.get(type);
    watched?.watchers.delete(reader);
    if (watched?.watchers.size === 0) this.#logs.delete(type);
  }

  leave(reader: Reader): void {
    for (const type of this.#logs.keys()) this.unwatch(reader, type);
  }

  /** A job calls it. */
  async round(): Promise<void> {
    await Promise.all([...this.#logs].map(([type, watched]) => this.#tell(type, watched)));
  }

  async #tell(type: string, { source, watchers }: Watched): Promise<void> {
    const { value: log, fault } = source;
    try {
      const end = await inTime(() => log.end());
      const frames = new Map<string, { readonly frame: Frame; readonly end: LogPlace | undefined }>();
      for (const [reader, watcher] of [...watchers]) {
        const key = keyOf(watcher.place, end);
        const isGrown = end !== undefined && key !== textOfPlace(end);
        if (!(isGrown || watcher.isNew) || !this.#stream.isFree(reader)) continue;
        if (!frames.has(key)) {
          if (frames.size >= MOST_PLACES) continue;
          frames.set(key, await this.#frame(type, log, watcher.place, end));
        }
        const made = frames.get(key);
        // It may have left, or watched from elsewhere, while the log was read.
        if (!made || watchers.get(reader) !== watcher || !this.#stream.isFree(reader)) continue;
        watchers.delete(reader);
        if (!reader.mayRead(type)) continue;
        reader.send(made.frame);
        // Those that were not served are before it in the next round.
        watchers.set(reader, { place: made.end, isNew: false });
      }
      if (watchers.size === 0 && this.#logs.get(type)?.watchers === watchers) this.#logs.delete(type);
    } catch (error) {
      this.#logs.delete(type);
      fault(`lines of the live log ${type}`, error);
      const frame = this.#stream.aside('error', errorOf('log', 'the log cannot be read now', type));
      for (const reader of watchers.keys()) if (this.#stream.isFree(reader)) reader.send(frame);
    }
  }

  async #frame(type: string, log: LiveLog, place: LogPlace | undefined, end: LogPlace | undefined) {
    const part = place && end ? await inTime(() => log.since(place, MOST_LINES)) : undefined;
    const fitting = part ? newestOf(part) : { lines: [], leftOut: 0, end: end ?? place };
    const payload = {
      after: place ? textOfPlace(place) : null,
      end: fitting.end ? textOfPlace(fitting.end) : null,
      leftOut: fitting.leftOut,
      // The reader asks for the last lines again.
      isLost: place !== undefined && end !== undefined && part === undefined,
    };
    const lines = fitting.lines.join();
    const text = `${JSON.stringify(payload).slice(0, -1)},"lines":[${lines}]}`;
    return { frame: this.#stream.aside(type, text), end: fitting.end };
  }
}

/** Payload of the message `error`, as JSON; `field` is of the message that was refused. */
export const errorOf = (field: string, msg: string, log?: string): string =>
  JSON.stringify({ msg, field, ...(log !== undefined && { log }) });

const keyOf = (place: LogPlace | undefined, end: LogPlace | undefined): string => {
  if (place) return textOfPlace(place);
  return end ? `end ${textOfPlace(end)}` : 'none';
};

/** The newest lines that a message takes, as JSON. */
function newestOf({ lines, leftOut, end }: LogPart): { lines: string[]; leftOut: number; end: LogPlace } {
  const fitting: string[] = [];
  let characters = 0;
  for (let i = lines.length - 1; i >= 0 && fitting.length < MOST_LINES; i--) {
    const text = JSON.stringify(lines[i]) ?? 'null';
    if (text.length > LONGEST_LINE) continue;
    characters += text.length;
    if (characters > MOST_CHARACTERS) break;
    fitting.push(text);
  }
  return { lines: fitting.reverse(), leftOut: leftOut + lines.length - fitting.length, end };
}

async function inTime<T>(work: () => T | Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`it took longer than ${PATIENCE_MS / 1000} s`);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(), late]);
  } finally {
    over.abort();
  }
}
