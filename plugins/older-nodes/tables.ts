import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export type NamedKind = 'inbound' | 'client';

export const tables = {
  /** By which name a node has an inbound (tag) or a client (email), stored before it is sent there: what is deleted here later must be found there. */
  names: table('older_nodes_names', {
    nodeId: column.key<number>('integer'),
    kind: column.key<NamedKind>(),
    id: column.key<number>('integer'),
    name: column.text(),
    /** the name before a rename that the node has not confirmed; blank for none */
    previous: column.text(),
    /** of a client: the last period that the node has begun; below 0 while it is not known to have taken it */
    period: column.integer(),
    /** digest of how the node showed it after it took it; blank until it was looked at */
    seen: column.text(),
  }),
  /** Whose counters are read, since when they are. */
  streams: table('older_nodes_streams', {
    nodeId: column.key<number>('integer'),
    guid: column.text(),
    epoch: column.text(),
  }),
  /** The counters of a node when they were last counted. */
  baselines: table('older_nodes_baselines', {
    nodeId: column.key<number>('integer'),
    clientId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
  /** What was counted since the epoch began; never falls. */
  totals: table('older_nodes_totals', {
    nodeId: column.key<number>('integer'),
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
} as const;
export type OlderTables = TableModels<typeof tables>;
export type NameRow = Row<typeof tables.names>;
export type StreamRow = Row<typeof tables.streams>;
export type BaselineRow = Row<typeof tables.baselines>;
export type TotalRow = Row<typeof tables.totals>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-nodes',
    up: ({ integer, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        `CREATE TABLE older_nodes_names (
          node_id ${integer} NOT NULL, kind VARCHAR(16) NOT NULL, id ${integer} NOT NULL, name VARCHAR(255) NOT NULL,
          previous VARCHAR(255) NOT NULL, period ${integer} NOT NULL, seen VARCHAR(32) NOT NULL,
          PRIMARY KEY (node_id, kind, id))${clustered}`,
        `CREATE TABLE older_nodes_streams (
          node_id ${integer} NOT NULL PRIMARY KEY, guid VARCHAR(64) NOT NULL, epoch VARCHAR(64) NOT NULL)`,
        `CREATE TABLE older_nodes_baselines (
          node_id ${integer} NOT NULL, client_id ${integer} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
          PRIMARY KEY (node_id, client_id))${clustered}`,
        `CREATE TABLE older_nodes_totals (
          node_id ${integer} NOT NULL, client_id ${integer} NOT NULL, inbound_id ${integer} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
          PRIMARY KEY (node_id, client_id, inbound_id))${clustered}`,
      ];
    },
  },
];
