// Notices that the main thread is blocked for seconds. A blocked thread cannot log, so another thread watches a counter
// in shared memory that this one increments, and finds the plugin by the stack of the running code (loop-watch-worker.ts).
import { Worker } from 'node:worker_threads';
import type { Log } from '../kernel/log/log.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { PluginFiles } from './plugin-files.js';

export const WATCH_LIMITS = {
  /** an exit this soon after the start counts against the plugin that caused it */
  early: 60_000,
  /** the log reports a block that lasts this long */
  loop: 3_000,
  /** a block that lasts this long and is known to be a plugin's ends the process */
  endless: 60_000,
} as const;
export type WatchLimits = { readonly [K in keyof typeof WATCH_LIMITS]: number };

/** Data that the other thread starts with. */
export interface WatchData {
  readonly beats: Int32Array;
  readonly readable: boolean;
  readonly limits: WatchLimits;
  readonly directory: string;
}
/** Updates for the other thread. */
export interface WatchNews {
  readonly plugins: readonly PluginFiles[];
  /** when the panel started, in ms since 1970 */
  readonly startedAt: number;
}

/** Some builds of Node lack it; there, blocks go unnoticed and everything else works. */
const inspector = process.features.inspector ? await import('node:inspector') : undefined;

/** Indexes into the shared memory. */
export const BEAT = 0;
/** 1 while a debugger is attached, which pauses the thread on purpose */
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

  /** Starts with the first third-party plugin: a panel without one pays nothing. */
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
      this.#log.warn('the watch for endless loops has failed; plugins are no longer watched', {
        problem: messageOf(error),
      }),
    );
    setInterval(() => {
      beats[DEBUGGED] = inspector?.url() === undefined ? 0 : 1;
      beats[BEAT] = (beats[BEAT] ?? 0) + 1;
    }, limits.loop / BEATS_PER_LIMIT).unref();
    return worker;
  }
}
