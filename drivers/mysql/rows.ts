// All rows of a database on a server, read or written on a connection of their own.
import type { Connection as CallbackConnection } from 'mysql2';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';

type Value = string | number | Buffer | null;
type Row = Readonly<Record<string, Value>>;
interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

const SLICE_ROWS = 500;
/** Servers refuse packets of more than 16 MiB by default; a character takes up to 4 bytes. */
const PACKET_CHARACTERS = 1024 * 1024;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Opens a connection of its own, which speaks SQL as the panel's connections do. */
export async function open(url: URL): Promise<Connection> {
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodeURIComponent,
  ) as [string, string, string];
  const connection = await createConnection({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3306),
    user,
    password,
    database,
    charset: 'utf8mb4',
    connectTimeout: 10_000,
    dateStrings: true,
    decimalNumbers: true,
    // Numbers that JavaScript cannot hold come as text, and are refused then.
    supportBigNumbers: true,
    // MySQL's JSON is read as its text.
    typeCast: (field, next) => (field.type === 'JSON' ? field.string() : next()),
  });
  await connection.query(
    "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
  );
  // MySQL reports ids of yesterday else; MariaDB has no such variable.
  await connection.query('SET SESSION information_schema_stats_expiry = 0').catch(() => undefined);
  return connection;
}

export class MysqlRows {
  readonly #connection: Connection;
  readonly #lastIds = new Map<string, number>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** For a new database that nobody else uses. */
  static async target(url: URL): Promise<MysqlRows> {
    return new MysqlRows(await open(url));
  }

  /** Sees one committed state; writers go on. */
  static async snapshot(url: URL): Promise<MysqlRows> {
    const connection = await open(url);
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    return new MysqlRows(connection);
  }

  async rows<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    const [rows] = await this.#connection.query<RowDataPacket[]>(sql, values as unknown[]);
    return rows as R[];
  }

  async tables(): Promise<Table[]> {
    const columns = await this.rows<{ table: string; name: string; type: string }>(
      `SELECT listed.TABLE_NAME AS "table", found.COLUMN_NAME AS name, found.DATA_TYPE AS type
         FROM information_schema.TABLES listed JOIN information_schema.COLUMNS found
           ON found.TABLE_SCHEMA = listed.TABLE_SCHEMA AND found.TABLE_NAME = listed.TABLE_NAME
        WHERE listed.TABLE_SCHEMA = DATABASE() AND listed.TABLE_TYPE = 'BASE TABLE'
          AND found.EXTRA NOT REGEXP '(VIRTUAL|STORED|PERSISTENT)( GENERATED)?'
        ORDER BY listed.TABLE_NAME, found.ORDINAL_POSITION`,
    );
    const tables = new Map<string, { name: string; type: string }[]>();
    for (const { table, name, type } of columns)
      tables.set(table, [...(tables.get(table) ?? []), { name, type }]);
    return [...tables].map(([name, found]) => ({ name, columns: found }));
  }

  async count(table: string): Promise<number> {
    const [all] = await this.rows<{ n: number }>(`SELECT count(*) AS n FROM ${quoted(table)}`);
    return Number(all?.n);
  }

  async lastIds(): Promise<ReadonlyMap<string, unknown>> {
    const rows = await this.rows<{ name: string; next: number }>(
      'SELECT TABLE_NAME AS name, AUTO_INCREMENT AS next FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND AUTO_INCREMENT IS NOT NULL',
    );
    return new Map(rows.map(({ name, next }) => [name, next - 1]));
  }

  /** One query for the whole table, read as fast as the caller takes its rows. */
  async *slices({ name, columns }: Table): AsyncGenerator<readonly Row[]> {
    const list = columns.map((column) => quoted(column.name)).join(', ');
    const { connection } = this.#connection as unknown as { readonly connection: CallbackConnection };
    const stream = connection
      .query(`SELECT ${list} FROM ${quoted(name)}`)
      .stream({ highWaterMark: SLICE_ROWS });
    let slice: Row[] = [];
    for await (const row of stream as AsyncIterable<Row>) {
      slice.push(row);
      if (slice.length < SLICE_ROWS) continue;
      yield slice;
      slice = [];
    }
    if (slice.length > 0) yield slice;
  }

  async begin(): Promise<void> {
    await this.#connection.query('SET SESSION foreign_key_checks = 0, unique_checks = 0');
    await this.#connection.query('START TRANSACTION');
  }

  async clear(table: string): Promise<void> {
    await this.#connection.query(`DELETE FROM ${quoted(table)}`);
  }

  async insert({ name, columns }: Table, rows: readonly Row[]): Promise<void> {
    const list = columns.map((column) => quoted(column.name)).join(', ');
    const send = async (some: readonly (readonly Value[])[]) => {
      if (some.length > 0)
        await this.#connection.query(`INSERT INTO ${quoted(name)} (${list}) VALUES ?`, [some]);
    };
    let some: Value[][] = [];
    let size = 0;
    for (const row of rows) {
      const values = columns.map((column) => row[column.name] ?? null);
      size += values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
      some.push(values);
      if (size < PACKET_CHARACTERS) continue;
      await send(some);
      [some, size] = [[], 0];
    }
    await send(some);
  }

  async setLastId(table: string, id: number): Promise<void> {
    this.#lastIds.set(table, id);
  }

  async finish(): Promise<void> {
    await this.#connection.query('COMMIT');
    const counting = await this.lastIds();
    for (const [table, id] of this.#lastIds)
      if (counting.has(table))
        await this.#connection.query(`ALTER TABLE ${quoted(table)} AUTO_INCREMENT = ${id + 1}`);
  }

  close(): Promise<void> {
    return this.#connection.end();
  }
}
