import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** Ids of the keys in use: a start compares them with the keys that it has. */
  keys: table('secret_keys', { id: column.key<string>() }),
  /** Every column that was ever in `SealedColumns`: disabled plugins keep their rows, which must be sealed with the next key too. */
  columns: table('secret_columns', {
    id: column.key<string>(),
    plugin: column.text(),
    tableName: column.text(),
    keyColumn: column.text(),
    valueColumn: column.text(),
  }),
} as const;
export type SecretsTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-secrets',
    up: () => [
      'CREATE TABLE secret_keys (id VARCHAR(16) PRIMARY KEY)',
      'CREATE TABLE secret_columns (id VARCHAR(191) PRIMARY KEY, plugin VARCHAR(64) NOT NULL, table_name VARCHAR(64) NOT NULL, key_column VARCHAR(64) NOT NULL, value_column VARCHAR(64) NOT NULL)',
    ],
  },
];
