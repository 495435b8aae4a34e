// Calls one tap: applies its time limits, attributes its failures, and accepts only what fits.
import { TimeSlice } from '../../schema/time-slice.js';
import type { Tx } from '../database/tx.js';
import { isPanelError, storageFailure, kernelErrors } from '../errors/errors.js';
import { afterKernelLead, afterKernelOpen, beforeKernelStop } from '../lifecycle.js';
import { withTimeout } from '../../timing/with-timeout.js';
import type { Limits } from '../plugin/limits.js';
import { frozenItems } from '../../schema/frozen.js';
import type { Owner } from '../plugin/owner.js';
import { checkResult, checkResultInSlices } from '../../schema/checked-result.js';
import type { Tap } from './kinds.js';
import type { Stamped } from './registry.js';

/** A call of a prepare hook, for a list of items, or of a filter, for one. */
export interface CheckedCall {
  readonly context: unknown;
  /** the owner's rule for an item, beyond its shape */
  readonly problem: ((item: never, index: number) => string | undefined) | undefined;
}
/** Creates a `tx` of the running write that only reads, and writes tables of this plugin; `over` ends it. */
export type OpenTx = (owner: Owner) => {
  readonly tx: Tx;
  readonly over: () => void;
  /** for how many ms a statement of the write has had no answer */
  readonly waiting: () => number;
};

export interface GuardCall {
  readonly payload: unknown;
  /** false: the event happens anyway, so every guard is called and none can refuse */
  readonly refusable: boolean;
}
export interface DraftCall {
  readonly entries: Stamped<unknown>[];
  readonly context: unknown;
}

/** Hooks in the life of the whole panel, which may take longer: no request waits for them. */
const MAY_BE_SLOW: readonly string[] = [afterKernelLead, afterKernelOpen, beforeKernelStop].map(
  ({ id }) => id,
);
/** entries of one tap in one draft */
const MAX_ENTRIES = 100_000;
/** After this many failures in a row a tap no longer takes part in writes. */
const FAILURES_IN_A_ROW = 3;

const isRefusal = (error: unknown): boolean =>
  isPanelError(error) && error.status >= 400 && error.status < 500;

export class TapCall {
  readonly #owner: Owner;
  readonly #tap: Tap;
  readonly #fn: (...args: unknown[]) => unknown;
  readonly #where: string;
  readonly #limits: Limits;
  readonly #missed: (() => Promise<void>) | undefined;
  /** failures of a during tap, in a row */
  #failures = 0;

  constructor(owner: Owner, tap: Tap, limits: Limits) {
    this.#owner = owner;
    this.#tap = tap;
    this.#fn = tap.fn as (...args: unknown[]) => unknown;
    this.#where = `${tap.hook.id} of ${owner.name}`;
    this.#limits = limits;
    const { missed } = tap.options;
    this.#missed = missed && (() => withTimeout(this.#limit, `missed of ${this.#where}`, missed));
  }

