import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

export const tables = {
  /** Accounts of providers. `id` is the SHA-256 in hex of issuer and subject, whose letters count and which databases would compare without case. `account` is a name for display, as the provider gave it. */
  links: table('openid_links', {
    id: column.key<string>(),
    adminId: column.integer(),
    issuer: column.text(),
    subject: column.text(),
    account: column.text(),
    linkedAt: column.integer(),
  }),
  /** The key that seals a login under way in its cookie; `value` is sealed itself. */
  keys: table('openid_keys', { name: column.key<string>(), value: column.text() }),
} as const;
export type OpenidTables = TableModels<typeof tables>;
export type LinkRow = Row<typeof tables.links>;

export const sealedKeys: SealedColumn = { table: 'openid_keys', key: 'name', column: 'value' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-openid',
    up: ({ integer, text }) => [
      `CREATE TABLE openid_links (id VARCHAR(64) PRIMARY KEY, admin_id ${integer} NOT NULL, issuer ${text} NOT NULL, subject ${text} NOT NULL, account ${text} NOT NULL, linked_at ${integer} NOT NULL)`,
      `CREATE TABLE openid_keys (name VARCHAR(64) PRIMARY KEY, value ${text} NOT NULL)`,
    ],
  },
];
