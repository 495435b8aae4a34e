// How a plugin declares a setting that admins change while the panel runs.
import { annotate, type Annotation } from './annotation.js';
import type { Schema, Static } from './shape.js';

export interface Setting<S extends Schema = Schema> {
  readonly schema: S;
  /** Value in a new panel. A function is called once and its result is stored. */
  readonly initial: Static<S> | (() => Static<S>);
  readonly about: string;
  /** never returned: replies have an empty text and a flag `hasName` beside it */
  readonly secret: boolean;
  /** a name under which callers may send it too */
  readonly alias?: string;
}
export const setting = <S extends Schema>(
  schema: S,
  initial: Static<S> | (() => Static<S>),
  about: string,
  { secret = false, alias, ...form }: Annotation & { readonly alias?: string } = {},
): Setting<S> => ({
  schema: annotate(schema, { ...form, ...(secret && { secret }) }),
  initial,
  about,
  secret,
  ...(alias !== undefined && { alias }),
});

/** Settings by their names. */
export type SettingGroup = Readonly<Record<string, Setting>>;
export type SettingValues<G> = { readonly [K in keyof G]: G[K] extends Setting<infer S> ? Static<S> : never };
