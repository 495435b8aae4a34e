import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** Alarms that are active, so that a restart of the panel does not report them again. */
  active: table('active_alarms', { name: column.key<string>(), since: column.integer() }),
} as const;
export type AlarmTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-active',
    up: ({ integer }) => [
      `CREATE TABLE active_alarms (name VARCHAR(128) NOT NULL PRIMARY KEY, since ${integer} NOT NULL)`,
    ],
  },
];
