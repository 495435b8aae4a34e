// Writes into the database of a panel that does not run: what a crash left there, or a hand that no API passed on.
import { Sequelize } from 'sequelize';
import { join } from 'node:path';
import { databaseOf } from './database.js';

export async function editDatabase(dataDirectory: string, statements: readonly string[]): Promise<void> {
  const url = await databaseOf(dataDirectory);
  const sequelize =
    url === undefined
      ? new Sequelize({ dialect: 'sqlite', storage: join(dataDirectory, 'weir.sqlite'), logging: false })
      : new Sequelize(url, { logging: false });
  try {
    for (const statement of statements) await sequelize.query(statement);
  } finally {
    await sequelize.close();
  }
}
