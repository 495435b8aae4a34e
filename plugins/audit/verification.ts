// Looks whether the entries are those that were written: numbers without a gap, and hashes that fit.
import { type Database, TimeSlice } from '../../kernel/index.js';
import { type EntryFacts, type Link, LinkHash, type StoredChange } from './chain.js';
import type { ChainHead } from './chain-head.js';
import type { ChainKey } from './chain-key.js';

const PAGE = 2000;
const MOST_PROBLEMS = 20;

type Row = StoredChange &
  Omit<EntryFacts, 'id'> & { readonly id: number; readonly entry: number; readonly hash: string };
export interface Verified {
  readonly entries: number;
  readonly changes: number;
  /** sentences, at most 20 */
  readonly problems: readonly string[];
  /** the newest entry; note it elsewhere to find out later whether entries were removed at the end */
  readonly head: Link;
}

/** The entry whose rows are read. */
interface OpenEntry {
  readonly id: number;
  readonly before: Link;
  readonly link: LinkHash;
  readonly facts: string;
  /** of its last row so far */
  hash: string;
}
const factsOf = ({ entry, at, whoKind, who, ip, area, undoes }: Row): EntryFacts => ({
  id: entry,
  at,
  whoKind,
  who,
  ip,
  area,
  undoes,
});

export class Verification {
  readonly #db: Database;
  readonly #chainKey: ChainKey;
  readonly #head: ChainHead;

  constructor({ db, chainKey, head }: { db: Database; chainKey: ChainKey; head: ChainHead }) {
    this.#db = db;
    this.#head = head;
    this.#chainKey = chainKey;
  }

  /** `noted` is an entry that somebody noted earlier; `progressed` is called now and then. */
  async run(noted: Link | undefined, progressed: () => void): Promise<Verified> {
    // An entry that this panel has written must be there, whatever is written meanwhile.
    const written = this.#head.written;
    const { key, removed: begin, lostId, isSigned } = await this.#chainKey.read();
    const problems: string[] = [];
    const found = (sentence: string): void => {
      if (problems.length < MOST_PROBLEMS) problems.push(sentence);
    };
    let head: Link = begin;
    if (!isSigned)
      found(
        `the record does not begin where it should: entries up to ${begin.id} may have been removed by hand`,
      );
    const [earlier] = await this.#db.query<{ count: number }>(
      'SELECT COUNT(*) AS count FROM audit_changes WHERE entry <= :id',
      { id: begin.id },
    );
    if (Number(earlier?.count ?? 0) > 0 || (lostId > 0 && lostId === begin.id))
      found(
        `${Number(earlier?.count ?? 0)} changes up to entry ${begin.id} cannot be verified: the chain begins after them`,
      );
    let [entries, changes] = [0, 0];
    let open: OpenEntry | undefined;
    const close = ({ id, before, link, hash }: OpenEntry): void => {
      head = { id, hash };
      const missing = missingBetween(before.id, id);
      if (missing !== undefined) found(missing);
      // After a gap, the hash of the entry before is not known.
      else if (link.end() !== hash) found(`entry ${id}, or the hash before it, is not what was written`);
      if (noted?.id === id && noted.hash !== hash) found(`entry ${id} has not the hash that was noted`);
    };
    const slice = new TimeSlice();
    for await (const row of this.#rows(begin.id, progressed)) {
      if (slice.isOver) await slice.next();
      const facts = JSON.stringify(factsOf(row));
      if (open?.id !== row.entry || open.facts !== facts) {
        if (open) close(open);
        open = {
          id: row.entry,
          before: head,
          link: new LinkHash(key, head.hash, factsOf(row)),
          facts,
          hash: '',
        };
        entries += 1;
      }
      open.link.add(row);
      open.hash = row.hash;
      changes += 1;
    }
    if (open) close(open);
    if (written && written.id > head.id)
      found(
        `the last entry is ${head.id}, and this panel has written entry ${written.id}: entries were removed at the end`,
      );
    if (noted && noted.id > head.id)
      found(
        `the noted entry ${noted.id} is missing: the last one is ${head.id}, so entries were removed at the end`,
      );
    return { entries, changes, problems, head };
  }

  async *#rows(removed: number, progressed: () => void): AsyncGenerator<Row> {
    for (let after = 0; ; ) {
      const page = await this.#db.query<Row>(
        `SELECT id, entry, at, who_kind AS whoKind, who, ip, area, undoes, kind, name, subject, fields, hash
         FROM audit_changes WHERE id > :after AND entry > :removed ORDER BY id LIMIT ${PAGE}`,
        { after, removed },
      );
      progressed();
      for (const row of page)
        yield {
          ...row,
          id: Number(row.id),
          entry: Number(row.entry),
          at: Number(row.at),
          undoes: Number(row.undoes),
        };
      const last = page.at(-1);
      if (!last) return;
      after = Number(last.id);
    }
  }
}

function missingBetween(before: number, after: number): string | undefined {
  if (after === before + 1) return undefined;
  if (after <= before) return `entry ${after} stands behind entry ${before}`;
  return after === before + 2
    ? `entry ${before + 1} is missing`
    : `entries ${before + 1} to ${after - 1} are missing`;
}
