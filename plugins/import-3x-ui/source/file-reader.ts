// Reads a checked file in pages. Clients are put together of five tables and of the lists inside the inbounds.
import { type Columns, checkedColumns } from './checked-file.js';
import {
  CLIENT_TABLES,
  type ClientTable,
  ROW_TABLES,
  type RowTable,
  type SourceFacts,
  type SourceRow,
} from './known-tables.js';
import { SqliteFile } from './sqlite-file.js';

const ROWS_AT_ONCE = 250;
/** An inbound has two long texts. */
const INBOUNDS_AT_ONCE = 20;
/** Characters of one text; a longer one is cut, and then too long for any field here. */
const LONGEST = 30_000;
const LONGEST_OF_CLIENT = 9_000;
const LONGEST_SETTINGS = 4 * 1024 * 1024;
const isLong = (table: string): boolean => table === 'settings' || table === 'inbounds';
const longestIn = (table: string): number =>
  isLong(table) ? LONGEST_SETTINGS : table in CLIENT_TABLES ? LONGEST_OF_CLIENT : LONGEST;

/** A value that can be sent on: long texts are cut, bytes are no value, and a text with a NUL, which would end there, becomes one that no field takes. */
const bounded = (column: string, longest: number): string =>
  `CASE typeof(${column}) WHEN 'text' THEN CASE WHEN instr(CAST(${column} AS BLOB), x'00') > 0 THEN char(1) || 'NUL' ELSE substr(${column}, 1, ${longest}) END WHEN 'blob' THEN NULL ELSE ${column} END`;
/** The settings of an inbound without its clients, which may be most of the file. */
const SETTINGS = `CASE WHEN json_valid(settings) THEN ${bounded("json_remove(settings, '$.clients')", LONGEST_SETTINGS)} ELSE substr(settings, 1, 100) END`;

const selected = (table: ClientTable | RowTable, columns: Columns): string => {
  const own = columns.get(table) ?? new Set();
  const wanted: readonly string[] = { ...ROW_TABLES, ...CLIENT_TABLES }[table];
  return wanted
    .filter((name) => own.has(name))
    .map((name) => {
      const value =
        table === 'inbounds' && name === 'settings' ? SETTINGS : bounded(`"${name}"`, longestIn(table));
      return `${value} AS "${name}"`;
    })
    .join(', ');
};

export class FileReader {
  readonly #file: SqliteFile;
  readonly #columns: Columns;

  private constructor(file: SqliteFile, columns: Columns) {
    this.#file = file;
    this.#columns = columns;
  }

  static async open(path: string): Promise<FileReader> {
    const file = await SqliteFile.open(path);
    const reader = new FileReader(file, await checkedColumns(file));
    await reader.#prepare();
    return reader;
  }

  get file(): SqliteFile {
    return this.#file;
  }
  has(table: string): boolean {
    return this.#columns.has(table);
  }

