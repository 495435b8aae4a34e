// Walks through every key and value of a part of the core's config, as the core does.

/** One value with its key. `keys` are folded, from the outermost object inwards; places in lists are left out. */
export interface Place {
  readonly key: string;
  readonly keys: readonly string[];
  /** dotted, as it is written */
  readonly path: string;
  readonly value: unknown;
  /** the object that holds it, with folded keys; the last of two that fold to one, as in Go */
  readonly siblings: ReadonlyMap<string, unknown>;
  /** as it is written where another key of the same object folds to the same */
  readonly twin: string | undefined;
}

/** Go's encoding/json matches keys in any case, and takes U+017F for s and U+212A for k. */
export const fold = (key: string): string => key.toUpperCase().toLowerCase();

/** Objects whose keys are free names. */
const MAPS = new Set(['headers', 'hosts', 'portmap']);

export function* walk(value: unknown, path = '', keys: readonly string[] = []): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`);
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* walk(item, at(i), keys);
    return;
  }
  const inMap = MAPS.has(keys.at(-1) ?? '');
  const siblings = new Map(Object.entries(value).map(([key, inner]) => [fold(key), inner]));
  const seen = new Set<string>();
  for (const [written, inner] of Object.entries(value)) {
    const key = fold(written);
    const inside = [...keys, key];
    if (!inMap)
      yield {
        key,
        keys: inside,
        path: at(written),
        value: inner,
        siblings,
        twin: seen.has(key) ? written : undefined,
      };
    seen.add(key);
    yield* walk(inner, at(written), inside);
  }
}
