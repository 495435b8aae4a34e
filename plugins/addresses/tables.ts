import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** From where a client connected. Written in batches; a row goes with its client. */
  seen: table('addresses_seen', {
    clientId: column.key<number>('integer'),
    /** guid of the panel that saw it; blank for this one */
    panel: column.key<string>(),
    /** see `networkOf` */
    network: column.key<string>(),
    /** the latest address of the network */
    address: column.text(),
    /** Unix ms, like `lastSeen` */
    firstSeen: column.integer(),
    lastSeen: column.integer(),
  }),
  /** From where clients with a `limitIp` are connected at the cores of several panels, from the beginning of a use to its end. A row goes with its client. */
  live: table('addresses_live', {
    /** panel, client and network */
    id: column.key<string>(),
    /** value of WEIR_CLUSTER */
    panel: column.text(),
    clientId: column.integer(),
    network: column.text(),
    address: column.text(),
    /** Unix ms */
    since: column.integer(),
  }),
} as const;
export type AddressTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-seen',
    up: ({ integer }) => [
      `CREATE TABLE addresses_seen (
        client_id ${integer} NOT NULL, panel VARCHAR(64) NOT NULL, network VARCHAR(64) NOT NULL, address VARCHAR(64) NOT NULL,
        first_seen ${integer} NOT NULL, last_seen ${integer} NOT NULL,
        PRIMARY KEY (client_id, panel, network), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
      'CREATE INDEX addresses_seen_last ON addresses_seen (last_seen)',
    ],
  },
  {
    name: '0002-live',
    up: ({ integer }) => [
      `CREATE TABLE addresses_live (
        id VARCHAR(128) PRIMARY KEY, panel VARCHAR(32) NOT NULL, client_id ${integer} NOT NULL, network VARCHAR(64) NOT NULL, address VARCHAR(64) NOT NULL,
        since ${integer} NOT NULL, FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
];
