import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** A row goes with its admin. */
  values: table('admin_preferences', {
    username: column.key<string>(),
    name: column.key<string>(),
    /** JSON */
    value: column.text(),
  }),
} as const;
export type PreferenceTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-preferences',
    up: ({ text }) => [
      `CREATE TABLE admin_preferences (
        username VARCHAR(255) NOT NULL, name VARCHAR(64) NOT NULL, value ${text} NOT NULL, PRIMARY KEY (username, name))`,
    ],
  },
];