  async rows(table: RowTable, after: number): Promise<{ rows: SourceRow[]; next: number | undefined }> {
    if (!this.has(table)) return { rows: [], next: undefined };
    const most = isLong(table) ? INBOUNDS_AT_ONCE : ROWS_AT_ONCE;
    const found = await this.#file.rows<{ at: number } & SourceRow>(
      `SELECT rowid AS at, ${selected(table, this.#columns)} FROM "${table}" WHERE rowid > ? ORDER BY rowid LIMIT ${most}`,
      [after],
    );
    return { rows: found, next: found.length < most ? undefined : found.at(-1)?.at };
  }

  /** Copies what is looked up by client into tables with an index: those of the file may have none. */
  async #prepare(): Promise<void> {
    const entry = "CASE json_type(j.value) WHEN 'object' THEN substr(j.value, 1, 20000) ELSE '{}' END";
    await this.#file.execute(`
      CREATE TEMP TABLE embedded AS SELECT lower(trim(json_extract(j.value, '$.email'))) AS person, i.id AS inbound_id, ${entry} AS entry
        FROM inbounds i, json_each(CASE WHEN json_valid(i.settings) THEN i.settings ELSE '{}' END, '$.clients') j
        WHERE j.type = 'object' AND json_type(j.value, '$.email') = 'text' AND json_extract(j.value, '$.email') <> '';
      CREATE INDEX temp.embedded_person ON embedded (person);
      CREATE TEMP TABLE traffics AS SELECT lower(trim(email)) AS person, ${this.#select('client_traffics')} FROM client_traffics WHERE typeof(email) = 'text';
      CREATE INDEX temp.traffics_person ON traffics (person);
    `);
    await this.#file.execute(
      this.has('clients')
        ? `CREATE TEMP TABLE people AS SELECT id, lower(trim(email)) AS person FROM clients WHERE typeof(email) = 'text'`
        : `CREATE TEMP TABLE people AS SELECT min(rowid) AS id, person FROM embedded GROUP BY person`,
    );
    await this.#file.execute(
      'CREATE INDEX temp.people_id ON people (id); CREATE INDEX temp.people_person ON people (person);',
    );
    await this.#copy('client_inbounds', 'client_id', 'WHERE inbound_id IN (SELECT id FROM inbounds)');
    await this.#copy('client_hwids', 'sub_id');
    await this.#copy('client_external_links', 'client_id');
  }

  #select(table: ClientTable): string {
    return selected(table, this.#columns);
  }
  async #copy(table: ClientTable, key: string, where = ''): Promise<void> {
    if (!this.has(table) || !this.#columns.get(table)?.has(key)) return;
    await this.#file.execute(
      `CREATE TEMP TABLE own_${table} AS SELECT ${this.#select(table)} FROM ${table} ${where}; CREATE INDEX temp.own_${table}_key ON own_${table} (${key});`,
    );
  }
  /** Whether the table is there with the column by which it belongs to a client. */
  hasCopy(table: ClientTable, key: string): boolean {
    return this.has(table) && this.#columns.get(table)?.has(key) === true;
  }
  /** Columns of `clients` that are there. */
  clientColumns(): string {
    return this.#select('clients');
  }

  async facts(): Promise<SourceFacts> {
    const rows: Record<string, number> = {};
    for (const name of this.#columns.keys())
      rows[name] = await this.#count(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`);
    const clients = await this.#count('SELECT count(*) AS n FROM people');
    return { rows, clients, foreign: await this.#foreign() };
  }

  async #foreign(): Promise<SourceFacts['foreign']> {
    const foreign: { table: string; why: string; count: number }[] = [];
    const look = async (table: string, why: string, sql: string): Promise<void> => {
      const count = await this.#count(`SELECT count(*) AS n FROM ${sql}`);
      if (count > 0) foreign.push({ table, why, count });
    };
    await look(
      'client_traffics',
      'no client has this email',
      "client_traffics t WHERE typeof(t.email) <> 'text' OR lower(trim(t.email)) NOT IN (SELECT person FROM people)",
    );
    await look(
      'client_traffics',
      'another row has this email, in another case',
      '(SELECT count(*) - 1 AS more FROM traffics WHERE person IN (SELECT person FROM people) GROUP BY person) g, (SELECT 1) WHERE more > 0',
    );
    if (this.hasCopy('client_inbounds', 'client_id'))
      await look(
        'client_inbounds',
        'its client or its inbound is missing in the file',
        'client_inbounds WHERE client_id IS NULL OR inbound_id IS NULL OR client_id NOT IN (SELECT id FROM people) OR inbound_id NOT IN (SELECT id FROM inbounds)',
      );
    if (this.hasCopy('client_hwids', 'sub_id') && this.has('clients'))
      await look(
        'client_hwids',
        'no client has this subId',
        'own_client_hwids WHERE sub_id IS NULL OR sub_id NOT IN (SELECT sub_id FROM clients WHERE sub_id IS NOT NULL)',
      );
    if (this.hasCopy('client_external_links', 'client_id'))
      await look(
        'client_external_links',
        'its client is missing in the file',
        'own_client_external_links WHERE client_id NOT IN (SELECT id FROM people)',
      );
    if (this.has('clients')) {
      await look('clients', 'it has no email', "clients WHERE typeof(email) <> 'text'");
      await look(
        'inbounds.settings.clients',
        'the table clients does not have this email',
        'embedded WHERE person NOT IN (SELECT person FROM people)',
      );
    }
    return foreign;
  }

  async #count(sql: string): Promise<number> {
    const [found] = await this.#file.rows<{ n: number }>(sql);
    return found?.n ?? 0;
  }
}
