import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export type RecordKind = 'inbound' | 'client';

export const tables = {
  /** Panels that manage this one. */
  centrals: table('node_agent_centrals', {
    id: column.id(),
    guid: column.text(),
    /** Unix ms */
    seenAt: column.integer(),
    /** what it has taken of the epoch `ackedEpoch` */
    ackedEpoch: column.text(),
    ackedSeq: column.integer(),
  }),
  /** What a central wants, by its ids. A record that it deleted stays, so that no late message brings it back. */
  records: table('node_agent_records', {
    central: column.key<number>('integer'),
    kind: column.key<RecordKind>(),
    id: column.key<number>('integer'),
    version: column.integer(),
    /** id here; 0 before there is one. It stays after a deletion: its last bytes are still on their way. */
    localId: column.integer(),
    isGone: column.bool(),
    /** why it is not what the central wants; blank when it is */
    refused: column.text(),
    /** it was changed here after the central's last change */
    isDrifted: column.bool(),
    /** guid of another central that claims it; blank for none */
    contestedBy: column.text(),
    /** of a client: where the central wants it, as `,1,7,`, by the central's ids */
    inboundIds: column.text(),
    /** the first of these that is not here; -1: it is refused for another reason; 0: neither */
    waitsFor: column.integer(),
    /** the negative expiry that the central gave it last, or 0 */
    startedFrom: column.integer(),
    /** the period of its usage, as the central counts them */
    period: column.integer(),
    /** the value, as JSON, while it is refused: it is tried again; else blank */
    wanted: column.text(),
    /** groups the records for comparison */
    bucket: column.integer(),
    /** Unix ms */
    changedAt: column.integer(),
  }),
  /** Usage that is not among the totals yet: a row for each poll, or sums of some. */
  journal: table('node_agent_journal', {
    number: column.id(),
    epoch: column.integer(),
    isSummed: column.bool(),
    /** JSON: `[clientId, inboundId, up, down]`, ids of this panel */
    entries: column.text(),
  }),
  /** What a client moved through an inbound since the beginning of an epoch, by the ids of its central. */
  usage: table('node_agent_usage', {
    central: column.key<number>('integer'),
    epoch: column.key<number>('integer'),
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    up: column.integer(),
    down: column.integer(),
    /** of its last change */
    seq: column.integer(),
  }),
  /** The epochs whose totals are kept; the last one is current. */
  epochs: table('node_agent_epochs', {
    number: column.id(),
    epoch: column.text(),
    /** the bytes of the next poll may have been told in an earlier epoch */
    skipsPoll: column.bool(),
    /** the last that was given */
    seq: column.integer(),
    /** agrees with the file, or another database is in its place */
    generation: column.text(),
  }),
} as const;
export type AgentTables = TableModels<typeof tables>;
export type CentralRow = Row<typeof tables.centrals>;
export type RecordRow = Row<typeof tables.records>;
export type EpochRow = Row<typeof tables.epochs>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-agent',
    up: ({ id, integer, bool, text, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        `CREATE TABLE node_agent_centrals (
          id ${id}, guid VARCHAR(64) NOT NULL UNIQUE, seen_at ${integer} NOT NULL,
          acked_epoch VARCHAR(36) NOT NULL, acked_seq ${integer} NOT NULL)`,
        `CREATE TABLE node_agent_records (
          central ${integer} NOT NULL, kind VARCHAR(16) NOT NULL, id ${integer} NOT NULL, version ${integer} NOT NULL,
          local_id ${integer} NOT NULL, is_gone ${bool} NOT NULL, refused VARCHAR(1024) NOT NULL, is_drifted ${bool} NOT NULL,
          contested_by VARCHAR(64) NOT NULL, inbound_ids ${text} NOT NULL, waits_for ${integer} NOT NULL, started_from ${integer} NOT NULL,
          period ${integer} NOT NULL, wanted ${text} NOT NULL, bucket ${integer} NOT NULL, changed_at ${integer} NOT NULL,
          PRIMARY KEY (central, kind, id))${clustered}`,
        'CREATE INDEX node_agent_records_local ON node_agent_records (kind, local_id)',
        'CREATE INDEX node_agent_records_bucket ON node_agent_records (central, bucket)',
        'CREATE INDEX node_agent_records_waiting ON node_agent_records (central, kind, waits_for)',
        `CREATE TABLE node_agent_journal (number ${id}, epoch ${integer} NOT NULL, is_summed ${bool} NOT NULL, entries ${text} NOT NULL)`,
        `CREATE TABLE node_agent_usage (
          central ${integer} NOT NULL, epoch ${integer} NOT NULL, client_id ${integer} NOT NULL, inbound_id ${integer} NOT NULL,
          up ${integer} NOT NULL, down ${integer} NOT NULL, seq ${integer} NOT NULL,
          PRIMARY KEY (central, epoch, client_id, inbound_id))${clustered}`,
        'CREATE INDEX node_agent_usage_seq ON node_agent_usage (central, epoch, seq)',
        `CREATE TABLE node_agent_epochs (
          number ${id}, epoch VARCHAR(36) NOT NULL, skips_poll ${bool} NOT NULL, seq ${integer} NOT NULL, generation VARCHAR(36) NOT NULL)`,
      ];
    },
  },
];
