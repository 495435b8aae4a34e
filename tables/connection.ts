// The drivers' connections, as far as the kernel uses them.

type Done = (error: Error | null) => void;
export interface SqliteConnection {
  exec(sql: string, done: Done): void;
  close(done: Done): void;
}
export interface MysqlConnection {
  query(sql: string, done: (error: Error | null, rows: readonly Record<string, unknown>[]) => void): void;
}
export type Connection = SqliteConnection | MysqlConnection;

/** Runs one statement that returns no rows. */
export const execute = (connection: Connection, sql: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const done: Done = (error) => (error ? reject(error) : resolve());
    if ('exec' in connection) connection.exec(sql, done);
    else connection.query(sql, done);
  });
