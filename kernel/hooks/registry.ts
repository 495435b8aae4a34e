// All hooks of a running kernel, on tapable. One interceptor guards every tap: who is to blame, what its failure means,
// whether its plugin still takes part. Plugins never hold a tapable object.
import { AsyncSeriesBailHook, AsyncSeriesHook, SyncHook, SyncWaterfallHook } from 'tapable';
import { PanelError } from '../errors/errors.js';
import type { After, Choose, Draft, Event, Filter, Guard, Tap } from './kinds.js';
import { type Limits, LIMITS, within } from '../plugin/within.js';
import type { EventQueue } from './queue.js';

/** What the registry needs to know of a tapping plugin. */
export interface Tapper {
  readonly name: string;
  readonly faulty: boolean;
  /** is waited for as long as it takes */
  readonly essential?: boolean;
  readonly queue: EventQueue;
  fault(where: string, error: unknown): void;
}
/** One entry of a draft, with the plugin that added it. */
export interface Stamped<E> {
  readonly plugin: string;
  readonly entry: E;
}

type Fn = (...args: never[]) => unknown;
type Call = (...args: unknown[]) => unknown;
type TapableHook = {
  tap(options: { name: string; stage: number }, fn: Call): void;
  tapPromise?: (options: { name: string; stage: number }, fn: (...args: unknown[]) => Promise<unknown>) => void;
  isUsed(): boolean;
};
interface GuardCall {
  readonly payload: unknown;
  /** false: the moment comes anyway, so every guard is asked and none ends it */
  readonly refusable: boolean;
}
interface DraftCall {
  readonly entries: Stamped<unknown>[];
  readonly context: unknown;
}

const isRefusal = (error: unknown): boolean => error instanceof PanelError && error.status < 500;

