// All hooks of a running kernel, on tapable. One place guards every tap: who is to blame, what its failure means, whether
// its plugin still takes part. Plugins never hold a tapable object.
import { AsyncSeriesBailHook, AsyncSeriesHook, SyncHook, SyncWaterfallHook } from 'tapable';
import { frozenItems, handedOut } from '../plugin/frozen.js';
import type { Owner } from '../plugin/owner.js';
import { type Limits, LIMITS } from '../plugin/limits.js';
import type { After, Choose, Draft, Event, Filter, Guard, Kind, Present, Tap } from './kinds.js';
import type { EventQueue } from '../../timing/event-queue.js';
import { type DraftCall, type FilterCall, type GuardCall, TapCall } from './tap-call.js';

/** The owner of a tap, and how its plugin is called. */
export interface Tapper extends Owner {
  /** until it is settled, what has happened is kept for the plugin */
  readonly starting?: Promise<void> | undefined;
  /** is waited for as long as it takes */
  readonly essential?: boolean;
  readonly queue: EventQueue;
  /** It kept a caller waiting. */
  slow?(where: string, ms: number): void;
}
/** One entry of a draft, with the plugin that added it. */
export interface Stamped<E> {
  readonly plugin: string;
  readonly entry: E;
  /** only there when the plugin is not of this tree */
  readonly outside?: boolean;
}

const make = {
  guard: () => new AsyncSeriesHook<[GuardCall]>(['asked']),
  draft: () => new AsyncSeriesHook<[DraftCall]>(['draft']),
  filter: () => new SyncWaterfallHook<[unknown, FilterCall]>(['value', 'asked']),
  choose: () => new AsyncSeriesBailHook<[unknown], unknown>(['question']),
  after: () => new AsyncSeriesHook<[unknown]>(['payload']),
  event: () => new SyncHook<[unknown]>(['payload']),
} satisfies Record<Kind, () => unknown>;
type Made<K extends Kind> = ReturnType<(typeof make)[K]>;
type Known = Map<string, { readonly kind: Kind; readonly hook: Made<Kind> }>;

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
  /** What the taps make of a value, which is frozen for them. `problem` tells, of the value of each, what its shape cannot know; one with a problem is left out. */
  refine<V, C>(hook: Filter<V, C>, value: V, context: C, problem?: (value: V) => string | undefined): V {
    const filter = this.open('filter', hook);
    return filter.isUsed() ? (filter.call(frozenItems(value), { context, problem }) as V) : value;
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
  add(tapper: Tapper, tap: Tap): void {
    const { hook, options } = tap;
    this.taps.push({ plugin: tapper.name, hook, options });
    const at = { name: tapper.name, stage: options.stage ?? 0 };
    const call = new TapCall(tapper, tap, this.#limits);
    switch (hook.kind) {
      case 'guard':
        this.open('guard', hook).tapPromise(at, (asked) => call.guard(asked));
        break;
      case 'draft':
        this.open('draft', hook).tapPromise(at, (draft) => call.draft(draft));
        break;
      case 'choose':
        this.open('choose', hook).tapPromise(at, (question) => call.choose(question));
        break;
      case 'after':
        this.open('after', hook).tapPromise(at, (payload) => call.after(payload));
        break;
      case 'filter':
        this.open('filter', hook).tap(at, (value, asked) => call.filter(value, asked));
        break;
      case 'event':
        this.open('event', hook).tap(at, (payload) => call.event(payload));
        break;
    }
  }
}
