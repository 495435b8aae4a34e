// Finds a core that holds its ports and does not answer any more, and replaces it.
import { type Hooks, type Log, messageOf } from '../../../kernel/index.js';
import { beforeCountersGo, type CoreCounters } from '../contract.js';
import { type CoreProcess, CoreUnreachable, type DriverMonitor } from '../driver.js';
import { readSoon } from './last-reading.js';
import type { CoreState } from './state.js';

/** ms for an answer that takes less than one on an idle machine */
const ANSWER_MS = 4000;
/** A failure counts only if this panel itself was on time to hear the answer. */
const LATE_MS = 500;
/** ms between two checks, at most: else this panel stood still, as on a machine that was suspended */
const GAP_MS = 10_000;
const FAILURES = 4;
const SILENT_MS = 20_000;

export interface Watched {
  readonly state: CoreState;
  /** undefined while no core runs */
  readonly process: CoreProcess | undefined;
  readonly monitor: DriverMonitor | undefined;
}

interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly supervisor: {
    watched(): Watched;
    counters(only: undefined, isLast: true): Promise<CoreCounters | undefined>;
  };
}

type Outcome = 'answer' | 'silence' | 'unknown';

export class HangWatch {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #supervisor: Needs['supervisor'];
  readonly #now: () => number;
  #watched: CoreProcess | undefined;
  #failures = 0;
  /** when the first of them was asked */
  #silentSince = 0;
  #lastCheck = -Infinity;

  /** @param now ms, of a clock that nobody sets */
  constructor({ hooks, log, supervisor }: Needs, now: () => number = () => performance.now()) {
    this.#hooks = hooks;
    this.#log = log;
    this.#supervisor = supervisor;
    this.#now = now;
  }

  /** Call it every few seconds, one call at a time. Never rejects. */
  async check(): Promise<void> {
    const { process, monitor, state } = this.#supervisor.watched();
    const began = this.#now();
    if (!process || !monitor || !state.running) return this.#forget(undefined);
    // A core that has just been started or adopted, or a panel that stood still: what was before says nothing.
    if (process !== this.#watched || began - this.#lastCheck > GAP_MS) this.#forget(process);
    const outcome = await this.#ask(monitor);
    this.#lastCheck = this.#now();
    if (this.#supervisor.watched().process !== process) return;
    if (outcome === 'unknown') return this.#forget(process);
    if (outcome === 'answer') return this.#answered(process);
    if (this.#failures === 0) this.#silentSince = began;
    this.#failures += 1;
    const ms = this.#lastCheck - this.#silentSince;
    const silentFor = `${Math.round(ms / 1000)} s`;
    state.silent(`the core has not answered for ${silentFor}`);
    if (this.#failures === 1)
      this.#log.warn('the core does not answer; changes wait until it does', { pid: process.pid });
    // It may be only the connection that is stuck; and calls under way need not wait for their time limits.
    if (this.#failures === 2) monitor.reconnect();
    if (this.#failures >= FAILURES && ms >= SILENT_MS) await this.#end(process, monitor, silentFor);
  }

  async #end(process: CoreProcess, monitor: DriverMonitor, silentFor: string): Promise<void> {
    const { state } = this.#supervisor.watched();
    const last = await readSoon(() => this.#supervisor.counters(undefined, true));
    if (this.#supervisor.watched().process !== process) return;
    this.#log.error('the core runs and does not answer; killing it to start another', {
      pid: process.pid,
      silentFor,
      bytesSinceLastPoll: last ? 'counted' : 'not counted',
    });
    state.kills(`the core (pid ${process.pid}) did not answer for ${silentFor} and was killed`);
    try {
      if (last) await this.#hooks.notify(beforeCountersGo, { counters: last });
      await monitor.kill();
    } catch (error) {
      state.kills('');
      this.#log.error('the core that does not answer could not be killed', { reason: messageOf(error) });
    }
    this.#lastCheck = this.#now();
  }

  async #ask(monitor: DriverMonitor): Promise<Outcome> {
    const began = this.#now();
    try {
      await monitor.figures(ANSWER_MS);
      return 'answer';
    } catch (error) {
      // A refusal is an answer too.
      if (!(error instanceof CoreUnreachable)) return 'answer';
      return this.#now() - began > ANSWER_MS + LATE_MS ? 'unknown' : 'silence';
    }
  }

  #answered(process: CoreProcess): void {
    if (this.#failures > 0) this.#log.info('the core answers again', { pid: process.pid });
    this.#forget(process);
  }

  #forget(process: CoreProcess | undefined): void {
    if (this.#failures > 0) this.#supervisor.watched().state.silent('');
    this.#failures = 0;
    this.#watched = process;
  }
}
