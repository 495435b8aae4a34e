// How a plugin declares a setting that admins change in the running panel.
import type { Schema, Static } from './shape.js';

export interface Setting<S extends Schema = Schema> {
  readonly schema: S;
  /** Value of a fresh panel. A function is asked once and its answer is kept. */
  readonly initial: Static<S> | (() => Static<S>);
  readonly about: string;
  /** never returned: blank in replies, with a flag `hasName` beside it */
  readonly secret: boolean;
}
export const setting = <S extends Schema>(
  schema: S,
  initial: Static<S> | (() => Static<S>),
  about: string,
  options: { secret?: boolean } = {},
): Setting<S> => ({ schema, initial, about, secret: options.secret ?? false });

/** Settings by their names. */
export type SettingGroup = Readonly<Record<string, Setting>>;
export type SettingValues<G> = { readonly [K in keyof G]: G[K] extends Setting<infer S> ? Static<S> : never };
