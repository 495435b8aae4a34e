// Declares hooks, registers taps and calls hooks, on tapable; `tap-call.ts` isolates failures. Plugins never hold a
// tapable object.
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook } from 'tapable';
import { SyncWaterfallHook } from 'tapable';
import { didYouMean } from '../../schema/suggest.js';
import { authenticate } from '../auth/principal.js';
import * as lifecycle from '../lifecycle.js';
import { PluginError } from '../plugin/error.js';
import { frozenItems, handedOut } from '../../schema/frozen.js';
import type { Owner } from '../plugin/owner.js';
import { type Limits, LIMITS } from '../plugin/limits.js';
import type { After, AnyHook, Choose, Draft, During, Event, Filter, Guard, Kind, Prepare } from './kinds.js';
import type { RegisteredTap, Tap } from './kinds.js';
import { type DraftCall, type GuardCall, type OpenTx, type CheckedCall, TapCall } from './tap-call.js';

/** One entry of a draft, with the plugin that added it. */
export interface Stamped<E> {
  readonly plugin: string;
  readonly entry: E;
  /** only set for a third-party plugin */
  readonly outside?: boolean;
}

const make = {
  prepare: () => new AsyncSeriesWaterfallHook<[readonly unknown[], CheckedCall]>(['items', 'asked']),
  guard: () => new AsyncSeriesHook<[GuardCall]>(['asked']),
  during: () => new AsyncSeriesHook<[unknown, OpenTx]>(['payload', 'open']),
  draft: () => new AsyncSeriesHook<[DraftCall]>(['draft']),
  filter: () => new SyncWaterfallHook<[unknown, CheckedCall]>(['value', 'asked']),
  choose: () => new AsyncSeriesBailHook<[unknown], unknown>(['question']),
  after: () => new AsyncSeriesHook<[unknown]>(['payload']),
  event: () => new SyncHook<[unknown]>(['payload']),
} satisfies Record<Kind, () => unknown>;
type Made<K extends Kind> = ReturnType<(typeof make)[K]>;
type Known = Map<string, { readonly kind: Kind; readonly hook: Made<Kind> }>;

const ownerOf = ({ id }: { readonly id: string }): string => id.slice(0, id.indexOf('/'));

/** Calls hooks. A plugin may call only its own; calling another's is its mistake, and the error says so. */
export class Hooks {
  protected readonly known: Known;
  readonly #owner: string | undefined;

  constructor(known: Known, owner?: string) {
    this.known = known;
    this.#owner = owner;
  }

  protected find<K extends Kind>(kind: K, hook: { readonly id: string }): Made<K> {
    const { id } = hook;
    if (this.#owner !== undefined && ownerOf(hook) !== this.#owner)
      throw new Error(
        `plugin ${this.#owner} calls the hook ${id}, which is not its own; plugins tap others' hooks`,
      );
    const known = this.known.get(id);
    if (!known)
      throw new Error(
        `the hook ${id} is called but not declared; add it to \`hooks\` of ${ownerOf(hook)}'s definePlugin`,
      );
    if (known.kind !== kind) throw new Error(`the hook ${id} is declared as ${known.kind} and as ${kind}`);
    return known.hook as Made<K>;
  }

  /** Throws where no plugin declares such a hook, and where this one may not call it. */
  require(hook: AnyHook): void {
    this.find(hook.kind, hook);
  }
  /** Passes items through the taps before they are checked. `problem` checks an item that a tap has changed, beyond its shape; if one fails, all items of that tap are ignored. */
  async prepare<V, C>(
    hook: Prepare<V, C>,
    items: readonly V[],
    context: C,
    problem?: (item: V, index: number) => string | undefined,
  ): Promise<readonly V[]> {
    const asked = { context: handedOut(context), problem };
    const taps = this.find('prepare', hook);
    return taps.isUsed() ? ((await taps.promise(frozenItems([...items]), asked)) as readonly V[]) : items;
  }
  /** Calls all guards; rejects with the first refusal. Call it before the transaction. */
  check<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.find('guard', hook).promise({ payload: handedOut(payload), refusable: true });
  }
  /** Calls all guards before an event that happens anyway: none can stop it, and one that refuses does not skip the others. */
  notify<P>(hook: Guard<P>, payload: P): Promise<void> {
    return this.find('guard', hook).promise({ payload: handedOut(payload), refusable: false });
  }
  /** Collects the entries of all taps, in order. */
  async compose<E, C>(hook: Draft<E, C>, context: C): Promise<readonly Stamped<E>[]> {
    const entries: Stamped<E>[] = [];
    await this.find('draft', hook).promise({ entries: entries as Stamped<unknown>[], context });
    return entries;
  }
  /** Passes a value through the taps; it is frozen for them. `problem` checks each returned value beyond its shape; a value with a problem is ignored. */
  refine<V, C>(hook: Filter<V, C>, value: V, context: C, problem?: (value: V) => string | undefined): V {
    const filter = this.find('filter', hook);
    return filter.isUsed() ? (filter.call(frozenItems(value), { context, problem }) as V) : value;
  }
  choose<Q, A>(hook: Choose<Q, A>, question: Q): Promise<A | undefined> {
    return this.find('choose', hook).promise(question) as Promise<A | undefined>;
  }
  /** For what happens outside a transaction; inside one use `tx.emit`. */
  emit<P>(hook: Event<P>, payload: P): void {
    this.find('event', hook).call(handedOut(payload));
  }
  /** Whether a plugin taps the hook. If none does, the caller need not build the payload. */
  isUsed({ id }: { readonly id: string }): boolean {
    return this.known.get(id)?.hook.isUsed() ?? false;
  }
}

