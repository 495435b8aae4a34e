import { type Migration, column, type Row, table } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

/**
 * How far a call has come, as the database knows it: nothing of it is committed; a part of it, or all; its change is
 * committed together with the facts that its reply is made of; it was replied to.
 */
export type Stage = '' | 'part' | 'noted' | 'done';

/** `reply` holds the facts of a noted call and the reply of one that is done; it is empty if that was too large. */
export const tables = {
  calls: table('idempotent_calls', {
    id: column.key<string>(),
    caller: column.text(),
    fingerprint: column.text(),
    beganAt: column.integer(),
    size: column.integer(),
    reply: column.optionalText(),
    stage: column.text<Stage>(),
  }),
} as const;
export type CallRow = Row<typeof tables.calls>;

/** Replies show secrets that the panel stores nowhere else, such as the text of an API token. */
export const sealedReply: SealedColumn = { table: 'idempotent_calls', key: 'id', column: 'reply' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-idempotent-calls',
    up: ({ integer, text }) => [
      `CREATE TABLE idempotent_calls (id VARCHAR(64) PRIMARY KEY, caller VARCHAR(64) NOT NULL, fingerprint VARCHAR(64) NOT NULL, began_at ${integer} NOT NULL, size ${integer} NOT NULL, reply ${text})`,
      'CREATE INDEX idempotent_calls_caller ON idempotent_calls (caller, began_at, size)',
    ],
  },
  {
    name: '0002-stages',
    up: () => [
      `ALTER TABLE idempotent_calls ADD COLUMN stage VARCHAR(8) NOT NULL DEFAULT 'part'`,
      `UPDATE idempotent_calls SET stage = 'done' WHERE reply IS NOT NULL`,
    ],
  },
];
