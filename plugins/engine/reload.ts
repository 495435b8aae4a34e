// Asks plugins whether the running core may get another config now.
import { type Hooks, type Log, messageOf, PanelError } from '../../kernel/index.js';
import { beforeCoreReload } from './contract.js';
import type { CoreRecord } from './driver.js';
import { difference, type Plan } from './plan.js';

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

  /** Rejects with ReloadRefused. Does not ask about a hot change that changes no inbound. */
  async ask(reason: string, plan: 'hot' | 'restart', next: Plan, record: CoreRecord): Promise<void> {
    const { put, remove } = difference(next, record);
    if (plan === 'hot' && put.length + remove.length === 0) return;
    const changes = { base: next.baseDigest !== record.base, put: put.map(({ tag }) => tag), remove };
    try {
      await this.#hooks.check(beforeCoreReload, { reason, plan, changes });
    } catch (error) {
      throw error instanceof PanelError ? new ReloadRefused(error) : error;
    }
  }

  /** Logs why the core keeps its config; a repeated error is logged once. */
  failed(error: unknown, isBehind: boolean): void {
    const reason = messageOf(error);
    if (!(error instanceof ReloadRefused)) {
      if (!isBehind)
        this.#log.error('the core did not accept its whole config; it keeps what it runs; retrying', {
          reason,
        });
      return;
    }
    if (this.#refusal !== reason)
      this.#log.warn('a plugin refused a change of the config; the core keeps the previous one', {
        reason,
      });
    this.#refusal = reason;
  }

  done(): void {
    this.#refusal = '';
  }
}
