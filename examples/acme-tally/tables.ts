import { column, type Migration, table, type TableModels } from '@weir-panel/weir/kernel';

export const tables = {
  days: table('x_acme_tally_days', { day: column.key<string>(), depleted: column.integer() }),
} as const;
export type Tables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-days',
    up: ({ integer }) => [
      `CREATE TABLE x_acme_tally_days (day VARCHAR(10) PRIMARY KEY, depleted ${integer} NOT NULL)`,
    ],
  },
];
