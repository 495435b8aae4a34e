// The eight kinds of hook and what each guarantees. The plugin that calls a hook owns it and declares it in its contract.

import type { Schema } from '../../schema/shape.js';
import type { Tx } from '../database/tx.js';

declare const carries: unique symbol;

interface Hook<K extends string, C> {
  readonly kind: K;
  readonly id: string;
  /** of the results of taps: the items of a prepare hook, the entries of a draft, the value of a filter or a choice */
  readonly shape?: Schema | undefined;
  readonly [carries]?: C;
}
/** After the schema of the route and before the rules of the owner. Awaited taps return it with defaults filled in or values normalised, one item for each that they receive; schema and rules are then checked for the result. The items of a failing tap, or items that do not fit the shape, are ignored. A Refusal ends the operation. */
export type Prepare<V, C> = Hook<'prepare', [V, C]>;
/** Before a write. Awaited, in order. A tap that throws a Refusal (or any 4xx PanelError) ends the operation; nothing is written. A tap that fails otherwise or takes too long is skipped and the write goes on, unless the tap is `strict`. */
export type Guard<P> = Hook<'guard', P>;
/** Inside the transaction of a write, after its owner's statements. Awaited taps get a `tx` that writes only tables of their own plugin. A tap that throws or takes too long rolls back the write. After three such failures in a row the tap is skipped until the next start. */
export type During<P> = Hook<'during', P>;
/** While something is composed. Awaited taps add entries, marked with their plugin. If a tap fails, all its entries are removed; an entry that does not fit the shape counts as a failure. */
export type Draft<E, C> = Hook<'draft', [E, C]>;
/** While something is composed. Each tap returns a new value; the result of a failing tap, or one that does not fit the shape, is ignored. Synchronous, because it lies on hot paths. Taps receive frozen values. Results of essential plugins are not checked. */
export type Filter<V, C> = Hook<'filter', [V, C]>;
/** One answer is needed: the first tap that returns one decides. An answer that does not fit the shape is skipped; answers of essential plugins are not checked. A tap that throws a 4xx PanelError rejects the call; any other failure is skipped. */
export type Choose<Q, A> = Hook<'choose', [Q, A]>;
/** After a commit, before the write resolves. Awaited, never dropped; cannot refuse. In the order of commits, except when the taps of an earlier write do not finish within ten seconds. For state in memory. */
export type After<P> = Hook<'after', P>;
/** After a commit, through a bounded queue per tapping plugin. Cannot delay or harm other plugins; payloads are batches. */
export type Event<P> = Hook<'event', P>;

export type Kind = 'prepare' | 'guard' | 'during' | 'draft' | 'filter' | 'choose' | 'after' | 'event';
/** A hook of any kind, as listed in `hooks` of definePlugin. */
export type AnyHook = Hook<Kind, unknown>;

/** Ids are `<plugin>/<name>`; only that plugin may call the hook. Shapes work as for bodies: unknown keys are dropped. */
export const prepare = <V, C>(id: `${string}/prepare${string}`, shape: Schema<V>): Prepare<V, C> => ({
  kind: 'prepare',
  id,
  shape,
});
export const guard = <P>(id: `${string}/before${string}`): Guard<P> => ({ kind: 'guard', id });
export const during = <P>(id: `${string}/during${string}`): During<P> => ({ kind: 'during', id });
export const draft = <E, C>(id: `${string}/compose${string}`, shape: Schema<E>): Draft<E, C> => ({
  kind: 'draft',
  id,
  shape,
});
export const filter = <V, C>(id: string, shape: Schema<V>): Filter<V, C> => ({ kind: 'filter', id, shape });
export const choose = <Q, A>(id: string, shape: Schema<A>): Choose<Q, A> => ({ kind: 'choose', id, shape });
export const after = <P>(id: `${string}/after${string}`): After<P> => ({ kind: 'after', id });
export const event = <P>(id: string): Event<P> => ({ kind: 'event', id });

/** Adds entries to a draft. */
export type Add<E> = (...entries: E[]) => void;

export type TapFunction<H> =
  H extends Draft<infer E, infer C>
    ? (add: Add<E>, context: C) => void | Promise<void>
    : H extends Prepare<infer V, infer C>
      ? (items: readonly V[], context: C) => readonly V[] | undefined | Promise<readonly V[] | undefined>
      : H extends Filter<infer V, infer C>
        ? (value: V, context: C) => V
        : H extends Choose<infer Q, infer A>
          ? (question: Q) => A | undefined | Promise<A | undefined>
          : H extends During<infer P>
            ? (payload: P, tx: Tx) => void | Promise<void>
            : H extends Guard<infer P> | After<infer P> | Event<infer P>
              ? (payload: P) => void | Promise<void>
              : never;

/** Order within a hook. */
export const stage = { FIRST: -100, EARLY: -50, NORMAL: 0, LATE: 50, LAST: 100 } as const;

export interface TapOptions {
  readonly stage?: number;
  /** a failure of this tap fails the whole operation instead of being ignored (prepare, guard, draft); while its plugin is still starting, a prepare, guard or during hook refuses with 503 */
  readonly strict?: boolean;
  /** events only: called when the plugin's queue overflowed and events were lost; reload the state that depends on them */
  readonly missed?: () => void | Promise<void>;
}

/** Which plugin taps which hook, and how. */
export interface RegisteredTap extends Pick<Tap, 'hook' | 'options'> {
  readonly plugin: string;
}
/** A plugin's tap on a hook. */
export interface Tap {
  readonly hook: AnyHook;
  readonly fn: (...args: never[]) => unknown;
  readonly options: TapOptions;
}
export const tap = <H extends AnyHook>(hook: H, fn: TapFunction<H>, options: TapOptions = {}): Tap => ({
  hook,
  fn,
  options,
});
