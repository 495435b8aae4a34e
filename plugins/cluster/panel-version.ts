// The version of this panel, and which versions can share a database.
import { readFileSync } from 'node:fs';

const MANIFEST = new URL('../../../package.json', import.meta.url);

export const PANEL_VERSION: string = (
  JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }
).version;

/** A candidate of a release counts as that release. */
const numbersOf = (version: string): number[] =>
  (version.split(/[-+]/, 1)[0] ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);

/** Whether the release `a` is older than the release `b`. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let at = 0; at < 3; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
