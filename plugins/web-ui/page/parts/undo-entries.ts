// Which entries of the audit an undo takes.

interface Change {
  readonly id: number;
  readonly entry: number;
  readonly who: string;
  readonly whoKind: string;
  readonly undoable: boolean;
}

/** Entries of this admin that are newer than the change `after`, the newest first; none if one of them cannot be undone. */
export function entriesOf(changes: readonly Change[], after: number, who: string): number[] {
  const mine = changes.filter(
    (change) => change.id > after && change.who === who && change.whoKind === 'session',
  );
  if (mine.some((change) => !change.undoable)) return [];
  return [...new Set(mine.map(({ entry }) => entry))].sort((a, b) => b - a);
}