export class HookRegistry {
  readonly #limits: Limits;
  readonly #hooks = new Map<string, { kind: Tap['hook']['kind']; hook: TapableHook }>();

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits;
  }

  #open(kind: Tap['hook']['kind'], id: string): TapableHook {
    const known = this.#hooks.get(id);
    if (known && known.kind !== kind) throw new Error(`the hook ${id} is declared as ${known.kind} and as ${kind}`);
    if (known) return known.hook;
    const make = {
      guard: () => new AsyncSeriesHook<[unknown]>(['payload'], id),
      draft: () => new AsyncSeriesHook<[unknown]>(['draft'], id),
      filter: () => new SyncWaterfallHook<[unknown, unknown]>(['value', 'context'], id),
      choose: () => new AsyncSeriesBailHook<[unknown], unknown>(['question'], id),
      after: () => new AsyncSeriesHook<[unknown]>(['payload'], id),
      event: () => new SyncHook<[unknown]>(['payload'], id),
    }[kind];
    const hook = make() as unknown as TapableHook;
    this.#hooks.set(id, { kind, hook });
    return hook;
  }

  /** Registers a plugin's tap; the returned order is fixed by stage, then by registration. */
  add(tapper: Tapper, { hook: { kind, id }, fn, options }: Tap): void {
    const hook = this.#open(kind, id);
    const where = `${id} of ${tapper.name}`;
    const at = { name: tapper.name, stage: options.stage ?? 0 };
    const plain = fn as Fn as Call;
    const limit = this.#limits[kind === 'event' ? 'event' : 'tap'];
    const call: Call = tapper.essential || kind === 'filter' ? plain : (...args) => {
      const done = plain(...args);
      return done instanceof Promise ? within(limit, where, () => done) : done;
    };
    const asynchronous = (guarded: (...args: unknown[]) => Promise<unknown>) => hook.tapPromise?.(at, async (...args) => (tapper.faulty ? undefined : guarded(...args)));

    switch (kind) {
      case 'guard':
        asynchronous(async (asked) => {
          const { payload, refusable } = asked as GuardCall;
          try {
            await call(payload);
          } catch (error) {
            if (refusable && isRefusal(error)) throw error;
            tapper.fault(where, error);
            if (refusable && options.strict) throw error;
          }
        });
        break;
      case 'draft':
        asynchronous(async (draft) => {
          const { entries, context } = draft as DraftCall;
          const own: Stamped<unknown>[] = [];
          try {
            await call((...added: unknown[]) => own.push(...added.map((entry) => ({ plugin: tapper.name, entry }))), context);
            entries.push(...own);
          } catch (error) {
            tapper.fault(where, error);
            if (options.strict) throw error;
          }
        });
        break;
      case 'choose':
        asynchronous(async (question) => {
          try {
            return (await call(question)) ?? undefined;
          } catch (error) {
            if (isRefusal(error)) throw error;
            tapper.fault(where, error);
            return undefined;
          }
        });
        break;
      case 'after':
        // A faulty plugin still hears what it keeps in memory, for what it added to others' lists goes on answering from it; but nobody waits for it.
        hook.tapPromise?.(at, async (payload) => {
          const heard = (async () => call(payload))().catch((error: unknown) => tapper.fault(where, error));
          if (!tapper.faulty) await heard;
        });
        break;
      case 'filter':
        hook.tap(at, (value, context) => {
          if (tapper.faulty) return value;
          try {
            const next = call(value, context);
            if (!(next instanceof Promise)) return next;
            next.catch(() => undefined);
            throw new Error('a filter is synchronous, and this one answers with a promise');
          } catch (error) {
            tapper.fault(where, error);
            return value;
          }
        });
        break;
      case 'event':
        hook.tap(at, (payload) => {
          if (tapper.faulty) return;
          tapper.queue.push(async () => {
            try {
              await call(payload);
            } catch (error) {
              tapper.fault(where, error);
            }
          }, options.missed);
        });
        break;
    }
  }

  async check<P>({ id }: Guard<P>, payload: P, refusable = true): Promise<void> {
    await (this.#open('guard', id) as unknown as AsyncSeriesHook<[GuardCall]>).promise({ payload, refusable });
  }

  async compose<E, C>({ id }: Draft<E, C>, context: C): Promise<readonly Stamped<E>[]> {
    const entries: Stamped<E>[] = [];
    await (this.#open('draft', id) as unknown as AsyncSeriesHook<[unknown]>).promise({ entries, context });
    return entries;
  }

  refine<V, C>({ id }: Filter<V, C>, value: V, context: C): V {
    const hook = this.#open('filter', id) as unknown as SyncWaterfallHook<[unknown, unknown]>;
    return hook.isUsed() ? (hook.call(value, context) as V) : value;
  }

  async choose<Q, A>({ id }: Choose<Q, A>, question: Q): Promise<A | undefined> {
    return (this.#open('choose', id) as unknown as AsyncSeriesBailHook<[Q], A>).promise(question);
  }

  async after<P>({ id }: After<P>, payload: P): Promise<void> {
    await (this.#open('after', id) as unknown as AsyncSeriesHook<[P]>).promise(payload);
  }

  emit<P>({ id }: Event<P>, payload: P): void {
    (this.#open('event', id) as unknown as SyncHook<[P]>).call(payload);
  }

  /** Nobody listens: the caller can save itself the payload. */
  isUsed({ id }: { readonly id: string }): boolean {
    return this.#hooks.get(id)?.hook.isUsed() ?? false;
  }
}

/** A plugin's own hooks; calling another's is a mistake in the plugin and says so. */
export class Hooks {
  readonly #registry: HookRegistry;
  readonly #owner: string;

  constructor(registry: HookRegistry, owner: string) {
    this.#registry = registry;
    this.#owner = owner;
  }
  #own<H extends { readonly id: string }>(hook: H): H {
    if (!hook.id.startsWith(`${this.#owner}/`)) throw new Error(`plugin ${this.#owner} calls the hook ${hook.id}, which is not its own; plugins tap others' hooks`);
    return hook;
  }
  /** Asks all guards; rejects with the first refusal. Call it before the transaction. */
  check<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.#registry.check(this.#own(hook), payload);
  }
  /** Tells all guards of what comes whatever they say: none can end it, and one that tries keeps the others from nothing. */
  announce<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.#registry.check(this.#own(hook), payload, false);
  }
  /** Collects the entries of all taps, in order. */
  compose<E, C>(hook: Draft<E, C>, context: C): Promise<readonly Stamped<E>[]> {
    return this.#registry.compose(this.#own(hook), context);
  }
  refine<V, C>(hook: Filter<V, C>, value: V, context: C): V {
    return this.#registry.refine(this.#own(hook), value, context);
  }
  choose<Q, A>(hook: Choose<Q, A>, question: Q): Promise<A | undefined> {
    return this.#registry.choose(this.#own(hook), question);
  }
  /** For what happens outside a transaction; inside one use `tx.emit`. */
  emit<P>(hook: Event<P>, payload: P): void {
    this.#registry.emit(this.#own(hook), payload);
  }
  isUsed(hook: { readonly id: string }): boolean {
    return this.#registry.isUsed(hook);
  }
}
