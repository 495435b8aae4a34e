import { type Migration, column, table } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

export const tables = {
  /**
   * One row, which who writes holds: the number of the last write that changed memory. Each write changes `turns`, so that of
   * two at once on different servers (Galera) one fails. `oldest` is the oldest version whose panels may use the database,
   * `starts` the number of the last start of a panel.
   */
  state: table('cluster_state', {
    id: column.key<number>(),
    last: column.integer(),
    turns: column.integer(),
    oldest: column.text(),
    starts: column.integer(),
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
  /** The panels that live, each as of its last sign. `holder` is of one start of it; `seenAt` is the time of the database server that it uses, so only a change of it says something. */
  panels: table('cluster_panels', {
    name: column.key<string>(),
    holder: column.text(),
    version: column.text(),
    seenAt: column.integer(),
  }),
  /** what only the leader knows, as JSON; `at` is the time of the database */
  figures: table('cluster_figures', {
    name: column.key<string>(),
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
    name: '0002-panels',
    up: ({ integer, text }) => [
      `ALTER TABLE cluster_state ADD COLUMN oldest VARCHAR(64) NOT NULL DEFAULT '0.0.0'`,
      `ALTER TABLE cluster_state ADD COLUMN starts ${integer} NOT NULL DEFAULT 0`,
      `CREATE TABLE cluster_panels (name VARCHAR(32) PRIMARY KEY, holder VARCHAR(64) NOT NULL, version VARCHAR(64) NOT NULL, seen_at ${integer} NOT NULL)`,
      `CREATE TABLE cluster_figures (name VARCHAR(64) PRIMARY KEY, at ${integer} NOT NULL, body ${text} NOT NULL)`,
    ],
  },
  {
    name: '0003-beats',
    up: ({ integer }) => [
      // `expires_at` is no longer read.
      `ALTER TABLE cluster_leases ADD COLUMN beat ${integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE cluster_state ADD COLUMN turns ${integer} NOT NULL DEFAULT 1`,
    ],
  },
];
