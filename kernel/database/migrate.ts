// Migrations per plugin, up only, with one ledger. Before the first pending one the database is copied.
import { QueryTypes, type Sequelize } from 'sequelize';
import { Umzug } from 'umzug';
import type { Log } from '../log/log.js';
import { type Connections, execute } from './connect.js';
import type { ColumnTypes } from './dialect.js';

export interface Migration {
  /** `0001-clients`; frozen together with its text once released */
  readonly name: string;
  /** Statements in order, for every dialect; REFERENCES as a FOREIGN KEY of the table, for MySQL passes over those of a column in silence. They never read the live table declaration, or the second release fails on new installations. */
  readonly up: (types: ColumnTypes) => readonly string[];
}

const LEDGER =
  'CREATE TABLE IF NOT EXISTS kernel_migrations (plugin VARCHAR(64) NOT NULL, name VARCHAR(128) NOT NULL, ran_at BIGINT NOT NULL, PRIMARY KEY (plugin, name))';

export class Migrations {
  readonly #connections: Connections;
  readonly #sequelize: Sequelize;
  readonly #log: Log;
  #copied = false;

  constructor(connections: Connections, log: Log) {
    this.#connections = connections;
    this.#sequelize = connections.sequelize;
    this.#log = log;
  }

  /** Runs what is pending of one plugin; on SQLite each migration is all or nothing. */
  async run(plugin: string, migrations: readonly Migration[]): Promise<void> {
    await execute(await this.#connections.writer(), LEDGER);
    const umzug = new Umzug({
      migrations: migrations.map(({ name, up }) => ({
        name,
        up: () => this.#apply(plugin, name, up(this.#connections.types)),
      })),
      storage: {
        executed: async () =>
          (
            await this.#sequelize.query<{ name: string }>(
              'SELECT name FROM kernel_migrations WHERE plugin = :plugin',
              {
                replacements: { plugin },
                type: QueryTypes.SELECT,
              },
            )
          ).map((row) => row.name),
        // #apply writes the ledger in the migration's own transaction.
        logMigration: async () => undefined,
        unlogMigration: async () => undefined,
      },
      logger: undefined,
    });
    if ((await umzug.pending()).length === 0) return;
    await this.#copyFirst();
    for (const { name } of await umzug.up()) this.#log.info('migrated', { plugin, migration: name });
  }

  async #apply(plugin: string, name: string, statements: readonly string[]): Promise<void> {
    const done = `INSERT INTO kernel_migrations (plugin, name, ran_at) VALUES (${this.#sequelize.escape(plugin)}, ${this.#sequelize.escape(name)}, ${Date.now()})`;
    if (this.#connections.applyMigration)
      return this.#connections.applyMigration(plugin, name, statements, done);
    const connection = await this.#connections.begin();
    try {
      for (const statement of [...statements, done]) await execute(connection, statement);
      await execute(connection, 'COMMIT');
    } catch (cause) {
      await execute(connection, 'ROLLBACK').catch(() => undefined);
      throw new Error(
        `migration ${name} of plugin ${plugin} failed, nothing of it was kept: ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  /** A new database needs no copy. */
  async #copyFirst(): Promise<void> {
    if (this.#copied) return;
    this.#copied = true;
    const [{ ran } = { ran: 0 }] = await this.#sequelize.query<{ ran: number }>(
      'SELECT COUNT(*) AS ran FROM kernel_migrations',
      { type: QueryTypes.SELECT },
    );
    if (ran > 0) await this.#connections.keepCopy(this.#log);
  }
}
