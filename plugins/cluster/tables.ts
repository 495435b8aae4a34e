import { type Migration, column, table } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

export const tables = {
  /** One row, which who writes holds: the number of the last write that changed memory. Each write changes `turns`, so that of two at once on different servers (Galera) one fails. */
  state: table('cluster_state', {
    id: column.key<number>(),
    last: column.integer(),
    turns: column.integer(),
  }),
  /** `token` grows with each takeover, `beat` with each renewal; a released lease has no holder */
  leases: table('cluster_leases', {
    name: column.key<string>(),
    holder: column.text(),
    token: column.integer(),
    beat: column.integer(),
  }),
  /** what a write has changed in memory, in parts */
  changes: table('cluster_changes', {
    id: column.key<string>(),
    seq: column.integer(),
    part: column.integer(),
    at: column.integer(),
    body: column.text(),
  }),
} as const;

/** Changes hold what the panel has opened to use it, such as passwords of others. */
export const sealedChange: SealedColumn = { table: 'cluster_changes', key: 'id', column: 'body' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-cluster',
    up: ({ integer, text }) => [
      `CREATE TABLE cluster_state (id ${integer} PRIMARY KEY, last ${integer} NOT NULL)`,
      'INSERT INTO cluster_state (id, last) VALUES (1, 1)',
      `CREATE TABLE cluster_leases (name VARCHAR(64) PRIMARY KEY, holder VARCHAR(64) NOT NULL, token ${integer} NOT NULL, expires_at ${integer} NOT NULL)`,
      `CREATE TABLE cluster_changes (id VARCHAR(40) PRIMARY KEY, seq ${integer} NOT NULL, part ${integer} NOT NULL, at ${integer} NOT NULL, body ${text} NOT NULL)`,
      'CREATE INDEX cluster_changes_seq ON cluster_changes (seq, part)',
    ],
  },
  {
    name: '0002-beats',
    up: ({ integer }) => [
      'ALTER TABLE cluster_leases RENAME COLUMN expires_at TO beat',
      `ALTER TABLE cluster_state ADD COLUMN turns ${integer} NOT NULL DEFAULT 1`,
    ],
  },
];
