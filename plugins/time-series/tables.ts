import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** Daily series that were ever declared; `days` is how many days each keeps. */
  names: table('time_series_names', {
    id: column.id(),
    name: column.text(),
    days: column.integer(),
  }),
  /** Amounts by series (`id` of its name), day (days since 1970-01-01) and key. */
  days: table('time_series_days', {
    series: column.key<number>('integer'),
    day: column.key<number>('integer'),
    item: column.key<string>(),
    amount: column.integer(),
  }),
} as const;
export type TimeSeriesTables = TableModels<typeof tables>;
export type SeriesName = Row<typeof tables.names>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-days',
    up: ({ integer, id, dialect }) => [
      `CREATE TABLE time_series_names (id ${id}, name VARCHAR(100) NOT NULL UNIQUE, days ${integer} NOT NULL)`,
      // The day comes before the item: a poll touches the few pages of one day, not one page for each item.
      `CREATE TABLE time_series_days (
        series ${integer} NOT NULL, day ${integer} NOT NULL, item VARCHAR(128) NOT NULL, amount ${integer} NOT NULL,
        PRIMARY KEY (series, day, item))${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    ],
  },
];
