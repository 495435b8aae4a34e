// How a plugin declares a setting that admins change while the panel runs.
import type { Schema, Static } from './shape.js';

export interface Setting<S extends Schema = Schema> {
  readonly schema: S;
  /** Value in a new panel. A function is called once and its result is stored. */
  readonly initial: Static<S> | (() => Static<S>);
  readonly about: string;
  /** never returned: replies have an empty text and a flag `hasName` beside it */
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
