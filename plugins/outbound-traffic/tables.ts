import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** The bytes of each outbound. Of a panel alone, with the reading of the core's counter that they include: one row, so never one without the other. */
  outbounds: table('outbound_traffic', {
    id: column.id(),
    /** SHA-256 of the tag: MySQL compares texts without case, and long ones cannot be a key */
    hash: column.text(),
    tag: column.text(),
    up: column.integer(),
    down: column.integer(),
    /** the core process of the reading; a counter of another process began at zero. Blank: `readings` have it */
    epoch: column.text(),
    readUp: column.integer(),
    readDown: column.integer(),
    /** 1: an admin removed it. It stays as long as its core may have its counter, or the counter would count again. */
    isRemoved: column.integer(),
  }),
  /** The last readings of the cores of several panels. */
  readings: table('outbound_readings', {
    /** value of WEIR_CLUSTER */
    panel: column.key<string>(),
    hash: column.key<string>(),
    tag: column.text(),
    epoch: column.text(),
    up: column.integer(),
    down: column.integer(),
  }),
} as const;
export type OutboundTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-outbounds',
    up: ({ id, integer, text }) => [
      `CREATE TABLE outbound_traffic (
        id ${id}, hash VARCHAR(64) NOT NULL UNIQUE, tag ${text} NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
        epoch VARCHAR(128) NOT NULL, read_up ${integer} NOT NULL, read_down ${integer} NOT NULL, is_removed ${integer} NOT NULL)`,
    ],
  },
  {
    name: '0002-readings',
    up: ({ integer, text }) => [
      `CREATE TABLE outbound_readings (
        panel VARCHAR(32) NOT NULL, hash VARCHAR(64) NOT NULL, tag ${text} NOT NULL, epoch VARCHAR(128) NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
        PRIMARY KEY (panel, hash))`,
    ],
  },
];
