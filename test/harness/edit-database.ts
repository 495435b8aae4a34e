// Writes into the database of a panel that does not run: what a crash left there, or a hand that no API passed on.
import { Sequelize } from 'sequelize';
import { join } from 'node:path';
import { databaseOf } from './database.js';

/** Opens the database of this data folder beside its panel, for as long as `work` takes. */
export async function withDatabase<T>(
  dataDirectory: string,
  work: (sequelize: Sequelize) => Promise<T>,
): Promise<T> {
  const url = await databaseOf(dataDirectory);
  const sequelize =
    url === undefined
      ? new Sequelize({ dialect: 'sqlite', storage: join(dataDirectory, 'weir.sqlite'), logging: false })
      : new Sequelize(url, { logging: false });
  try {
    return await work(sequelize);
  } finally {
    await sequelize.close();
  }
}

export const editDatabase = (dataDirectory: string, statements: readonly string[]): Promise<void> =>
  withDatabase(dataDirectory, async (sequelize) => {
    for (const statement of statements) await sequelize.query(statement);
  });
