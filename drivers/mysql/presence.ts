// Who uses a database on Galera, where named locks are those of one server: each panel has a row and counts it up while it
// lives. Nobody compares clocks: who wants the place of another one watches whether that one still counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryTypes, type Sequelize } from 'sequelize';
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { DatabaseTaken } from './database-taken.js';
import { isGalera } from './galera.js';
import { runQuery } from './query.js';

const TABLE =
  'CREATE TABLE kernel_presence (name VARCHAR(32) NOT NULL PRIMARY KEY, boot VARCHAR(36) NOT NULL, beat BIGINT NOT NULL)';
const BEAT_MS = 2_000;
/** A panel that has not counted for so long is taken for dead. */
const WATCH_MS = 10_000;
/** A panel that has not counted for so long counts before it writes, as it may have been paused. */
const DOUBT_MS = 6_000;
const LOOK_MS = 500;
/** Until others may migrate. */
const IDLE_MS = 2_000;
/** of a panel that is alone */
const ALONE = '';
/** Names of panels have no asterisk. All that enter change this row, so of two that do at once only one succeeds. */
const DOOR = '*door';
const MIGRATIONS = '*migrations';
/** The transaction was rolled back for another server's, or the row already exists. */
const ANOTHER_WAS_FIRST = new Set([1213, 1205, 1062, 1020]);
const NO_SUCH_TABLE = 1146;

interface Row {
  readonly name: string;
  readonly boot: string;
  readonly beat: number;
}
const errnoOf = (error: unknown): number => (error as { errno?: number }).errno ?? 0;
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const matches = ({ name, boot, beat }: Row): string =>
  `name = ${quoted(name)} AND boot = ${quoted(boot)} AND beat = ${beat}`;

async function rowsOf(connection: MysqlConnection): Promise<Row[]> {
  const rows = await runQuery(connection, 'SELECT name, boot, beat FROM kernel_presence');
  return rows.map(({ name, boot, beat }) => ({
    name: String(name),
    boot: String(boot),
    beat: Number(beat),
  }));
}

/** Resolves with those of `rows` that count while they are watched. */
async function living(connection: MysqlConnection, rows: readonly Row[]): Promise<Row[]> {
  for (const deadline = performance.now() + WATCH_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
    const now = await rowsOf(connection);
    const alive = rows.filter((row) =>
      now.some(({ name, boot, beat }) => name === row.name && boot === row.boot && beat !== row.beat),
    );
    if (alive.length > 0) return alive;
    if (rows.every((row) => !now.some(({ name, boot }) => name === row.name && boot === row.boot))) break;
  }
  return [];
}

const isPanel = ({ name }: Row): boolean => !name.startsWith('*');
const sentenceOf = (name: string): string =>
  name === ALONE
    ? 'another panel holds it, on another server of the cluster; stop that one or give this one a database of its own (WEIR_DATABASE_URL)'
    : `the panel ${name} uses it, one of several (WEIR_CLUSTER)`;

/** Rejects while a panel uses the database, on whichever server of it. */
export async function requireNobody(connection: MysqlConnection): Promise<void> {
  if (!(await isGalera(connection))) return;
  const rows = await rowsOf(connection).catch((): Row[] => []);
  const [one] = await living(connection, rows.filter(isPanel));
  if (one) throw new DatabaseTaken(sentenceOf(one.name));
}

export class Presence {
  readonly #sequelize: Sequelize;
  readonly #boot: string;
  readonly #name: string;
  #beatAt = 0;
  #hasEntered = false;
  #isLost = false;
  #timer: NodeJS.Timeout | undefined;
  #release: NodeJS.Timeout | undefined;
  #migrates = false;

  constructor(sequelize: Sequelize, boot: string, member: string | undefined) {
    this.#sequelize = sequelize;
    this.#boot = boot;
    this.#name = member ?? ALONE;
  }

