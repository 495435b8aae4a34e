// Watches the memory of the core: warns once when it is over a limit, and restarts the core over another one.
import { type Clock, type Hooks, type LiveSettings, type Log, messageOf } from '../../../kernel/index.js';
import { coreMemoryHigh, type CoreMemory } from '../contract.js';
import type { CoreProcess } from '../driver.js';
import { availableBytes, residentBytes } from './process-memory.js';
import type { engineSettings } from '../settings.js';
import { NO_MEMORY } from './state.js';

const MIB = 1 << 20;
/** of the memory there is, where no limit is set */
const USUAL_SHARE = 0.6;
/** Checks in a row over a limit: a peak is no leak. */
const CHECKS = 3;
/** The warning is over below this share of its limit. */
const CALM_SHARE = 0.9;
const BETWEEN_RESTARTS_MS = 10 * 60_000;

interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
  readonly settings: Pick<LiveSettings<typeof engineSettings>, 'read'>;
  readonly supervisor: {
    watched(): { readonly process: CoreProcess | undefined; readonly state: { memory: CoreMemory } };
    restart(reason: string): Promise<void>;
  };
}

export class MemoryWatch {
  readonly #needs: Needs;
  readonly #measure: typeof residentBytes;
  #watched: CoreProcess | undefined;
  #isHigh = false;
  #overAlert = 0;
  #overRestart = 0;
  #restartedAt = -Infinity;
  #hasToldToWait = false;

  constructor(needs: Needs, measure = residentBytes) {
    this.#needs = needs;
    this.#measure = measure;
  }

  /** Call it every few seconds, one call at a time. */
  async check(): Promise<void> {
    const { supervisor, settings } = this.#needs;
    const { process, state } = supervisor.watched();
    const bytes = process && (await this.#measure(process.pid));
    if (process !== this.#watched) [this.#isHigh, this.#overAlert, this.#overRestart] = [false, 0, 0];
    this.#watched = process;
    if (!process || bytes === undefined || supervisor.watched().process !== process) {
      state.memory = NO_MEMORY;
      return;
    }
    const { engineMemoryAlert, engineMemoryRestart } = settings.read();
    const limit =
      engineMemoryAlert < 0 ? Math.floor(availableBytes() * USUAL_SHARE) : engineMemoryAlert * MIB;
    this.#alert(process, bytes, limit);
    state.memory = { bytes, limit, isHigh: this.#isHigh };
    await this.#restart(bytes, engineMemoryRestart);
  }

  #alert({ pid }: CoreProcess, bytes: number, limit: number): void {
    const { log, hooks } = this.#needs;
    const isOver = limit > 0 && bytes > limit;
    this.#overAlert = isOver ? this.#overAlert + 1 : 0;
    const figures = { pid, mib: Math.round(bytes / MIB), limitMib: Math.round(limit / MIB) };
    if (!this.#isHigh && this.#overAlert >= CHECKS) {
      this.#isHigh = true;
      log.warn('the core uses more memory than it should', figures);
      hooks.emit(coreMemoryHigh, { bytes, limit });
    } else if (this.#isHigh && (limit === 0 || bytes < limit * CALM_SHARE)) {
      this.#isHigh = false;
      log.info('the core uses less memory again', figures);
    }
  }

  async #restart(bytes: number, limitMib: number): Promise<void> {
    const { log, clock, supervisor } = this.#needs;
    const isOver = limitMib > 0 && bytes > limitMib * MIB;
    this.#overRestart = isOver ? this.#overRestart + 1 : 0;
    if (this.#overRestart < CHECKS) return;
    const mib = Math.round(bytes / MIB);
    if (clock.now() - this.#restartedAt < BETWEEN_RESTARTS_MS) {
      if (!this.#hasToldToWait)
        log.warn('the core is over its memory limit again soon after a restart; the limit may be too low', {
          mib,
          limitMib,
        });
      this.#hasToldToWait = true;
      return;
    }
    this.#restartedAt = clock.now();
    this.#hasToldToWait = false;
    this.#overRestart = 0;
    log.warn('restarting the core, because it is over its memory limit', { mib, limitMib });
    await supervisor
      .restart(`the core uses ${mib} MiB of memory, more than ${limitMib}`)
      .catch((error: unknown) =>
        log.warn('the core was not restarted, and stays over its memory limit', { reason: messageOf(error) }),
      );
  }
}
