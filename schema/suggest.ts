// Suggests the name that a mistyped one was meant to be.

/** Edit distance: how many letters have to be added, removed or changed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

const MOST = 3;

/** Similar names, the nearest first; empty when nothing is similar. */
export function suggest(typed: string, names: readonly string[]): string[] {
  const wanted = typed.toLowerCase();
  return names
    .map((name) => {
      const known = name.toLowerCase();
      const far = known.includes(wanted) && wanted.length > 2 ? 0.5 : distance(wanted, known);
      return { name, far };
    })
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(Math.max(name.length, wanted.length) * 0.4)))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** `; did you mean a, b?`, or nothing. */
export function didYouMean(typed: string, names: readonly string[], otherwise = ''): string {
  const found = suggest(typed, names);
  return found.length > 0 ? `; did you mean ${found.join(', ')}?` : otherwise;
}
