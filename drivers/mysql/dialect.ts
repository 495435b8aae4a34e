// SQL of MySQL and MariaDB where it differs from SQLite.
import type { ColumnTypes, SqlWords } from '../../tables/dialect.js';

export const mysqlWords: SqlWords = {
  dialect: 'mysql',
  least: 'least',
  greatest: 'greatest',
  rows: (columns, replacement = 'rows') =>
    `JSON_TABLE(:${replacement}, '$[*]' COLUMNS (${Object.entries(columns)
      .map(([name, kind], i) => `${name} ${kind === 'integer' ? 'BIGINT' : 'LONGTEXT'} PATH '$[${i}]'`)
      .join(', ')}))`,
  onConflict: (_keys, set) => `ON DUPLICATE KEY UPDATE ${set}`,
  incoming: (column) => `VALUES(${column})`,
};

// MySQL's JSON type sorts keys in its own way, and MariaDB has no such type.
export const mysqlTypes: ColumnTypes = {
  dialect: 'mysql',
  id: 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
  integer: 'BIGINT',
  bool: 'BOOLEAN',
  name: 'VARCHAR(255) COLLATE utf8mb4_general_ci',
  text: 'LONGTEXT',
  json: 'LONGTEXT',
};