  /** Takes the place of this panel, or finds that it still has it. Rejects while another panel is in its way. Does nothing on a server alone. */
  async claim(connection: MysqlConnection): Promise<void> {
    if (!(await isGalera(connection))) return;
    if (this.#hasEntered) return this.confirm(connection, true);
    for (;;) {
      const rows = await rowsOf(connection).catch(async (error: unknown): Promise<Row[]> => {
        if (errnoOf(error) !== NO_SUCH_TABLE) throw error;
        await execute(connection, TABLE.replace('TABLE', 'TABLE IF NOT EXISTS'));
        return [];
      });
      const rivals = rows.filter(
        (row) => isPanel(row) && (this.#name === ALONE || row.name === ALONE || row.name === this.#name),
      );
      const [alive] = await living(connection, rivals);
      if (alive) throw new DatabaseTaken(this.#inTheWay(alive.name));
      if (await this.#enter(connection, rivals, this.#name)) break;
    }
    this.#hasEntered = true;
    this.#beatAt = performance.now();
    this.#timer = setInterval(() => void this.#beat().catch(() => undefined), BEAT_MS);
    this.#timer.unref();
  }

  #inTheWay(name: string): string {
    if (name === this.#name && name !== ALONE)
      return `another process has the name ${name} (WEIR_CLUSTER); give each panel a name of its own`;
    if (name === ALONE && this.#name !== ALONE)
      return 'a panel without WEIR_CLUSTER uses it; stop that one, and start it again with a name of its own';
    return sentenceOf(name);
  }

  /** Puts a row in the place of dead ones, which must not have changed; returns false where another panel was first. */
  async #enter(connection: MysqlConnection, dead: readonly Row[], name: string): Promise<boolean> {
    const boot = quoted(this.#boot);
    try {
      await execute(connection, 'START TRANSACTION');
      await execute(
        connection,
        `INSERT INTO kernel_presence VALUES ('${DOOR}', '', 1) ON DUPLICATE KEY UPDATE beat = beat + 1`,
      );
      for (const row of dead) await execute(connection, `DELETE FROM kernel_presence WHERE ${matches(row)}`);
      const left = (await rowsOf(connection)).filter(isPanel);
      const isFree =
        name === MIGRATIONS || !left.some((row) => name === ALONE || row.name === ALONE || row.name === name);
      if (isFree)
        await execute(connection, `INSERT INTO kernel_presence VALUES (${quoted(name)}, ${boot}, 1)`);
      await execute(connection, isFree ? 'COMMIT' : 'ROLLBACK');
      return isFree;
    } catch (error) {
      await execute(connection, 'ROLLBACK').catch(() => undefined);
      if (!ANOTHER_WAS_FIRST.has(errnoOf(error))) throw error;
      return false;
    }
  }

  /** Counts, also for the migrations that this panel runs. */
  #statement(): string {
    return `UPDATE kernel_presence SET beat = beat + 1 WHERE name IN (${quoted(this.#name)}, '${MIGRATIONS}') AND boot = ${quoted(this.#boot)}`;
  }

  async #beat(): Promise<void> {
    const at = performance.now();
    this.#counted(await this.#sequelize.query(this.#statement(), { type: QueryTypes.BULKUPDATE }), at);
  }

  #counted(rows: number, at: number): void {
    if (rows === 0) this.#isLost = true;
    else this.#beatAt = at;
  }

  /** Rejects when another panel has taken the place of this one, which was paused or cut off. */
  async confirm(connection: MysqlConnection, isSure = false): Promise<void> {
    if (!this.#hasEntered) return;
    const at = performance.now();
    if (!this.#isLost && (isSure || at - this.#beatAt > DOUBT_MS)) {
      const answer = (await runQuery(connection, this.#statement())) as unknown as { affectedRows: number };
      this.#counted(answer.affectedRows, at);
    }
    if (this.#isLost)
      throw new DatabaseTaken(
        'this panel was paused or cut off, and another panel has taken its place meanwhile; restart this one',
      );
  }

  /** Runs `work` while no panel on another server does; on a server alone, at once. Works that follow each other closely are one turn: panels that start at once have hundreds of migrations. */
  async exclusively<T>(connection: MysqlConnection, work: () => Promise<T>): Promise<T> {
    if (!this.#hasEntered) return work();
    clearTimeout(this.#release);
    while (!this.#migrates) {
      const held = (await rowsOf(connection)).filter(({ name }) => name === MIGRATIONS);
      if ((await living(connection, held)).length > 0) await sleep(LOOK_MS);
      else this.#migrates = await this.#enter(connection, held, MIGRATIONS);
    }
    try {
      return await work();
    } finally {
      this.#release = setTimeout(() => void this.#endMigrations(), IDLE_MS);
      this.#release.unref();
    }
  }

  /** Not on the connection that writes, which may be in a transaction. */
  async #endMigrations(): Promise<void> {
    this.#migrates = false;
    await this.#sequelize.query(this.#leaving(MIGRATIONS)).catch(() => undefined);
  }

  #leaving(name: string): string {
    return `DELETE FROM kernel_presence WHERE name = ${quoted(name)} AND boot = ${quoted(this.#boot)}`;
  }

  /** Frees the place. */
  async close(connection: MysqlConnection | undefined): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#release);
    if (!connection || !this.#hasEntered) return;
    for (const name of [MIGRATIONS, this.#name])
      await execute(connection, this.#leaving(name)).catch(() => undefined);
  }
}
