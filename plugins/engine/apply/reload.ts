// Asks plugins whether the running core may get another config now.
import { type Hooks, type Log, PanelError } from '../../../kernel/index.js';
import { beforeCoreReload } from '../contract.js';
import type { AppliedDigests } from '../driver.js';
import { baseDifference, difference, type Plan } from '../config/plan.js';

/** A plugin refused the change; nothing was changed. */
export class ReloadRefused extends PanelError {
  constructor({ code, status, message, issues, headers }: PanelError) {
    super(code, status, `the core keeps its config for now: ${message}`, { issues, headers });
  }
}

export class ReloadGuard {
  readonly #hooks: Hooks;
  readonly #log: Log;
  /** of the last change that was refused; empty when there is none */
  #refusal = '';

  constructor(hooks: Hooks, log: Log) {
    this.#hooks = hooks;
    this.#log = log;
  }

  get refusals(): readonly string[] {
    return this.#refusal ? [this.#refusal] : [];
  }

  /** Rejects with ReloadRefused. Does not ask about a hot change that changes nothing. */
  async ask(reason: string, mode: 'hot' | 'restart', next: Plan, digests: AppliedDigests): Promise<void> {
    const { put, remove } = difference(next, digests);
    const base = baseDifference(next, digests) !== 'none';
    if (mode === 'hot' && !base && put.length + remove.length === 0) return;
    const changes = { base, put: put.map(({ tag }) => tag), remove };
    try {
      await this.#hooks.check(beforeCoreReload, { reason, plan: mode, changes });
    } catch (error) {
      throw error instanceof PanelError ? new ReloadRefused(error) : error;
    }
  }

  /** Stores the refusal for the status, and logs it once while it is repeated. */
  refused({ message }: ReloadRefused): void {
    if (this.#refusal !== message)
      this.#log.warn('a plugin refused a change of the config; the core keeps the previous one', {
        reason: message,
      });
    this.#refusal = message;
  }

  /** The change was made, or is not due any more. */
  clear(): void {
    this.#refusal = '';
  }
}
