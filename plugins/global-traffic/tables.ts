import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** What another panel counted for a client. A row goes with its client. */
  totals: table('global_traffic', {
    clientId: column.key<number>('integer'),
    /** guid of that panel */
    masterGuid: column.key<string>(),
    /** bytes since its last reset */
    up: column.integer(),
    down: column.integer(),
    /** Unix ms */
    updatedAt: column.integer(),
  }),
} as const;
export type GlobalTrafficTables = TableModels<typeof tables>;
export type TotalRow = Row<typeof tables.totals>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-totals',
    up: ({ integer }) => [
      `CREATE TABLE global_traffic (
        client_id ${integer} NOT NULL, master_guid VARCHAR(64) NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL, updated_at ${integer} NOT NULL,
        PRIMARY KEY (client_id, master_guid), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
      'CREATE INDEX global_traffic_updated ON global_traffic (updated_at)',
    ],
  },
];
