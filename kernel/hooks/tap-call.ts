// One tap as the registry calls it: within its limits, with its failures named, and only with what fits.
import { isPanelError, kernelErrors } from '../errors/errors.js';
import { afterKernelOpen, beforeKernelStop } from '../lifecycle.js';
import { within } from '../../timing/within.js';
import type { Limits } from '../plugin/limits.js';
import { frozenItems } from '../plugin/frozen.js';
import { fitting } from './fit.js';
import type { Tap } from './kinds.js';
import type { Stamped, Tapper } from './registry.js';

export interface GuardCall {
  readonly payload: unknown;
  /** false: the moment comes anyway, so every guard is asked and none ends it */
  readonly refusable: boolean;
}
export interface DraftCall {
  readonly entries: Stamped<unknown>[];
  readonly context: unknown;
}
export interface FilterCall {
  readonly context: unknown;
  /** what the owner says against a value, beyond its shape */
  readonly problem: ((value: never) => string | undefined) | undefined;
}

/** Moments of the whole panel, which take their time: nobody's request waits for them. */
const AT_LEISURE: readonly string[] = [afterKernelOpen.id, beforeKernelStop.id];
/** of one tap in one draft */
const MOST_ENTRIES = 100_000;

export class TapCall {
  readonly #tapper: Tapper;
  readonly #tap: Tap;
  readonly #fn: (...args: unknown[]) => unknown;
  readonly #where: string;
  readonly #limits: Limits;
  readonly #missed: (() => Promise<void>) | undefined;

  constructor(tapper: Tapper, tap: Tap, limits: Limits) {
    this.#tapper = tapper;
    this.#tap = tap;
    this.#fn = tap.fn as (...args: unknown[]) => unknown;
    this.#where = `${tap.hook.id} of ${tapper.name}`;
    this.#limits = limits;
    const { missed } = tap.options;
    this.#missed = missed && (() => within(this.#limit, `missed of ${this.#where}`, missed));
  }

  get #limit(): number {
    const { kind, id } = this.#tap.hook;
    // At a stop there is less time, for all of them together.
    return this.#limits[kind === 'event' ? 'event' : id === beforeKernelStop.id ? 'job' : 'tap'];
  }

  #call(...args: unknown[]): unknown {
    const done = this.#fn(...args);
    // Not only a Promise: whatever has a `then` is waited for.
    return typeof done === 'object' && done !== null && 'then' in done && !this.#tapper.essential
      ? within(this.#limit, this.#where, () => done)
      : done;
  }

  #tellIfSlow(since: number): void {
    const { kind, id } = this.#tap.hook;
    const isAwaited = kind !== 'event' && !AT_LEISURE.includes(id);
    const ms = performance.now() - since;
    if (isAwaited && ms > this.#limits.slow) this.#tapper.slow?.(this.#where, ms);
  }

  /** What fails is the plugin's fault, but for a refusal where one is asked for. */
  async #attempt(work: () => unknown, { refusable = false, strict = false } = {}): Promise<unknown> {
    const since = performance.now();
    try {
      return await work();
    } catch (error) {
      const refused = refusable && isPanelError(error) && error.status >= 400 && error.status < 500;
      if (!refused) this.#tapper.fault(this.#where, error);
      if (refused || strict) throw error;
      return undefined;
    } finally {
      this.#tellIfSlow(since);
    }
  }

  async guard({ payload, refusable }: GuardCall): Promise<void> {
    const strict = refusable && this.#tap.options.strict === true;
    if (!this.#tapper.faulty) await this.#attempt(() => this.#call(payload), { refusable, strict });
    // What only this guard can allow has to wait for it.
    else if (strict && this.#tapper.starting) throw kernelErrors.PLUGIN_OFF(this.#tapper.why);
  }

  async draft({ entries, context }: DraftCall): Promise<void> {
    if (!this.#tapper.faulty) await this.#attempt(() => this.#collect(entries, context), this.#tap.options);
  }

  async #collect(entries: Stamped<unknown>[], context: unknown): Promise<void> {
    const { shape } = this.#tap.hook;
    const { name: plugin, outside = false } = this.#tapper;
    const own: unknown[] = [];
    let count = 0;
    const add = (...added: unknown[]): void => {
      count += added.length;
      if (count <= MOST_ENTRIES) for (const entry of added) own.push(entry);
    };
    await this.#call(add, context);
    if (count > MOST_ENTRIES) throw new Error(`it added ${count} entries; at most ${MOST_ENTRIES} are taken`);
    const fit = own.map((entry, i) => fitting(shape, entry, `entry ${i + 1} of ${own.length}`));
    for (const entry of fit) entries.push({ plugin, entry, ...(outside && { outside }) });
  }

  async choose(question: unknown): Promise<unknown> {
    if (this.#tapper.faulty) return undefined;
    const ask = async (): Promise<unknown> => {
      const answer = (await this.#call(question)) ?? undefined;
      if (answer === undefined || this.#tapper.essential) return answer;
      return fitting(this.#tap.hook.shape, answer, 'its answer');
    };
    return this.#attempt(ask, { refusable: true });
  }

  /** A faulty plugin still hears what it keeps in memory, for what it added to others' lists goes on answering from it; but nobody waits for it. */
  async after(payload: unknown): Promise<void> {
    const { starting } = this.#tapper;
    // Nobody waits for a plugin that is still starting; it hears of everything afterwards, in order.
    if (starting) {
      starting.then(() => this.#tapper.faulty || this.#attempt(() => this.#call(payload)));
      return;
    }
    const heard = this.#attempt(() => this.#call(payload));
    if (!this.#tapper.faulty) await heard;
  }

  filter(value: unknown, { context, problem }: FilterCall): unknown {
    if (this.#tapper.faulty) return value;
    const since = performance.now();
    try {
      const next = this.#fn(value, context);
      // An essential plugin is the panel's own code, and hot paths need not pay for a check of it.
      if (next === value || this.#tapper.essential) return next;
      if (next instanceof Promise) {
        next.catch(() => undefined);
        throw new Error('a filter is synchronous, and this one answers with a promise');
      }
      const fit = fitting(this.#tap.hook.shape, next, 'its value');
      const found = problem?.(fit as never);
      if (found !== undefined) throw new Error(`its value does not fit: ${found}`);
      return frozenItems(fit);
    } catch (error) {
      this.#tapper.fault(this.#where, error);
      return value;
    } finally {
      this.#tellIfSlow(since);
    }
  }

  event(payload: unknown): void {
    if (this.#tapper.faulty && !this.#tapper.starting) return;
    const deliver = async (): Promise<void> => {
      await this.#tapper.starting;
      if (!this.#tapper.faulty) await this.#attempt(() => this.#call(payload));
    };
    this.#tapper.queue.push(deliver, this.#missed);
  }
}
