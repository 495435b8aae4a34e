import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  admins: table('admins', { id: column.id(), username: column.text(), passwordHash: column.text(), createdAt: column.integer() }),
  /** `digest` is the SHA-256 of the token in hex; the token itself is stored nowhere. `createdAt` in Unix seconds. */
  tokens: table('api_tokens', { id: column.id(), name: column.text(), digest: column.text(), enabled: column.bool(), createdAt: column.integer() }),
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
];
