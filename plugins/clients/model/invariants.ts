// What must hold among clients, beside that memory is the database.
import type { Database } from '../../../kernel/index.js';
import { canonical, type Invariant } from '../../invariants/contract.js';
import type { ClientStore } from './client-store.js';
import { emailKey, uniqueFields } from './fields.js';
import { Roster } from './roster.js';
import type { ClientRow } from './row.js';
import { lowerBound } from './sorted-rows.js';

/** Clients of one comparison: a second roster of all would double the memory of the panel, and hold back writes for seconds. */
const PORTION = 1000;
/** An edit may come between the load and the comparison. */
const ATTEMPTS = 5;

/** All that a roster knows of a client; without the last fetch, which is ahead of the database. */
function knownOf(roster: Roster, row: ClientRow): Readonly<Record<string, unknown>> {
  const owned = uniqueFields.filter(
    (name) =>
      roster.owner(name, row[name]) === row || (name === 'subId' && roster.sharing(row.subId)?.includes(row)),
  );
  return { ...row, lastSubFetch: undefined, owned };
}

/** What differs in a part of the roster, which begins after this id. */
function differences(memory: Roster, stored: Roster, after: number): string[] {
  const rows = stored.ordered('id');
  const last = rows.length < PORTION ? Infinity : (rows.at(-1)?.id ?? Infinity);
  const found: string[] = [];
  for (const row of rows) {
    const own = memory.byId(row.id);
    const [here, there] = [own ? knownOf(memory, own) : {}, knownOf(stored, row)];
    for (const [field, value] of Object.entries(there))
      if (canonical(here[field]) !== canonical(value))
        found.push(
          `client ${row.id} (${row.email}): ${field} is ${canonical(here[field])} in memory, and ${canonical(value)} in the database`,
        );
  }
  const all = memory.ordered('id');
  for (let at = lowerBound(all, ({ id }) => id <= after); at < all.length; at++) {
    const row = all[at];
    if (!row || row.id > last) break;
    if (!stored.byId(row.id))
      found.push(`client ${row.id} (${row.email}) is in memory, and not in the database`);
    const place = memory.ordered('email')[lowerBoundOfEmail(memory, row.email)];
    if (place !== row) found.push(`client ${row.id} (${row.email}) is not at its place in lists`);
  }
  return found;
}
const lowerBoundOfEmail = (memory: Roster, email: string): number =>
  lowerBound(memory.ordered('email'), (other) => emailKey(other.email) < emailKey(email));

const memoryMatches = (store: ClientStore, db: Database): Invariant => ({
  name: 'clients in memory are those of the database',
  fix: 'restart the panel: it reads everything again',
  check: async ({ add, pause }) => {
    for (let after = 0; ; ) {
      await pause();
      let stored = new Roster();
      let found: string[] = [];
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        // A write resolves when memory has it and all earlier ones.
        stored = await db.write((tx) => Roster.load(tx, { after, most: PORTION }));
        found = differences(store.roster, stored, after);
        if (found.length === 0) break;
      }
      for (const sentence of found) add(sentence);
      const rows = stored.ordered('id');
      if (rows.length < PORTION) return undefined;
      after = rows.at(-1)?.id ?? after;
    }
  },
});

/** Whoever owns a value in memory is found by it: a login, a subscription, an edit by email. */
const uniqueValues = (store: ClientStore): Invariant => ({
  name: 'emails, subscription ids and credentials belong to one client each',
  fix: 'change the value of one of the two clients, then restart the panel',
  check: async ({ add, pause }) => {
    const { roster } = store;
    for (const row of [...roster.ordered('id')]) {
      await pause();
      if (roster.byId(row.id) !== row) continue;
      for (const name of uniqueFields) {
        const owner = roster.owner(name, row[name]);
        if (name === 'subId' && roster.sharing(row.subId)?.includes(row)) continue;
        if (owner && owner !== row)
          add(
            `the ${name} of client ${row.id} (${row.email}) is that of client ${owner.id} (${owner.email}) as well`,
          );
        else if (!owner && row[name] !== '')
          add(`client ${row.id} (${row.email}) is not found by its ${name}`);
      }
    }
  },
});

const depletedAreOff = (store: ClientStore): Invariant => ({
  name: 'clients at a limit are disabled, and counters are numbers of bytes',
  fix: 'save the client again, or set its traffic with clients/updateTraffic',
  check: async ({ add, pause }) => {
    for (const { id, email, enable, depletedCause, up, down } of [...store.roster.ordered('id')]) {
      await pause();
      if (enable && depletedCause !== null)
        add(`client ${id} (${email}) is enabled, and at its ${depletedCause}`);
      for (const bytes of [up, down])
        if (!Number.isSafeInteger(bytes) || bytes < 0) add(`client ${id} (${email}) has used ${bytes} bytes`);
    }
  },
});

export const clientInvariants = (store: ClientStore, db: Database): readonly Invariant[] => [
  memoryMatches(store, db),
  uniqueValues(store),
  depletedAreOff(store),
];
