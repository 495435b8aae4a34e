// What the palette finds for some words.

export const KINDS = ['page', 'action', 'client', 'inbound', 'node', 'setting'] as const;
export interface Entry {
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
  readonly text: string;
}

const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Entries that have all of the words, in their order; those that begin with the first word come first. */
export function matching<E extends Entry>(entries: readonly E[], typed: string): E[] {
  const words = plain(typed).split(/\s+/).filter(Boolean);
  const found = entries.filter(({ text }) => words.every((word) => plain(text).includes(word)));
  const begins = ({ text }: E): boolean => words[0] !== undefined && plain(text).startsWith(words[0]);
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))];
}

/** The place that is current after an arrow key; both ends lead to the other one. */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  return undefined;
}
