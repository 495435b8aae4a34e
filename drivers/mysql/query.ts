// Runs one query on one connection.
import type { MysqlConnection } from '../../tables/connection.js';

export type Rows = readonly Record<string, unknown>[];
export const runQuery = (connection: MysqlConnection, sql: string): Promise<Rows> =>
  new Promise((resolve, reject) =>
    connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows))),
  );
