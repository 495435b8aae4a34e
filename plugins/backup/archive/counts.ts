// What is in a copy of the database, for its manifest.
import type { PanelDatabaseApi } from '../contract.js';
import type { Manifest } from './record.js';

type Counts = Manifest['counts'];
interface Content {
  readonly migrations: readonly string[];
  readonly counts: Counts;
}

const MIGRATIONS = 'SELECT plugin, name FROM kernel_migrations ORDER BY plugin, name';
const PAGE = 1_000;
const sumOf = (table: string, field: string): string =>
  `SELECT coalesce(sum(CAST(${field} AS REAL)), 0) AS found FROM ${table}`;
/** A sum of bytes may be larger than the integers of SQLite. */
const COUNTS: Readonly<Record<keyof Counts, readonly [table: string, sql: string]>> = {
  clients: ['clients', 'SELECT count(*) AS found FROM clients'],
  inbounds: ['inbounds', 'SELECT count(*) AS found FROM inbounds'],
  up: ['client_usage', sumOf('client_usage', 'up')],
  down: ['client_usage', sumOf('client_usage', 'down')],
};

/** Reads the migrations that made a copy, and counts its clients. A table that is missing counts as empty: its plugin was never enabled. */
export async function contentOf(database: PanelDatabaseApi, path: string): Promise<Content> {
  const tables = new Set(
    (await database.query(path, ["SELECT name FROM sqlite_master WHERE type = 'table'"]))
      .flat()
      .map(({ name }) => name),
  );
  const migrations: string[] = [];
  for (let from = 0; ; from += PAGE) {
    const [page = []] = await database.query(path, [`${MIGRATIONS} LIMIT ${PAGE} OFFSET ${from}`]);
    migrations.push(...page.map(({ plugin, name }) => `${String(plugin)}/${String(name)}`));
    if (page.length < PAGE) break;
  }
  const counts: Record<keyof Counts, number> = { clients: 0, inbounds: 0, up: 0, down: 0 };
  for (const [field, [table, sql]] of Object.entries(COUNTS) as [keyof Counts, readonly [string, string]][]) {
    if (!tables.has(table)) continue;
    const [rows] = await database.query(path, [sql]);
    counts[field] = Number(rows?.[0]?.['found'] ?? 0);
  }
  return { migrations, counts };
}
