// Writes into the database file of a panel that does not run: what a crash left there, or a hand that no API passed on.
import { join } from 'node:path';
import sqlite3 from 'sqlite3';

export async function editDatabase(dataDirectory: string, statements: readonly string[]): Promise<void> {
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(join(dataDirectory, 'weir.sqlite'), sqlite3.OPEN_READWRITE, (error) => (error ? reject(error) : resolve(opened)));
  });
  for (const statement of statements) await new Promise<void>((resolve, reject) => database.run(statement, (error) => (error ? reject(error) : resolve())));
  await new Promise<void>((resolve, reject) => database.close((error) => (error ? reject(error) : resolve())));
}
