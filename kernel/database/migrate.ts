// Migrations per plugin, up only, with one history. Before the first pending one the database is backed up.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { Log } from '../log/log.js';
import { execute } from '../../tables/connection.js';
import type { Connections } from './connect.js';
import type { ColumnTypes } from '../../tables/dialect.js';

export interface Migration {
  /** `0001-clients`; never changes after a release, nor does its text */
  readonly name: string;
  /** Statements in order, for every dialect. Write REFERENCES as a FOREIGN KEY of the table: MySQL ignores it on columns. Never read the current table declaration, or the second release fails on new installations. */
  readonly up: (types: ColumnTypes) => readonly string[];
  /** Where it takes away what an older panel of the same database uses: the version since which nothing uses it. No panel older than that may run then. */
  readonly unusedSince?: string;
}

const HISTORY =
  'CREATE TABLE IF NOT EXISTS kernel_migrations (plugin VARCHAR(64) NOT NULL, name VARCHAR(128) NOT NULL, ran_at BIGINT NOT NULL, PRIMARY KEY (plugin, name))';

export class Migrations {
  readonly #connections: Connections;
  readonly #sequelize: Sequelize;
  readonly #log: Log;
  #ranBefore: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined;
  #backedUp = false;

  constructor(connections: Connections, log: Log) {
    this.#connections = connections;
    this.#sequelize = connections.sequelize;
    this.#log = log;
  }

  /** Runs the pending migrations of one plugin, in the declared order; on SQLite each migration is all or nothing, on MySQL the next start continues after the last finished statement. */
  async run(plugin: string, migrations: readonly Migration[]): Promise<void> {
    const ran = (await this.#history()).get(plugin);
    const pending = migrations.filter(({ name }) => !ran?.has(name));
    if (pending.length > 0) await this.#backUpFirst();
    for (const { name, up } of pending) {
      const done = `INSERT INTO kernel_migrations (plugin, name, ran_at) VALUES (${this.#sequelize.escape(plugin)}, ${this.#sequelize.escape(name)}, ${Date.now()})`;
      await this.#connections.applyMigration(plugin, name, up(this.#connections.types), done);
      this.#log.info('migrated', { plugin, migration: name });
    }
  }

  /** The migrations that had run before this start, by plugin. */
  #history(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return (this.#ranBefore ??= this.#readHistory());
  }

  async #readHistory(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    await execute(await this.#connections.writer(), HISTORY);
    const rows = await this.#sequelize.query<{ plugin: string; name: string }>(
      'SELECT plugin, name FROM kernel_migrations',
      { type: QueryTypes.SELECT },
    );
    const ran = new Map<string, Set<string>>();
    for (const { plugin, name } of rows) ran.set(plugin, (ran.get(plugin) ?? new Set()).add(name));
    return ran;
  }

  /** A new database needs no backup. */
  async #backUpFirst(): Promise<void> {
    if (this.#backedUp) return;
    this.#backedUp = true;
    if ((await this.#history()).size > 0) await this.#connections.backUp(this.#log);
  }
}
