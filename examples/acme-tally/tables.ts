import {
  column,
  field,
  Fields,
  int,
  type Migration,
  table,
  type TableModels,
  text,
} from '@weir-panel/weir/kernel';

/** Each field once: its column, its schema, and the value of a new row. */
export const fields = new Fields({
  day: field({ column: column.key<string>(), schema: text(), initial: '' }),
  depleted: field({ column: column.integer(), schema: int(), initial: 0 }),
});
export const tables = { days: table('x_acme_tally_days', fields.columns) } as const;
export type Tables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-days',
    up: ({ integer }) => [
      `CREATE TABLE x_acme_tally_days (day VARCHAR(10) PRIMARY KEY, depleted ${integer} NOT NULL)`,
    ],
  },
];
