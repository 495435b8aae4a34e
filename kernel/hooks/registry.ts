// All hooks of a running kernel, on tapable. One place guards every tap: who is to blame, what its failure means, whether
// its plugin still takes part. Plugins never hold a tapable object.
import { AsyncSeriesBailHook, AsyncSeriesHook, SyncHook, SyncWaterfallHook } from 'tapable';
import { PanelError } from '../errors/errors.js';
import { afterKernelOpen, beforeKernelStop } from '../lifecycle.js';
import { handedOut } from '../plugin/frozen.js';
import { type Limits, LIMITS, within } from '../plugin/within.js';
import type { After, Choose, Draft, Event, Filter, Guard, Kind, Present, Tap } from './kinds.js';
import type { EventQueue } from './queue.js';

/** What the registry needs to know of a tapping plugin. */
export interface Tapper {
  readonly name: string;
  /** is not called */
  readonly faulty: boolean;
  /** until it is settled, what has happened is kept for the plugin */
  readonly starting?: Promise<void> | undefined;
  /** is waited for as long as it takes */
  readonly essential?: boolean;
  readonly queue: EventQueue;
  fault(where: string, error: unknown): void;
  /** It kept a caller waiting. */
  slow?(where: string, ms: number): void;
}
/** One entry of a draft, with the plugin that added it. */
export interface Stamped<E> {
  readonly plugin: string;
  readonly entry: E;
}

interface GuardCall {
  readonly payload: unknown;
  /** false: the moment comes anyway, so every guard is asked and none ends it */
  readonly refusable: boolean;
}
interface DraftCall {
  readonly entries: Stamped<unknown>[];
  readonly context: unknown;
}
const make = {
  guard: () => new AsyncSeriesHook<[GuardCall]>(['asked']),
  draft: () => new AsyncSeriesHook<[DraftCall]>(['draft']),
  filter: () => new SyncWaterfallHook<[unknown, unknown]>(['value', 'context']),
  choose: () => new AsyncSeriesBailHook<[unknown], unknown>(['question']),
  after: () => new AsyncSeriesHook<[unknown]>(['payload']),
  event: () => new SyncHook<[unknown]>(['payload']),
} satisfies Record<Kind, () => unknown>;
type Made<K extends Kind> = ReturnType<(typeof make)[K]>;
type Known = Map<string, { readonly kind: Kind; readonly hook: Made<Kind> }>;

/** Moments of the whole panel, which take their time: nobody's request waits for them. */
const AT_LEISURE: readonly string[] = [afterKernelOpen.id, beforeKernelStop.id];

/** Calls hooks; of a plugin only its own: calling another's is a mistake in the plugin and says so. */
export class Hooks {
  protected readonly known: Known;
  readonly #owner: string | undefined;

  constructor(known: Known, owner?: string) {
    this.known = known;
    this.#owner = owner;
  }

  protected open<K extends Kind>(kind: K, { id }: { readonly id: string }): Made<K> {
    if (this.#owner !== undefined && !id.startsWith(`${this.#owner}/`))
      throw new Error(
        `plugin ${this.#owner} calls the hook ${id}, which is not its own; plugins tap others' hooks`,
      );
    const known = this.known.get(id) ?? { kind, hook: make[kind]() };
    if (known.kind !== kind) throw new Error(`the hook ${id} is declared as ${known.kind} and as ${kind}`);
    this.known.set(id, known);
    return known.hook as Made<K>;
  }

  /** Asks all guards; rejects with the first refusal. Call it before the transaction. */
  check<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.open('guard', hook).promise({ payload: handedOut(payload), refusable: true });
  }
  /** Tells all guards of what comes whatever they say: none can end it, and one that tries keeps the others from nothing. */
  announce<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.open('guard', hook).promise({ payload: handedOut(payload), refusable: false });
  }
  /** Collects the entries of all taps, in order. */
  compose<E, C>(hook: Draft<E, C>, context: C): Promise<readonly Stamped<E>[]> {
    const entries: Stamped<E>[] = [];
    return this.open('draft', hook)
      .promise({ entries: entries as Stamped<unknown>[], context })
      .then(() => entries);
  }
  refine<V, C>(hook: Filter<V, C>, value: V, context: C): V {
    const filter = this.open('filter', hook);
    return filter.isUsed() ? (filter.call(value, context) as V) : value;
  }
  choose<Q, A>(hook: Choose<Q, A>, question: Q): Promise<A | undefined> {
    return this.open('choose', hook).promise(question) as Promise<A | undefined>;
  }
  /** For what happens outside a transaction; inside one use `tx.emit`. */
  emit<P>(hook: Event<P>, payload: P): void {
    this.open('event', hook).call(handedOut(payload));
  }
  /** Nobody listens: the caller can save itself the payload. */
  isUsed({ id }: { readonly id: string }): boolean {
    return this.known.get(id)?.hook.isUsed() ?? false;
  }
}

