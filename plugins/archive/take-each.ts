// The import of kinds of which a panel has few records: one after another.
import { PanelError, TimeSlice } from '../../kernel/index.js';
import type { ArchiveImport, ArchiveRecord } from './contract.js';

/** Takes records one by one. `take` returns why a record is left, and nothing for one that is taken, or that would be; it may throw the errors of the API, which leave the record. */
export async function takeEach(
  portions: AsyncIterable<readonly ArchiveRecord[]>,
  run: ArchiveImport,
  {
    nameOf,
    take,
  }: {
    /** how an admin knows it */
    readonly nameOf: (record: ArchiveRecord) => string;
    readonly take: (record: ArchiveRecord) => Promise<string | undefined> | string | undefined;
  },
): Promise<void> {
  const slice = new TimeSlice();
  for await (const records of portions)
    for (const record of records) {
      if (slice.isOver) await slice.next();
      run.signal.throwIfAborted();
      let reason: string | undefined;
      try {
        reason = await take(record);
      } catch (error) {
        if (!(error instanceof PanelError) || error.status >= 500) throw error;
        reason = error.message;
      }
      if (reason === undefined) run.taken(record);
      else run.left(nameOf(record), reason);
    }
}

/** Text, or a number as text, in a record that may be anything; blank for all else, which `String` may throw for. */
export const textIn = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** What is left because it exists. */
export const IS_HERE = 'it is here already';

/** The ids here of records to which another one refers: `WILL_BE` in a dry run is left out, and counted in `planned`. */
export function idsHere(
  { references }: ArchiveImport,
  kind: string,
  ids: readonly unknown[],
): { readonly here: number[]; readonly planned: number; readonly missing: number } {
  const here: number[] = [];
  let planned = 0;
  let missing = 0;
  for (const id of ids) {
    const found = references.get(kind, id);
    if (found === undefined) missing++;
    else if (typeof found === 'number') here.push(found);
    else planned++;
  }
  return { here, planned, missing };
}
