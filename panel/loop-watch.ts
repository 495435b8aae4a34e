// Notices that the only thread of the panel is busy for seconds. It cannot say so itself then, so another thread watches a
// number in shared memory that this one counts up, and names the plugin by the stack of what runs (loop-watch-worker.ts).
import { Worker } from 'node:worker_threads';
import type { Log } from '../kernel/log/log.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { PluginFiles } from './plugin-files.js';

export const WATCH_LIMITS = {
  /** an end of the process so soon after the start counts against the plugin */
  early: 60_000,
  /** so long nothing else may run before the log says so */
  loop: 3_000,
  /** so long before a plugin that is known to be the cause ends the process */
  endless: 60_000,
} as const;
export type WatchLimits = { readonly [K in keyof typeof WATCH_LIMITS]: number };

/** What the other thread begins with. */
export interface WatchData {
  readonly beats: Int32Array;
  readonly readable: boolean;
  readonly limits: WatchLimits;
  readonly directory: string;
}
/** What it is told on the way. */
export interface WatchNews {
  readonly plugins: readonly PluginFiles[];
  /** when the panel started, in ms since 1970 */
  readonly startedAt: number;
}

/** There are builds of Node without it; then loops are noticed by nobody, and all else works. */
const inspector = process.features.inspector ? await import('node:inspector') : undefined;

/** Places in the shared memory. */
export const BEAT = 0;
/** 1 while a person has a debugger open, who stops the thread on purpose */
export const DEBUGGED = 1;
const BEATS_PER_LIMIT = 6;

export class LoopWatch {
  readonly #data: WatchData;
  readonly #log: Log;
  #worker: Worker | undefined;

  constructor(data: Omit<WatchData, 'beats'>, log: Log) {
    this.#data = { ...data, beats: new Int32Array(new SharedArrayBuffer(8)) };
    this.#log = log;
  }

  /** Begins with the first plugin from outside: a panel without one pays nothing. */
  tell(news: WatchNews): void {
    this.#worker ??= this.#begin();
    this.#worker.postMessage(news);
  }

  #begin(): Worker {
    const { beats, limits } = this.#data;
    const worker = new Worker(new URL('./loop-watch-worker.js', import.meta.url), {
      workerData: this.#data,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    worker.unref();
    worker.on('error', (error) =>
      this.#log.warn('nobody watches for endless loops of plugins any more', { problem: messageOf(error) }),
    );
    setInterval(() => {
      beats[DEBUGGED] = inspector?.url() === undefined ? 0 : 1;
      beats[BEAT] = (beats[BEAT] ?? 0) + 1;
    }, limits.loop / BEATS_PER_LIMIT).unref();
    return worker;
  }
}