export class HookRegistry extends Hooks {
  readonly #limits: Limits;
  /** as they were added; those of one hook are called by stage, then in this order */
  readonly taps: Present[] = [];

  constructor(limits: Limits = LIMITS) {
    super(new Map());
    this.#limits = limits;
  }

  /** As a plugin sees it. */
  of(owner: string): Hooks {
    return new Hooks(this.known, owner);
  }

  async after<P>(hook: After<P>, payload: P): Promise<void> {
    await this.open('after', hook).promise(handedOut(payload));
  }

  /** Registers a plugin's tap; the order is fixed by stage, then by registration. */
  add(tapper: Tapper, { hook, fn, options }: Tap): void {
    this.taps.push({ plugin: tapper.name, hook, options });
    const where = `${hook.id} of ${tapper.name}`;
    const at = { name: tapper.name, stage: options.stage ?? 0 };
    const plain = fn as (...args: unknown[]) => unknown;
    // At a stop there is less time, for all of them together.
    const limit =
      this.#limits[hook.kind === 'event' ? 'event' : hook.id === beforeKernelStop.id ? 'job' : 'tap'];
    const call = (...args: unknown[]): unknown => {
      const done = plain(...args);
      return done instanceof Promise && !tapper.essential ? within(limit, where, () => done) : done;
    };
    const isAwaited = hook.kind !== 'event' && !AT_LEISURE.includes(hook.id);
    const tellIfSlow = (since: number): void => {
      const ms = performance.now() - since;
      if (isAwaited && ms > this.#limits.slow) tapper.slow?.(where, ms);
    };
    /** What fails is the plugin's fault, but for a refusal where one is asked for. */
    const attempt = async (
      work: () => unknown,
      { refusable = false, strict = false } = {},
    ): Promise<unknown> => {
      const since = performance.now();
      try {
        return await work();
      } catch (error) {
        const refused = refusable && error instanceof PanelError && error.status < 500;
        if (!refused) tapper.fault(where, error);
        if (refused || strict) throw error;
        return undefined;
      } finally {
        tellIfSlow(since);
      }
    };

    switch (hook.kind) {
      case 'guard':
        this.open('guard', hook).tapPromise(at, async ({ payload, refusable }) => {
          if (!tapper.faulty)
            await attempt(() => call(payload), { refusable, strict: refusable && options.strict === true });
        });
        break;
      case 'draft':
        this.open('draft', hook).tapPromise(at, async ({ entries, context }) => {
          if (tapper.faulty) return;
          const own: Stamped<unknown>[] = [];
          const add = (...added: unknown[]): void =>
            void own.push(...added.map((entry) => ({ plugin: tapper.name, entry })));
          const whole = async (): Promise<void> => {
            await call(add, context);
            entries.push(...own);
          };
          await attempt(whole, options);
        });
        break;
      case 'choose':
        this.open('choose', hook).tapPromise(at, async (question) =>
          tapper.faulty
            ? undefined
            : ((await attempt(() => call(question), { refusable: true })) ?? undefined),
        );
        break;
      case 'after':
        // A faulty plugin still hears what it keeps in memory, for what it added to others' lists goes on answering from it; but nobody waits for it.
        this.open('after', hook).tapPromise(at, async (payload) => {
          // Nobody waits for a plugin that is still starting; it hears of everything afterwards, in order.
          if (tapper.starting)
            return void tapper.starting.then(() => tapper.faulty || attempt(() => call(payload)));
          const heard = attempt(() => call(payload));
          if (!tapper.faulty) await heard;
        });
        break;
      case 'filter':
        this.open('filter', hook).tap(at, (value, context) => {
          if (tapper.faulty) return value;
          const since = performance.now();
          try {
            const next = plain(value, context);
            if (!(next instanceof Promise)) return next;
            next.catch(() => undefined);
            throw new Error('a filter is synchronous, and this one answers with a promise');
          } catch (error) {
            tapper.fault(where, error);
            return value;
          } finally {
            tellIfSlow(since);
          }
        });
        break;
      case 'event':
        this.open('event', hook).tap(at, (payload) => {
          if (tapper.faulty && !tapper.starting) return;
          const deliver = async (): Promise<void> => {
            await tapper.starting;
            if (!tapper.faulty) await attempt(() => call(payload));
          };
          tapper.queue.push(deliver, options.missed);
        });
        break;
    }
  }
}
