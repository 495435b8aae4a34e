// State of the core, with the reason; emits coreStateChanged.
import type { Hooks, Log } from '../../kernel/index.js';
import { type Applied, coreStateChanged, type EngineState } from './contract.js';

export class CoreState {
  readonly #hooks: Hooks;
  readonly #log: Log;
  #name: EngineState = 'stop';
  #reason = 'the core has not been started yet';

  constructor(hooks: Hooks, log: Log) {
    this.#hooks = hooks;
    this.#log = log;
  }

  get name(): EngineState {
    return this.#name;
  }

  get running(): boolean {
    return this.#name === 'running';
  }

  /** Why it does not run; empty while it does. */
  get reason(): string {
    return this.#reason;
  }

  /** The result of a change that must wait for the next start. */
  notNow(): Applied {
    return { pending: true, reason: `the core does not run: ${this.#reason}` };
  }

  enter(to: EngineState, reason: string): void {
    const from = this.#name;
    this.#name = to;
    this.#reason = reason;
    if (from === to) return;
    this.#log[to === 'error' ? 'error' : 'info']('core state changed', {
      from,
      to,
      ...(reason && { reason }),
    });
    this.#hooks.emit(coreStateChanged, { from, to, reason });
  }
}
