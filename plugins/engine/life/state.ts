// State of the core, with the reason; emits coreStateChanged.
import type { Clock, Hooks, Log } from '../../../kernel/index.js';
import { type Applied, type CoreMemory, coreStateChanged, type EngineState } from '../contract.js';
import { CrashSeries } from './crash-series.js';
import { CoreUnreachable } from '../driver.js';

/** While no core runs. */
export const NO_MEMORY: CoreMemory = { bytes: 0, limit: 0, isHigh: false };

interface Needs {
  readonly hooks: Hooks;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
}

export class CoreState {
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly failures: CrashSeries;
  #name: EngineState = 'stop';
  #reason = 'the core has not been started yet';
  /** why it is not asked for anything although it runs; empty while it answers */
  #silence = '';
  #killedFor = '';
  /** as it was measured last */
  memory: CoreMemory = NO_MEMORY;

  constructor({ hooks, log, clock }: Needs) {
    this.#hooks = hooks;
    this.#log = log;
    this.failures = new CrashSeries(clock);
  }

  get name(): EngineState {
    return this.#name;
  }

  get running(): boolean {
    return this.#name === 'running';
  }

  /** Whether it runs, and answered when it was asked last. */
  get answers(): boolean {
    return this.running && this.#silence === '';
  }

  /** Why it does not run; empty while it does. */
  get reason(): string {
    return this.#reason;
  }

  /** Why the core does not run, or what is wrong with one that runs; `others` returns what else is. */
  message(others: () => readonly string[]): string {
    if (!this.running) return this.#reason;
    const loop = this.failures.isLoop ? [`the core exits again and again: ${this.failures.describe()}`] : [];
    return [...(this.#silence ? [this.#silence] : []), ...loop, ...others()].join('; ');
  }

  /** The result of a change that must wait for the next start, or for the next answer. */
  notNow(): Applied {
    const reason = this.running ? this.#silence : `the core does not run: ${this.#reason}`;
    return { pending: true, reason };
  }

  /** Throws CoreUnreachable while the core is known not to answer: nobody waits for it. */
  requireAnswers(): void {
    if (this.#silence !== '') throw new CoreUnreachable(this.#silence);
  }

  /** Changes wait from now on: the core does not answer. Empty: it answers again. */
  silent(reason: string): void {
    this.#silence = reason;
  }

  /** The exit that follows has this reason, whatever the core says. */
  kills(reason: string): void {
    this.#killedFor = reason;
  }

  /** Returns the reason of an exit. */
  exited(lastMessage: string): string {
    const reason = this.#killedFor || lastMessage;
    this.#killedFor = '';
    return reason;
  }

  /** It exited, or a start failed. */
  failed(reason: string): void {
    this.failures.failed(reason);
    this.enter('error', this.failures.describe());
  }

  enter(to: EngineState, reason: string): void {
    const from = this.#name;
    this.#name = to;
    this.#reason = reason;
    this.#silence = '';
    this.#killedFor = '';
    if (to === 'running') this.failures.started();
    else this.memory = NO_MEMORY;
    if (to === 'stop') this.failures.clear();
    if (from === to) return;
    this.#log[to === 'error' ? 'error' : 'info']('core state changed', {
      from,
      to,
      ...(reason && { reason }),
    });
    this.#hooks.emit(coreStateChanged, { from, to, reason });
  }
}
