// A form whose record somebody else has saved meanwhile: which fields differ, and what is saved then.

export interface Conflict<F extends string = string> {
  readonly field: F;
  /** as the form began */
  readonly before: string;
  readonly mine: string;
  readonly theirs: string;
}
export type Choice = 'mine' | 'theirs';
type Texts<F extends string> = Readonly<Record<F, string>>;

/** Fields that both have changed, to different texts. */
export const conflictsOf = <F extends string>(
  before: Texts<F>,
  mine: Texts<F>,
  theirs: Texts<F>,
): Conflict<F>[] =>
  (Object.keys(before) as F[])
    .filter(
      (field) =>
        mine[field] !== before[field] && theirs[field] !== before[field] && mine[field] !== theirs[field],
    )
    .map((field) => ({ field, before: before[field], mine: mine[field], theirs: theirs[field] }));

/** Fields that only the other one has changed. */
export const onlyTheirs = <F extends string>(before: Texts<F>, mine: Texts<F>, theirs: Texts<F>): F[] =>
  (Object.keys(before) as F[]).filter(
    (field) => theirs[field] !== before[field] && mine[field] === before[field],
  );

/**
 * What the form shows after the choice: what only one of both has changed is kept of both. A field without a choice stays
 * mine.
 */
export function merged<T extends Texts<F>, F extends string>(
  before: T,
  mine: T,
  theirs: T,
  chosen: Readonly<Partial<Record<F, Choice>>>,
): T {
  const result: Record<string, string> = { ...theirs };
  for (const field of Object.keys(before) as F[]) {
    const isMine = mine[field] !== before[field];
    if (isMine && chosen[field] !== 'theirs') result[field] = mine[field];
  }
  return result as T;
}

/** The same for a list of ids: what I added and removed, in what is there now. */
export function mergedIds(
  before: readonly number[],
  mine: readonly number[],
  theirs: readonly number[],
): number[] {
  const removed = new Set(before.filter((id) => !mine.includes(id)));
  const added = mine.filter((id) => !before.includes(id) && !theirs.includes(id));
  return [...theirs.filter((id) => !removed.has(id)), ...added];
}
