import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { BanReason, BanScope } from './contract.js';

export const tables = {
  bans: table('ban_guard_bans', {
    /** scope and address */
    id: column.key<string>(),
    address: column.text(),
    scope: column.text<BanScope>(),
    reason: column.text<BanReason>(),
    /** 0 without a client */
    clientId: column.integer(),
    email: column.text(),
    driver: column.text(),
    /** Unix ms */
    bannedAt: column.integer(),
    /** Unix ms; for a ban that was ended before its time, when that was */
    endsAt: column.integer(),
  }),
  /** Drivers that may have bans or tables on this machine, so that those of one that is no longer chosen are taken away. */
  drivers: table('ban_guard_drivers', { name: column.key<string>() }),
} as const;
export type BanTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-bans',
    up: ({ integer, text }) => [
      `CREATE TABLE ban_guard_bans (
        id VARCHAR(64) NOT NULL PRIMARY KEY, address VARCHAR(48) NOT NULL, scope VARCHAR(16) NOT NULL,
        reason VARCHAR(16) NOT NULL, client_id ${integer} NOT NULL, email ${text} NOT NULL,
        driver VARCHAR(64) NOT NULL, banned_at ${integer} NOT NULL, ends_at ${integer} NOT NULL)`,
      'CREATE TABLE ban_guard_drivers (name VARCHAR(64) NOT NULL PRIMARY KEY)',
    ],
  },
];
