import { column, type Migration, table } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';
import type { ChangeKind } from './contract.js';

export const tables = {
  /** The changes of one call of a hook are one entry: rows that follow each other. One table, because each statement costs an edit half a millisecond. */
  changes: table('audit_changes', {
    id: column.id(),
    /** one more than that of the entry before: a gap is a missing entry */
    entry: column.integer(),
    /** Unix ms */
    at: column.integer(),
    whoKind: column.text(),
    who: column.text(),
    ip: column.text(),
    area: column.text(),
    kind: column.text<ChangeKind>(),
    name: column.text(),
    subject: column.text(),
    /** JSON: by path of the field, the value before and after */
    fields: column.text(),
    /** the entry that this one undoes; 0 for none */
    undoes: column.integer(),
    /** of the entry, in its last row; blank in the others */
    hash: column.text(),
  }),
  /** What an undo needs of an entry, in parts; the first one says whether it can be undone. */
  kept: table('audit_kept', {
    /** `640-0` */
    id: column.key<string>(),
    entry: column.integer(),
    /** Unix ms */
    at: column.integer(),
    /** why it cannot be undone; blank when it can */
    reason: column.text(),
    /** 0 for none */
    undoneBy: column.integer(),
    /** a part of compressed JSON, base64, sealed */
    sealed: column.text(),
  }),
  /** One row: the key of the hashes, and the last entry that was removed for its age. */
  chain: table('audit_chain', {
    id: column.key<number>('integer'),
    /** sealed, base64 */
    macKey: column.text(),
    removedId: column.integer(),
    removedHash: column.text(),
    /** HMAC over the two above and `lostId`: else whoever writes the database could say that the first entries were too old */
    removedMac: column.text(),
    /** the last entry of a lost key; 0 for none */
    lostId: column.integer(),
  }),
} as const;

export const sealedKept: SealedColumn = { table: 'audit_kept', key: 'id', column: 'sealed' };
export const sealedKey: SealedColumn = { table: 'audit_chain', key: 'id', column: 'mac_key' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-audit',
    up: ({ id, integer, text }) => [
      `CREATE TABLE audit_changes (
        id ${id}, entry ${integer} NOT NULL, at ${integer} NOT NULL, who_kind VARCHAR(64) NOT NULL, who VARCHAR(255) NOT NULL,
        ip VARCHAR(64) NOT NULL, area VARCHAR(32) NOT NULL, kind VARCHAR(16) NOT NULL, name VARCHAR(255) NOT NULL,
        subject VARCHAR(64) NOT NULL, fields ${text} NOT NULL, hash VARCHAR(64) NOT NULL)`,
      `CREATE TABLE audit_chain (
        id ${integer} NOT NULL PRIMARY KEY, mac_key ${text} NOT NULL, removed_id ${integer} NOT NULL, removed_hash VARCHAR(64) NOT NULL)`,
      'CREATE INDEX audit_changes_at ON audit_changes (at)',
      'CREATE INDEX audit_changes_who ON audit_changes (who, id)',
      'CREATE INDEX audit_changes_name ON audit_changes (name, id)',
    ],
  },
  {
    name: '0002-signed-beginning',
    up: ({ integer }) => [
      "ALTER TABLE audit_chain ADD COLUMN removed_mac VARCHAR(64) NOT NULL DEFAULT ''",
      `ALTER TABLE audit_chain ADD COLUMN lost_id ${integer} NOT NULL DEFAULT 0`,
    ],
  },
  {
    name: '0003-undo',
    up: ({ integer, text }) => [
      `ALTER TABLE audit_changes ADD COLUMN undoes ${integer} NOT NULL DEFAULT 0`,
      'CREATE INDEX audit_changes_entry ON audit_changes (entry)',
      `CREATE TABLE audit_kept (
        id VARCHAR(64) NOT NULL PRIMARY KEY, entry ${integer} NOT NULL, at ${integer} NOT NULL, reason VARCHAR(255) NOT NULL,
        undone_by ${integer} NOT NULL, sealed ${text} NOT NULL)`,
      'CREATE INDEX audit_kept_entry ON audit_kept (entry)',
      'CREATE INDEX audit_kept_at ON audit_kept (at)',
    ],
  },
];