export class HookRegistry extends Hooks {
  readonly #limits: Limits;
  readonly #owners = new Set<string>();
  /** in the order of registration; those of one hook are called by stage, then in this order */
  readonly taps: RegisteredTap[] = [];

  constructor(limits: Limits = LIMITS) {
    super(new Map());
    this.#limits = limits;
    this.declare('kernel', [authenticate, ...Object.values(lifecycle)]);
  }

  /** The registry from the view of a plugin. */
  of(owner: string): Hooks {
    return new Hooks(this.known, owner);
  }

  /** Declares the hooks that a plugin owns; only declared hooks can be called and tapped. */
  declare(owner: string, hooks: readonly AnyHook[]): void {
    this.#owners.add(owner);
    for (const { id, kind } of hooks) {
      if (ownerOf({ id }) !== owner)
        throw new PluginError(`plugin ${owner} declares the hook ${id}; its own are called ${owner}/…`);
      if (this.known.has(id)) throw new PluginError(`plugin ${owner} declares the hook ${id} twice`);
      this.known.set(id, { kind, hook: make[kind]() });
    }
  }

  during<P>(hook: During<P>, payload: P, open: OpenTx): Promise<void> {
    return this.find('during', hook).promise(handedOut(payload), open);
  }
  async after<P>(hook: After<P>, payload: P): Promise<void> {
    await this.find('after', hook).promise(handedOut(payload));
  }

  /** Registers a plugin's tap; the order is by stage, then by registration. A hook of a disabled plugin is skipped. */
  add(owner: Owner, tap: Tap): void {
    const { hook, options } = tap;
    if (typeof (hook as AnyHook | undefined)?.id !== 'string')
      throw new PluginError(
        `plugin ${owner.name} taps something that is not a hook; import hooks from their owner's contract`,
      );
    this.taps.push({ plugin: owner.name, hook, options });
    const known = this.known.get(hook.id);
    if (!known && !this.#owners.has(ownerOf(hook))) return;
    if (known?.kind !== hook.kind)
      throw new PluginError(
        `plugin ${owner.name} taps the ${hook.kind} ${hook.id}, which ${ownerOf(hook)} does not declare${didYouMean(hook.id, [...this.known.keys()])}`,
      );
    const at = { name: owner.name, stage: options.stage ?? 0 };
    const call = new TapCall(owner, tap, this.#limits);
    const run = (call[hook.kind] as (...args: unknown[]) => unknown).bind(call);
    // tapable rejects a promise from a synchronous tap, and anything else from the others.
    const made = known.hook as unknown as Record<'tap' | 'tapPromise', (at: object, run: unknown) => void>;
    made[hook.kind === 'filter' || hook.kind === 'event' ? 'tap' : 'tapPromise'](at, run);
  }
}
