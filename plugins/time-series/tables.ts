import type { Migration } from '../../kernel/index.js';

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
