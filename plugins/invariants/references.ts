// Checks with the means of the database that references lead to rows, and that its indexes match its tables.
import type { Database } from '../../kernel/index.js';
import type { Invariant } from './contract.js';

const FIX = 'restore a backup, or delete the rows by hand while the panel is stopped';

interface Reference {
  readonly from: string;
  readonly column: string;
  readonly to: string;
  readonly key: string;
}

async function mysqlOrphans(db: Database): Promise<string[]> {
  const references = await db.query<Reference>(
    'SELECT table_name AS "from", column_name AS "column", referenced_table_name AS "to", referenced_column_name AS "key" FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL'.replaceAll(
      '"',
      '`',
    ),
  );
  const found: string[] = [];
  for (const { from, column, to, key } of references) {
    const rows = await db.query<{ value: unknown }>(
      `SELECT DISTINCT a.${column} AS value FROM ${from} a LEFT JOIN ${to} b ON b.${key} = a.${column} WHERE b.${key} IS NULL AND a.${column} IS NOT NULL LIMIT 100`,
    );
    for (const { value } of rows)
      found.push(`${from}.${column} names ${String(value)}, which ${to} does not have`);
  }
  return found;
}

async function sqliteOrphans(db: Database): Promise<string[]> {
  const rows = await db.query<{ table: string; rowid: number; parent: string }>('PRAGMA foreign_key_check');
  return rows.map(
    ({ table, rowid, parent }) => `${table}: row ${rowid} names a row that ${parent} does not have`,
  );
}

export const referencesLead = (db: Database): Invariant => ({
  name: 'references lead to rows',
  fix: FIX,
  check: async ({ add }) => {
    const found = db.sql.dialect === 'sqlite' ? await sqliteOrphans(db) : await mysqlOrphans(db);
    for (const sentence of found) add(sentence);
  },
});

/** Unique indexes are compared with their tables as well. */
export const indexesMatch = (db: Database): Invariant => ({
  name: 'tables and indexes are intact',
  fix: FIX,
  check: async ({ add }) => {
    if (db.sql.dialect !== 'sqlite') return 'a database server checks its own tables';
    for (const row of await db.query<Record<string, string>>('PRAGMA integrity_check(20)'))
      for (const said of Object.values(row)) if (said !== 'ok') add(said);
    return undefined;
  },
});
