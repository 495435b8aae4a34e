import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

export const tables = {
  /** `codeStep` is that of the last two-factor code that was accepted: none is accepted twice. `roleId` is 0 for a full admin. */
  admins: table('admins', {
    id: column.id(),
    username: column.text(),
    passwordHash: column.text(),
    createdAt: column.integer(),
    codeStep: column.integer(),
    roleId: column.integer(),
    enabled: column.bool(),
  }),
  /** `digest` is the SHA-256 of the token in hex; the token itself is stored nowhere. `createdAt` and `lastUsedAt` (0: never) in Unix seconds, `expiresAt` in Unix ms (0: never). `kind` is blank for one that may call every route that its role allows. `roleId` is 0 without one, `makerId` the admin who made it, 0 where that is nobody. */
  tokens: table('api_tokens', {
    id: column.id(),
    name: column.text(),
    digest: column.text(),
    enabled: column.bool(),
    createdAt: column.integer(),
    expiresAt: column.integer(),
    lastUsedAt: column.integer(),
    kind: column.text(),
    roleId: column.integer(),
    makerId: column.integer(),
  }),
  /** Blocks of failed logins: `source` is a SHA-256 in hex, `blockedUntil` in Unix ms. */
  blocks: table('login_blocks', { source: column.key<string>(), blockedUntil: column.integer() }),
  /** Addresses and IPv6 /64 that admins have logged in from; `seenAt` in Unix ms. */
  addresses: table('login_addresses', { network: column.key<string>(), seenAt: column.integer() }),
  /** Random secrets that the panel generates for itself. */
  keys: table('access_keys', { name: column.key<string>(), value: column.text() }),
  /** Second factors. `secret` is sealed; `since` in Unix ms. `isShared`: it was that of all admins before each had one of its own. */
  secondFactors: table('second_factors', {
    adminId: column.key<number>('integer'),
    secret: column.text(),
    since: column.integer(),
    isShared: column.bool(),
  }),
  /** SHA-256 in hex of the recovery codes that are left. */
  recoveryCodes: table('second_factor_codes', {
    adminId: column.key<number>('integer'),
    digest: column.key<string>(),
  }),
  /** As `recoveryCodes`, from when all admins shared one second factor. A start copies them once. */
  sharedCodes: table('recovery_codes', { digest: column.key<string>() }),
} as const;
export type AccessTables = TableModels<typeof tables>;

export const sealedSecrets: SealedColumn = { table: 'second_factors', key: 'admin_id', column: 'secret' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-access',
    up: ({ id, integer, bool }) => [
      `CREATE TABLE admins (id ${id}, username VARCHAR(255) NOT NULL UNIQUE, password_hash VARCHAR(255) NOT NULL, created_at ${integer} NOT NULL)`,
      `CREATE TABLE api_tokens (id ${id}, name VARCHAR(64) NOT NULL UNIQUE, digest VARCHAR(64) NOT NULL UNIQUE, enabled ${bool} NOT NULL, created_at ${integer} NOT NULL)`,
    ],
  },
  {
    name: '0002-codes-and-expiry',
    up: ({ integer }) => [
      `ALTER TABLE admins ADD COLUMN code_step ${integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE api_tokens ADD COLUMN expires_at ${integer} NOT NULL DEFAULT 0`,
    ],
  },
  {
    name: '0003-guessing-and-recovery',
    up: ({ integer }) => [
      `ALTER TABLE api_tokens ADD COLUMN last_used_at ${integer} NOT NULL DEFAULT 0`,
      `CREATE TABLE login_blocks (source VARCHAR(64) PRIMARY KEY, blocked_until ${integer} NOT NULL)`,
      `CREATE TABLE login_addresses (network VARCHAR(64) PRIMARY KEY, seen_at ${integer} NOT NULL)`,
      `CREATE TABLE access_keys (name VARCHAR(64) PRIMARY KEY, value VARCHAR(64) NOT NULL)`,
      `CREATE TABLE recovery_codes (digest VARCHAR(64) PRIMARY KEY)`,
    ],
  },
  {
    name: '0004-token-kinds',
    up: () => [`ALTER TABLE api_tokens ADD COLUMN kind VARCHAR(16) NOT NULL DEFAULT ''`],
  },
  {
    name: '0005-roles',
    up: ({ integer, bool, dialect }) => [
      `ALTER TABLE admins ADD COLUMN role_id ${integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE admins ADD COLUMN enabled ${bool} NOT NULL DEFAULT ${dialect === 'sqlite' ? 1 : 'TRUE'}`,
      `ALTER TABLE api_tokens ADD COLUMN role_id ${integer} NOT NULL DEFAULT 0`,
      `ALTER TABLE api_tokens ADD COLUMN maker_id ${integer} NOT NULL DEFAULT 0`,
    ],
  },
  {
    name: '0006-second-factors',
    up: ({ integer, bool, text }) => [
      `CREATE TABLE second_factors (admin_id ${integer} NOT NULL PRIMARY KEY, secret ${text} NOT NULL, since ${integer} NOT NULL, is_shared ${bool} NOT NULL)`,
      `CREATE TABLE second_factor_codes (admin_id ${integer} NOT NULL, digest VARCHAR(64) NOT NULL, PRIMARY KEY (admin_id, digest))`,
    ],
  },
];
