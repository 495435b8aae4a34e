// Counts the writes of a plugin; they are done as before.
import type { Database } from '../../kernel/index.js';

export function countWrites(db: Database): { readonly count: number } {
  const write = db.write.bind(db);
  const writes = { count: 0 };
  db.write = ((work: Parameters<typeof write>[0]) => {
    writes.count += 1;
    return write(work);
  }) as typeof db.write;
  return writes;
}
