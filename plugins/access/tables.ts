import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** `codeStep` is that of the last two-factor code that was accepted: none is accepted twice. */
  admins: table('admins', {
    id: column.id(),
    username: column.text(),
    passwordHash: column.text(),
    createdAt: column.integer(),
    codeStep: column.integer(),
  }),
  /** `digest` is the SHA-256 of the token in hex; the token itself is stored nowhere. `createdAt` in Unix seconds, `expiresAt` in Unix ms (0: never). */
  tokens: table('api_tokens', {
    id: column.id(),
    name: column.text(),
    digest: column.text(),
    enabled: column.bool(),
    createdAt: column.integer(),
    expiresAt: column.integer(),
  }),
} as const;
export type AccessTables = TableModels<typeof tables>;

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
];