  get #limit(): number {
    const { kind, id } = this.#tap.hook;
    // During a stop there is less time, for all of them together.
    if (id === beforeKernelStop.id) return this.#limits.stop;
    return this.#limits[kind === 'event' || kind === 'during' ? kind : 'tap'];
  }

  #call(...args: unknown[]): unknown {
    return this.#inTime(this.#fn(...args));
  }

  #inTime(done: unknown, waiting = () => 0): unknown {
    // Not only a Promise: anything with a `then` is awaited.
    return typeof done === 'object' && done !== null && 'then' in done && !this.#owner.essential
      ? withTimeout(this.#limit, this.#where, () => done, waiting)
      : done;
  }

  #reportIfSlow(since: number): void {
    const { kind, id } = this.#tap.hook;
    const isAwaited = kind !== 'event' && !MAY_BE_SLOW.includes(id);
    const ms = performance.now() - since;
    if (isAwaited && ms > this.#limits.slow) this.#owner.slow?.(this.#where, ms);
  }

  /** A failure is the plugin's fault, except a refusal where refusals are allowed. */
  async #attempt(work: () => unknown, { refusable = false, strict = false } = {}): Promise<unknown> {
    const since = performance.now();
    try {
      return await work();
    } catch (error) {
      const refused = refusable && isRefusal(error);
      if (!refused) this.#owner.fault(this.#where, error);
      if (refused || strict) throw error;
      return undefined;
    } finally {
      this.#reportIfSlow(since);
    }
  }

  /** Whether to skip the tap; only a strict tap must wait until its plugin has started. */
  #isOff(strict = this.#tap.options.strict): boolean {
    if (strict && this.#owner.state === 'starting') throw kernelErrors.PLUGIN_OFF(this.#owner.offReason);
    return this.#owner.isOff;
  }

  async guard({ payload, refusable }: GuardCall): Promise<void> {
    const strict = refusable && this.#tap.options.strict === true;
    if (!this.#isOff(strict)) await this.#attempt(() => this.#call(payload), { refusable, strict });
  }

  /** Undefined leaves the items as they were. */
  async prepare(items: readonly unknown[], asked: CheckedCall): Promise<readonly unknown[] | undefined> {
    if (this.#isOff()) return undefined;
    const { strict = false } = this.#tap.options;
    const prepared = await this.#attempt(() => this.#prepared(items, asked), { refusable: true, strict });
    return prepared as readonly unknown[] | undefined;
  }

  async #prepared(items: readonly unknown[], { context, problem }: CheckedCall): Promise<readonly unknown[]> {
    const next = (await this.#call(items, context)) ?? items;
    if (!Array.isArray(next) || next.length !== items.length)
      throw new Error(`it must return a list of ${items.length} items, one for each that it received`);
    const slice = new TimeSlice();
    const fit: unknown[] = [];
    for (const [i, item] of next.entries()) {
      if (slice.isOver) await slice.next();
      const what = `item ${i + 1} of ${items.length}`;
      const isOld = item === items[i];
      fit.push(isOld ? item : await checkResultInSlices(this.#tap.hook.shape, item, what));
      const found = isOld ? undefined : problem?.(fit[i] as never, i);
      if (found !== undefined) throw new Error(`${what} does not fit: ${found}`);
    }
    return frozenItems(fit);
  }

  /** Half a change would be worse than none, so a failure fails the write; but no plugin may fail all writes forever. */
  async during(payload: unknown, open: OpenTx): Promise<void> {
    if (this.#failures >= FAILURES_IN_A_ROW || this.#isOff()) return;
    const { tx, over, waiting } = open(this.#owner);
    const since = performance.now();
    try {
      // A database that does not answer is no fault of the plugin.
      await this.#inTime(this.#fn(payload, tx), waiting);
      this.#failures = 0;
    } catch (error) {
      if (isRefusal(error) || storageFailure(error)) throw error;
      this.#owner.fault(this.#where, error);
      if (!this.#owner.essential) this.#failures++;
      if (this.#failures >= FAILURES_IN_A_ROW)
        this.#owner.leaveOut?.(
          this.#where,
          `${this.#where} failed ${FAILURES_IN_A_ROW} times in a row inside writes, which now skip it until the panel is restarted; its faults are in the log`,
        );
      throw kernelErrors.PLUGIN_FAILED(
        `nothing was saved: the plugin ${this.#owner.name} failed at ${this.#tap.hook.id}; the log says why`,
        { cause: error },
      );
    } finally {
      over();
      this.#reportIfSlow(since);
    }
  }

  async draft({ entries, context }: DraftCall): Promise<void> {
    if (!this.#owner.isOff) await this.#attempt(() => this.#collect(entries, context), this.#tap.options);
  }

  async #collect(entries: Stamped<unknown>[], context: unknown): Promise<void> {
    const { shape } = this.#tap.hook;
    const { name: plugin, outside = false } = this.#owner;
    const own: unknown[] = [];
    let count = 0;
    const add = (...added: unknown[]): void => {
      count += added.length;
      if (count <= MAX_ENTRIES) for (const entry of added) own.push(entry);
    };
    await this.#call(add, context);
    if (count > MAX_ENTRIES) throw new Error(`it added ${count} entries; at most ${MAX_ENTRIES} are allowed`);
    const fit = own.map((entry, i) => checkResult(shape, entry, `entry ${i + 1} of ${own.length}`));
    for (const entry of fit) entries.push({ plugin, entry, ...(outside && { outside }) });
  }

  async choose(question: unknown): Promise<unknown> {
    if (this.#owner.isOff) return undefined;
    const ask = async (): Promise<unknown> => {
      const answer = (await this.#call(question)) ?? undefined;
      if (answer === undefined || this.#owner.essential) return answer;
      return checkResult(this.#tap.hook.shape, answer, 'its answer');
    };
    return this.#attempt(ask, { refusable: true });
  }

  /** A plugin that was switched off still receives changes for its memory, because its additions to others' lists still use it; but nobody waits for it. One that failed to start receives nothing. */
  async after(payload: unknown): Promise<void> {
    const { state, lateStart } = this.#owner;
    if (state === 'failed') return;
    const call = () => this.#attempt(() => this.#call(payload));
    if (lateStart) return void lateStart.changes.push(call);
    const done = call();
    if (!this.#owner.isOff) await done;
  }

  filter(value: unknown, { context, problem }: CheckedCall): unknown {
    if (this.#owner.isOff) return value;
    const since = performance.now();
    try {
      const next = this.#fn(value, context);
      // An essential plugin is part of the panel, so hot paths do not pay for a check of it.
      if (next === value || this.#owner.essential) return next;
      if (next instanceof Promise) {
        next.catch(() => undefined);
        throw new Error('a filter must be synchronous, but this one returned a promise');
      }
      const fit = checkResult(this.#tap.hook.shape, next, 'its value');
      const found = problem?.(fit as never, 0);
      if (found !== undefined) throw new Error(`its value does not fit: ${found}`);
      return frozenItems(fit);
    } catch (error) {
      this.#owner.fault(this.#where, error);
      return value;
    } finally {
      this.#reportIfSlow(since);
    }
  }

  event(payload: unknown): void {
    if (this.#owner.isOff && !this.#owner.lateStart) return;
    const deliver = async (): Promise<void> => {
      await this.#owner.lateStart?.ended;
      if (!this.#owner.isOff) await this.#attempt(() => this.#call(payload));
    };
    this.#owner.queue?.push(deliver, this.#missed);
  }
}
