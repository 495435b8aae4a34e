// What was adopted from nodes, what was not and why, and how far an adoption has come.
import { column, type Migration, type Row, table } from '../../../kernel/index.js';

export const adoptionTables = {
  /** Inbounds of this panel that a node had before. */
  adopted: table('node_sync_adopted', {
    inboundId: column.key<number>('integer'),
    nodeId: column.integer(),
    /** its id at the node */
    remoteId: column.integer(),
    /** its tag here and there when it was adopted: here it may have a prefix, and there it keeps its own */
    tag: column.text(),
    remoteTag: column.text(),
    /** the machine below the node that runs it; blank where the node does */
    originGuid: column.text(),
    originAddress: column.text(),
    /** clients of the node up to this id there are taken */
    clientsAfter: column.integer(),
    /** all of it is here, and the node may be told */
    isDone: column.bool(),
    /** its fallbacks lead where this panel cannot follow: the node keeps them until they are set here */
    keepsFallbacks: column.bool(),
  }),
  /** What stays as it is on the node, and why. */
  left: table('node_sync_left', {
    nodeId: column.key<number>('integer'),
    kind: column.key<string>(),
    remoteId: column.key<number>('integer'),
    name: column.text(),
    reason: column.text(),
  }),
  /** What was counted of adopted clients when they were read, until the node has their record. */
  taken: table('node_sync_taken', {
    nodeId: column.key<number>('integer'),
    clientId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
  /** Nodes that this panel has talked to. */
  met: table('node_sync_met', {
    nodeId: column.key<number>('integer'),
    guid: column.text(),
  }),
} as const;
export type AdoptedRow = Row<typeof adoptionTables.adopted>;
export type LeftRow = Row<typeof adoptionTables.left>;

export const adoptionMigrations: readonly Migration[] = [
  {
    name: '0003-adoption',
    up: ({ integer, bool, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        `CREATE TABLE node_sync_adopted (
          inbound_id ${integer} NOT NULL PRIMARY KEY, node_id ${integer} NOT NULL, remote_id ${integer} NOT NULL,
          tag VARCHAR(128) NOT NULL, remote_tag VARCHAR(128) NOT NULL, origin_guid VARCHAR(64) NOT NULL, origin_address VARCHAR(255) NOT NULL,
          clients_after ${integer} NOT NULL, is_done ${bool} NOT NULL, keeps_fallbacks ${bool} NOT NULL, UNIQUE (node_id, remote_id))`,
        `CREATE TABLE node_sync_left (
          node_id ${integer} NOT NULL, kind VARCHAR(16) NOT NULL, remote_id ${integer} NOT NULL, name VARCHAR(255) NOT NULL, reason VARCHAR(1024) NOT NULL,
          PRIMARY KEY (node_id, kind, remote_id))${clustered}`,
        `CREATE TABLE node_sync_taken (
          node_id ${integer} NOT NULL, client_id ${integer} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
          PRIMARY KEY (node_id, client_id))${clustered}`,
        `CREATE TABLE node_sync_met (node_id ${integer} NOT NULL PRIMARY KEY, guid VARCHAR(64) NOT NULL)`,
        `ALTER TABLE node_sync_records ADD COLUMN is_released ${bool} NOT NULL DEFAULT ${dialect === 'sqlite' ? 0 : 'FALSE'}`,
      ];
    },
  },
];
