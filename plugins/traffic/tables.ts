import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** The last reading of each of the core's counters; it goes with its client. */
  baselines: table('traffic_baselines', {
    clientId: column.key<number>('integer'),
    inboundId: column.key<number>('integer'),
    /** the core process; a counter of another process began at zero */
    epoch: column.text(),
    /** bytes since that process started */
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
];
