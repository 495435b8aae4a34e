// Repeated work of plugins: never overlapping, ended by a signal when the kernel stops.
import type { Log } from '../log/log.js';
import type { Owner } from '../plugin/owner.js';
import { LIMITS, within } from '../plugin/within.js';
import type { Clock } from './clock.js';

export interface Job {
  readonly name: string;
  readonly every: string;
  readonly run: (signal: AbortSignal) => void | Promise<void>;
}
/** `every` is a number with a unit: `500ms`, `5s`, `10m`, `1h`, `1d`. */
export const job = (name: string, every: string, run: Job['run']): Job => ({ name, every, run });

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 2 ** 31 - 1;

export function durationOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new Error(`"${text}" is no duration; write a number and ms, s, m, h or d, like 5s`);
  const ms = Number(amount) * (UNITS[unit] ?? 1);
  // A timer of Node that is asked for more (or for nothing) fires every millisecond.
  if (ms < 1 || ms > LONGEST_MS)
    throw new Error(`"${text}" is no duration that a timer can keep; it takes 1ms to 24d`);
  return ms;
}

export class Schedule {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #timers: (() => void)[] = [];
  readonly #running = new Map<Promise<void>, (error: unknown) => void>();
  readonly #limit: number;

  constructor(clock: Clock, log: Log, limit: number = LIMITS.job) {
    this.#limit = limit;
    this.#clock = clock;
    this.#log = log;
  }

  start(owner: Owner, { name, every, run }: Job): void {
    let busy = false;
    const tick = () => {
      if (busy || owner.faulty) return;
      busy = true;
      const turn = Promise.resolve()
        .then(() => run(this.#stop.signal))
        .catch((error: unknown) => {
          if (!this.#stop.signal.aborted) owner.fault(`job ${name} of ${owner.name}`, error);
        })
        .finally(() => {
          busy = false;
          this.#running.delete(turn);
        });
      this.#running.set(turn, (error) => owner.fault(`job ${name} of ${owner.name}`, error));
    };
    this.#timers.push(this.#clock.every(durationOf(every), tick));
    this.#log.debug('job scheduled', { plugin: owner.name, job: name, every });
  }

  /** Resolves when the runs under way are over. For tests. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.keys());
  }

  /** No further runs; waits for those under way, which are told by their signal, but not for one that does not heed it. */
  async stop(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#stop.abort();
    await Promise.all(
      [...this.#running].map(([turn, fault]) => within(this.#limit, 'its end', () => turn).catch(fault)),
    );
  }
}
