// Entries that differ between versions are written once for each; a document takes the form of its version.
import { type Minor, MINORS } from './version.js';

/** Between the forms of an entry; JSON has no line break. */
export const BETWEEN = '\n';

/** Entries that a version has no words for are left out. */
export function formsFor(
  minor: Minor,
  entries: readonly string[],
  names: readonly string[],
): { readonly entries: readonly string[]; readonly names: readonly string[] } {
  if (!entries.some((entry) => entry.includes(BETWEEN))) return { entries, names };
  const forms = entries.map((entry) =>
    entry.includes(BETWEEN) ? (entry.split(BETWEEN)[MINORS.indexOf(minor)] ?? '') : entry,
  );
  return {
    entries: forms.filter((form) => form !== ''),
    names: names.filter((_, i) => forms[i] !== ''),
  };
}
