import { column, type Migration, table } from '../../kernel/index.js';

export const tables = {
  /** Warnings of the present period: as long as a row is there, there is no other one. */
  given: table('limit_warnings', {
    clientId: column.key<number>('integer'),
    kind: column.key<'quota' | 'expiry'>(),
    at: column.integer(),
  }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-given',
    up: ({ integer, dialect }) => [
      `CREATE TABLE limit_warnings (
        client_id ${integer} NOT NULL,
        kind VARCHAR(8) NOT NULL,
        at ${integer} NOT NULL,
        PRIMARY KEY (client_id, kind))${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    ],
  },
];
