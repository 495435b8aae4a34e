// Runs a migration on MySQL. The server commits implicitly around every statement that changes a table, so a crash leaves
// a migration half done. The number of finished statements is stored, and the next start continues there.
import { QueryTypes, type Sequelize } from 'sequelize';
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { messageOf } from '../../kernel/errors/errors.js';

const STEPS =
  'CREATE TABLE IF NOT EXISTS kernel_migration_steps (plugin VARCHAR(64) NOT NULL, name VARCHAR(128) NOT NULL, begun BIGINT NOT NULL, done BIGINT NOT NULL, PRIMARY KEY (plugin, name))';
const COMMITS_BY_ITSELF = /^\s*(?:CREATE|ALTER|DROP|RENAME|TRUNCATE)\b/i;
/** Errors of a statement that had run when the panel crashed before it could record that: the table, column or index already exists, or is gone. */
const DONE_ALREADY = new Set([1050, 1051, 1060, 1061, 1091, 1826]);

interface Pending {
  readonly plugin: string;
  readonly name: string;
  readonly statements: readonly string[];
  /** statement that adds the migration to the history */
  readonly record: string;
}

export async function applyInSteps(
  sequelize: Sequelize,
  connection: MysqlConnection,
  { plugin, name, statements, record }: Pending,
): Promise<void> {
  await execute(connection, STEPS);
  const key = { plugin: sequelize.escape(plugin), name: sequelize.escape(name) };
  const mark = (begun: number, done: number) =>
    `REPLACE INTO kernel_migration_steps (plugin, name, begun, done) VALUES (${key.plugin}, ${key.name}, ${begun}, ${done})`;
  const together = async (...all: string[]) => {
    for (const sql of ['START TRANSACTION', ...all, 'COMMIT']) await execute(connection, sql);
  };
  const [before = { begun: 0, done: 0 }] = await sequelize.query<{ begun: number; done: number }>(
    `SELECT begun, done FROM kernel_migration_steps WHERE plugin = ${key.plugin} AND name = ${key.name}`,
    { type: QueryTypes.SELECT },
  );
  let done = before.done;
  try {
    for (const statement of statements.slice(before.done)) {
      if (COMMITS_BY_ITSELF.test(statement)) {
        await execute(connection, mark(done + 1, done));
        await execute(connection, statement).catch((error: unknown) => {
          const perhapsDone = done === before.done && before.begun > before.done;
          if (!perhapsDone || !DONE_ALREADY.has((error as { errno?: number }).errno ?? 0)) throw error;
        });
        await execute(connection, mark(done + 1, done + 1));
      } else await together(statement, mark(done + 1, done + 1));
      done++;
    }
    await together(
      record,
      `DELETE FROM kernel_migration_steps WHERE plugin = ${key.plugin} AND name = ${key.name}`,
    );
  } catch (cause) {
    await execute(connection, 'ROLLBACK').catch(() => undefined);
    await execute(connection, mark(done, done)).catch(() => undefined);
    throw new Error(
      `migration ${name} of plugin ${plugin} failed at statement ${done + 1}; the statements before it are done and will not run again: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Whether another panel has run the migration since this one read the history. */
export async function hasRun(sequelize: Sequelize, plugin: string, name: string): Promise<boolean> {
  const rows = await sequelize.query<{ name: string }>(
    'SELECT name FROM kernel_migrations WHERE plugin = :plugin AND name = :name',
    { type: QueryTypes.SELECT, replacements: { plugin, name } },
  );
  return rows.length > 0;
}
