// Nesting without end: everything that walks a value by calling itself (joi, JSON.stringify) would run out of stack.

/** Deeper than any body or config we know of. */
export const DEEPEST = 100;
export const TOO_DEEP = `nests deeper than ${DEEPEST} levels`;

const inner = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

export function nestsTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= DEEPEST; depth++) {
    level = level.flatMap(inner);
    if (level.length === 0) return false;
  }
  return true;
}
