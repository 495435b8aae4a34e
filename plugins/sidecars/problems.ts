// What is wrong with an instance: shown, logged once for each reason, and counted until the process is started again.
import { type Log, messageOf } from '../../kernel/index.js';
import { LONGEST_REASON } from './instance-state.js';

/** Failures in a row after which the process is started again; twice as many after each restart that did not help. */
const UNTIL_RESTART = 3;
const MOST_DOUBLINGS = 8;

export class Problems {
  readonly #log: Log;
  readonly #of: { readonly protocol: string; readonly sidecar: string };
  #failures = 0;
  /** restarts since all was well */
  #restarts = 0;
  #reported = '';
  /** empty for none */
  text = '';

  constructor(log: Log, of: { readonly protocol: string; readonly sidecar: string }) {
    this.#log = log;
    this.#of = of;
  }

  fail(what: string, error: unknown): void {
    this.#failures += 1;
    this.report((this.text = `${what}: ${messageOf(error)}`.slice(0, LONGEST_REASON)));
  }

  /** Once for each reason: a retry every few seconds would fill the log. */
  report(problem: string): void {
    if (problem !== '' && problem !== this.#reported)
      this.#log.warn('a sidecar has a problem', { ...this.#of, problem });
    this.#reported = problem;
  }

  /** It has failed since all was well. */
  get hasFailed(): boolean {
    return this.#failures + this.#restarts > 0;
  }
  get wantsRestart(): boolean {
    return this.#failures >= UNTIL_RESTART * 2 ** Math.min(this.#restarts, MOST_DOUBLINGS);
  }

  restarted(): void {
    this.#failures = 0;
    this.#restarts += 1;
  }
  solved(): void {
    this.#failures = 0;
    this.#restarts = 0;
    this.text = '';
  }
}
