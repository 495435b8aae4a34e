import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** `adminId` is never given to another admin. Quotas are 0 for none; bytes, days. `givenBytes` never becomes less. `createdAt` in Unix ms. */
  resellers: table('resellers', {
    id: column.id(),
    adminId: column.integer(),
    name: column.text(),
    prefix: column.text(),
    inboundIds: column.json<readonly number[]>(),
    maxClients: column.integer(),
    maxBytes: column.integer(),
    maxDays: column.integer(),
    mayReset: column.bool(),
    givenBytes: column.integer(),
    createdAt: column.integer(),
  }),
  /** Who owns a client. `granted` are the bytes that its present period may use without being counted again; `held`: somebody else has disabled it. `goneAt` is when it was deleted, in Unix ms, 0 while it is there: an undo gives it back to its owner. */
  owned: table('reseller_clients', {
    clientId: column.key<number>('integer'),
    resellerId: column.integer(),
    granted: column.integer(),
    held: column.bool(),
    goneAt: column.integer(),
  }),
} as const;
export type ResellerTables = TableModels<typeof tables>;
export type Reseller = Row<typeof tables.resellers>;
export type Owned = Row<typeof tables.owned>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-resellers',
    up: ({ id, integer, bool, json }) => [
      `CREATE TABLE resellers (
        id ${id}, admin_id ${integer} NOT NULL UNIQUE, name VARCHAR(64) NOT NULL, prefix VARCHAR(32) NOT NULL,
        inbound_ids ${json} NOT NULL, max_clients ${integer} NOT NULL, max_bytes ${integer} NOT NULL, max_days ${integer} NOT NULL,
        may_reset ${bool} NOT NULL, given_bytes ${integer} NOT NULL, created_at ${integer} NOT NULL)`,
      `CREATE TABLE reseller_clients (
        client_id ${integer} PRIMARY KEY, reseller_id ${integer} NOT NULL, granted ${integer} NOT NULL, held ${bool} NOT NULL,
        gone_at ${integer} NOT NULL, FOREIGN KEY (reseller_id) REFERENCES resellers (id) ON DELETE CASCADE)`,
      'CREATE INDEX reseller_clients_reseller ON reseller_clients (reseller_id, gone_at)',
    ],
  },
];
