import { type Migration, column, type Row, table } from '../../kernel/index.js';

/** `reply` is null until the call has been handled, and empty if the reply was too large. */
export const tables = {
  calls: table('idempotent_calls', {
    id: column.key<string>(),
    caller: column.text(),
    fingerprint: column.text(),
    beganAt: column.integer(),
    size: column.integer(),
    reply: column.optionalText(),
  }),
} as const;
export type CallRow = Row<typeof tables.calls>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-idempotent-calls',
    up: ({ integer, text }) => [
      `CREATE TABLE idempotent_calls (id VARCHAR(64) PRIMARY KEY, caller VARCHAR(64) NOT NULL, fingerprint VARCHAR(64) NOT NULL, began_at ${integer} NOT NULL, size ${integer} NOT NULL, reply ${text})`,
      'CREATE INDEX idempotent_calls_caller ON idempotent_calls (caller, began_at, size)',
    ],
  },
];
