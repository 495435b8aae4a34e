import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** The token of /metrics: one row, or none. */
  token: table('metrics_token', {
    id: column.key<number>('integer'),
    /** SHA-256; the token itself is stored nowhere */
    digest: column.text(),
    /** Unix ms */
    createdAt: column.integer(),
  }),
} as const;
export type MetricTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-token',
    up: ({ integer }) => [
      `CREATE TABLE metrics_token (id ${integer} NOT NULL PRIMARY KEY, digest VARCHAR(64) NOT NULL, created_at ${integer} NOT NULL)`,
    ],
  },
];
