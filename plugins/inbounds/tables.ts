import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import { inboundRecord } from './fields.js';

export const tables = {
  inbounds: table('inbounds', { id: column.id(), ...inboundRecord.columns }),
  /** bytes; an inbound that moved none has no row */
  usage: table('inbound_usage', {
    inboundId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
  }),
} as const;
export type InboundTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-inbounds',
    up: ({ id, integer, bool, json }) => [
      `CREATE TABLE inbounds (
        id ${id}, enable ${bool} NOT NULL, remark VARCHAR(255) NOT NULL, listen VARCHAR(255) NOT NULL, port ${integer} NOT NULL, protocol VARCHAR(32) NOT NULL, tag VARCHAR(128) NOT NULL UNIQUE,
        expiry_time ${integer} NOT NULL, total ${integer} NOT NULL, disable_flow ${bool} NOT NULL, share_addr VARCHAR(255) NOT NULL, share_addr_strategy VARCHAR(16) NOT NULL, sub_sort_index ${integer} NOT NULL,
        traffic_reset VARCHAR(16) NOT NULL, traffic_reset_day ${integer} NOT NULL, last_traffic_reset_time ${integer} NOT NULL,
        settings ${json} NOT NULL, stream_settings ${json} NOT NULL, sniffing ${json} NOT NULL)`,
      'CREATE INDEX inbounds_port ON inbounds (port)',
      // Written every few seconds, apart from what an admin edits. Outlives nothing: it goes with its inbound.
      `CREATE TABLE inbound_usage (inbound_id ${integer} PRIMARY KEY, up ${integer} NOT NULL, down ${integer} NOT NULL, FOREIGN KEY (inbound_id) REFERENCES inbounds (id) ON DELETE CASCADE)`,
    ],
  },
  {
    name: '0002-limits',
    // Periods of the inbounds that are there count from now on, or the first look would reset them all.
    up: ({ integer, dialect }) => [
      'ALTER TABLE inbounds ADD COLUMN depleted_cause VARCHAR(8)',
      `ALTER TABLE inbounds ADD COLUMN counted_since ${integer} NOT NULL DEFAULT 0`,
      `UPDATE inbounds SET counted_since = ${dialect === 'sqlite' ? "CAST(strftime('%s', 'now') AS INTEGER)" : 'UNIX_TIMESTAMP()'} * 1000`,
    ],
  },
  {
    name: '0003-nodes',
    up: ({ integer }) => [`ALTER TABLE inbounds ADD COLUMN node_id ${integer}`],
  },
  {
    name: '0004-origins',
    up: () => ["ALTER TABLE inbounds ADD COLUMN origin_guid VARCHAR(64) NOT NULL DEFAULT ''"],
  },
];
