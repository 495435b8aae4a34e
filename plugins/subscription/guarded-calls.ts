// Calls functions of other plugins for formats and renderers, and attributes their failures to those plugins.
import { kernelErrors, PanelError } from '../../kernel/index.js';
import type { WriteEntry } from './contract.js';

/** Most characters of one entry, or of all; no client program reads a longer list. */
const LONGEST = 16 * 1024 * 1024;
const LONGEST_REASON = 1000;

const sortOf = (answer: unknown): string => {
  if (typeof answer === 'string') return `${answer.length} characters`;
  return answer === null ? 'null' : typeof answer;
};
const isReason = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value !== '' && value.length <= LONGEST_REASON);
const isWriter = (value: unknown): boolean => typeof value === 'function';

export class GuardedCalls {
  /** as in `the format oven` */
  readonly #whose: string;
  readonly #fault: (where: string, error: unknown) => void;

  constructor(whose: string, fault: (where: string, error: unknown) => void) {
    this.#whose = whose;
    this.#fault = fault;
  }

  /** Client programs would delete entries that are missing from a list; after an error they keep what they have. */
  failed(): PanelError {
    return kernelErrors.PLUGIN_OFF(`${this.#whose} failed; the log says why`);
  }

  #refuse(what: string, answer: unknown): void {
    (answer as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
    this.#fault(
      `${what} of ${this.#whose}`,
      new Error(`it returned ${sortOf(answer)}, which is not a ${what}`),
    );
  }

  #caught(what: string, error: unknown): void {
    // A protocol of another plugin failed, and that was attributed to it already.
    if (!(error instanceof PanelError)) this.#fault(`${what} of ${this.#whose}`, error);
  }

  /** Returns the result if it is valid; undefined when the call failed. */
  ask<T>(
    what: string,
    fits: (answer: unknown) => boolean,
    work: () => T,
  ): { readonly answer: T } | undefined {
    try {
      const answer = work();
      if (fits(answer)) return { answer };
      this.#refuse(what, answer);
    } catch (error) {
      this.#caught(what, error);
    }
    return undefined;
  }

  /** Works as `ask`, but throws KERNEL_PLUGIN_OFF when the call failed. */
  must<T>(what: string, fits: (answer: unknown) => boolean, work: () => T): T {
    const asked = this.ask(what, fits, work);
    if (!asked) throw this.failed();
    return asked.answer;
  }

  reason(work: () => string | undefined): string | undefined {
    return this.must('reason', isReason, work);
  }

  /** Called for each link of each fetch, so without a closure, and without an object around a valid result. */
  text<G>(what: string, work: (given: G) => string, given: G): string {
    try {
      const text: unknown = work(given);
      if (typeof text === 'string' && text.length <= LONGEST) return text;
      this.#refuse(what, text);
    } catch (error) {
      this.#caught(what, error);
    }
    throw this.failed();
  }

  writer(compile: () => WriteEntry): WriteEntry {
    const write = this.must('template', isWriter, compile);
    return (fill) => this.text('entry', write, fill);
  }
}
