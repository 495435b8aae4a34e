import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** The last reading of each of the core's counters, without those in `readings`; it goes with its client. */
  baselines: table('traffic_baselines', {
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    /** the core process; a counter of another process began at zero */
    epoch: column.text(),
    /** bytes since that process started */
    up: column.integer(),
    down: column.integer(),
  }),
  /** The readings of the last polls, one row each: a row for each counter took half of the time of a poll. */
  readings: table('traffic_readings', {
    /** in the order of the polls */
    number: column.id(),
    epoch: column.text(),
    /** JSON: `[clientId, inboundId, up, down]` of each counter that moved */
    counters: column.text(),
  }),
  /** The last reading of each counter beside the core's; it goes with its client. */
  streams: table('traffic_streams', {
    stream: column.key<string>('text'),
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    epoch: column.text(),
    up: column.integer(),
    down: column.integer(),
  }),
} as const;
export type TrafficTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-baselines',
    up: ({ integer }) => [
      `CREATE TABLE traffic_baselines (
        client_id ${integer} NOT NULL, inbound_id ${integer} NOT NULL, epoch VARCHAR(128) NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
        PRIMARY KEY (client_id, inbound_id), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
  {
    name: '0002-readings',
    up: ({ id, text }) => [
      `CREATE TABLE traffic_readings (number ${id}, epoch VARCHAR(128) NOT NULL, counters ${text} NOT NULL)`,
    ],
  },
  {
    name: '0003-streams',
    up: ({ integer }) => [
      `CREATE TABLE traffic_streams (
        stream VARCHAR(100) NOT NULL, client_id ${integer} NOT NULL, inbound_id ${integer} NOT NULL, epoch VARCHAR(128) NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
        PRIMARY KEY (stream, client_id, inbound_id), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
];
