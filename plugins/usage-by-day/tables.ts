import { column, type Migration, table } from '../../kernel/index.js';

export const tables = {
  /** What each client used on each day; days since 1970-01-01, by the calendar of the panel. */
  days: table('usage_by_day', {
    day: column.key<number>('integer'),
    clientId: column.key<number>('integer'),
    /** bytes */
    up: column.integer(),
    down: column.integer(),
  }),
  /** Usage that is not in `days` yet: a row for each poll, or the sums of some polls. */
  journal: table('usage_by_day_journal', {
    number: column.id(),
    day: column.integer(),
    /** the entries are sums, each client once, and small enough for one write */
    isSummed: column.bool(),
    /** JSON: `[clientId, up, down]` */
    entries: column.text(),
  }),
  /** Deleted clients whose days are still stored. */
  deleted: table('usage_by_day_deleted', { clientId: column.key<number>('integer') }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-days',
    up: ({ integer, id, bool, text, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        // The day comes first: a minute of polls touches the few pages of one day, not one page for each client.
        `CREATE TABLE usage_by_day (
          day ${integer} NOT NULL, client_id ${integer} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
          PRIMARY KEY (day, client_id))${clustered}`,
        `CREATE TABLE usage_by_day_journal (number ${id}, day ${integer} NOT NULL, is_summed ${bool} NOT NULL, entries ${text} NOT NULL)`,
        `CREATE TABLE usage_by_day_deleted (client_id ${integer} NOT NULL PRIMARY KEY)${clustered}`,
      ];
    },
  },
];
