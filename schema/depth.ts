// Measures how deep and how large a value is. Recursive code (joi, JSON.stringify) would overflow the stack on deep values.

/** Deeper than any known body or config. */
export const DEEPEST = 100;
export const TOO_DEEP = `nests deeper than ${DEEPEST} levels`;

/** Copies no level, which would take five times as long, and makes no texts of the indexes of arrays. */
export function nestsTooDeep(value: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => nestsTooDeep(item, depth + 1));
  for (const key in value) if (nestsTooDeep((value as Record<string, unknown>)[key], depth + 1)) return true;
  return false;
}

/** Whether a value holds more than this many values in all; each KiB of a text counts as one. Large values cost no more time, except objects with many keys. */
export function holdsMoreThan(value: unknown, most: number): boolean {
  const stack = [value];
  for (let count = 0; stack.length > 0; count++) {
    const next = stack.pop();
    if (typeof next === 'string') count += next.length >> 10;
    else if (typeof next === 'object' && next !== null) {
      if (Array.isArray(next) && next.length > most) return true;
      for (const key in next) {
        stack.push((next as Record<string, unknown>)[key]);
        if (stack.length > most) return true;
      }
    }
    if (count > most) return true;
  }
  return false;
}
