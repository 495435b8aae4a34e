import { adoptionMigrations, adoptionTables } from './adoption/tables.js';
import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export type RecordKind = 'inbound' | 'client';

export const tables = {
  ...adoptionTables,
  /** What each node should have, by our ids. A row of a deleted record goes when the node has deleted it. */
  records: table('node_sync_records', {
    nodeId: column.key<number>('integer'),
    kind: column.key<RecordKind>(),
    id: column.key<number>('integer'),
    /** grows with each change */
    version: column.integer(),
    isGone: column.bool(),
    /** grows when the usage of the client starts again at zero */
    period: column.integer(),
    /** the node has not confirmed this version */
    isPending: column.bool(),
    /** why the node does not have it in force; blank when it has, or is not known to */
    refused: column.text(),
    /** of a record that is gone: what it stands for stays on the node, without a central */
    isReleased: column.bool(),
  }),
  /** How far the usage of a node is counted. */
  positions: table('node_sync_positions', {
    nodeId: column.key<number>('integer'),
    /** of the panel there; with another one it begins at zero */
    guid: column.text(),
    epoch: column.text(),
    seq: column.integer(),
    /** epochs before it, which are over and counted, as JSON: the node tells them until it knows that */
    past: column.text(),
  }),
  /** What a client used on a machine since its period began; node 0 is this one. */
  usage: table('node_sync_usage', {
    clientId: column.key<number>('integer'),
    nodeId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
} as const;
export type SyncTables = TableModels<typeof tables>;
export type RecordRow = Row<typeof tables.records>;
export type PositionRow = Row<typeof tables.positions>;
export type MachineUsageRow = Row<typeof tables.usage>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-records',
    up: ({ integer, bool, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        `CREATE TABLE node_sync_records (
          node_id ${integer} NOT NULL, kind VARCHAR(16) NOT NULL, id ${integer} NOT NULL, version ${integer} NOT NULL, is_gone ${bool} NOT NULL,
          period ${integer} NOT NULL, is_pending ${bool} NOT NULL, refused VARCHAR(1024) NOT NULL,
          PRIMARY KEY (node_id, kind, id))${clustered}`,
        // In the order in which they are sent, read backwards.
        'CREATE INDEX node_sync_records_pending ON node_sync_records (node_id, is_pending, is_gone, kind, id)',
        `CREATE TABLE node_sync_positions (
          node_id ${integer} NOT NULL PRIMARY KEY, guid VARCHAR(64) NOT NULL, epoch VARCHAR(64) NOT NULL, seq ${integer} NOT NULL)`,
        `CREATE TABLE node_sync_usage (
          client_id ${integer} NOT NULL, node_id ${integer} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
          PRIMARY KEY (client_id, node_id))${clustered}`,
      ];
    },
  },
  {
    name: '0002-past-epochs',
    up: () => ["ALTER TABLE node_sync_positions ADD COLUMN past VARCHAR(8192) NOT NULL DEFAULT '[]'"],
  },
  ...adoptionMigrations,
];
