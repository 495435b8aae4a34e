// Typed links between plugins. Importing a token declares the dependency, without strings or declaration merging.
import type { Plugin } from '../plugin/define.js';

declare const carries: unique symbol;

/** Names an API that exactly one plugin provides. */
export interface Token<T> {
  readonly kind: 'token';
  readonly owner: string;
  readonly name: string;
  /** number of the contract; a plugin built for another number is not started */
  readonly api: number;
  readonly [carries]?: T;
}
/** A token whose owner may be missing; the user then gets `undefined`. */
export interface Maybe<T> {
  readonly kind: 'maybe';
  readonly token: Token<T>;
}
type Problem<T> = (
  value: T,
  plugin: Pick<Plugin, 'name' | 'outside' | 'tables' | 'hooks'>,
  others: readonly Contributed<T>[],
) => string | undefined;
/** A list that one plugin owns and others add to. */
export interface ExtensionPoint<T> {
  readonly kind: 'point';
  readonly owner: string;
  readonly name: string;
  /** Returns what is wrong with an entry, if anything; its plugin is then left out. `others` are the entries so far, built-in ones first. */
  readonly problem?: Problem<never> | undefined;
  readonly [carries]?: T;
}
export const token = <T>(owner: string, name: string, api = 1): Token<T> =>
  Object.freeze({ kind: 'token', owner, name, api });
export const maybe = <T>(wanted: Token<T>): Maybe<T> => ({ kind: 'maybe', token: wanted });
export const extensionPoint = <T>(owner: string, name: string, problem?: Problem<T>): ExtensionPoint<T> =>
  Object.freeze({ kind: 'point', owner, name, problem });

export type Uses = Readonly<Record<string, Token<unknown> | Maybe<unknown>>>;
/** The APIs that a plugin receives for its `uses`. */
export type Used<U> = {
  readonly [K in keyof U]: U[K] extends Token<infer T>
    ? T
    : U[K] extends Maybe<infer T>
      ? T | undefined
      : never;
};

/** One token with its implementation. */
export interface Provision {
  readonly token: Token<unknown>;
  readonly value: object;
}
export const provide = <T extends object>(to: Token<T>, value: T): Provision => ({ token: to, value });

/** One entry for a list of another plugin. */
export interface Contribution {
  readonly point: ExtensionPoint<unknown>;
  readonly value: unknown;
}
export const contribute = <T>(point: ExtensionPoint<T>, value: T): Contribution => ({ point, value });
/** An entry from the view of the list's owner. */
export interface Contributed<T> {
  readonly plugin: string;
  readonly value: T;
  /** Attributes a failure of the entry to the plugin that added it; it would otherwise count against the owner. */
  readonly fault: (where: string, error: unknown) => void;
}
