// SQL of SQLite where it differs from other databases.
import type { ColumnTypes, SqlWords } from '../../tables/dialect.js';

export const sqliteWords: SqlWords = {
  dialect: 'sqlite',
  least: 'min',
  greatest: 'max',
  rows: (columns, replacement = 'rows') =>
    `(SELECT ${Object.keys(columns)
      .map((name, i) => `value ->> ${i} AS ${name}`)
      .join(', ')} FROM json_each(:${replacement}))`,
  onConflict: (keys, set) => `ON CONFLICT (${keys}) DO UPDATE SET ${set}`,
  incoming: (column) => `excluded.${column}`,
};

export const sqliteTypes: ColumnTypes = {
  dialect: 'sqlite',
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  integer: 'BIGINT',
  bool: 'BOOLEAN',
  name: 'VARCHAR(255) COLLATE NOCASE',
  text: 'TEXT',
  json: 'JSON',
};
