// SQL that differs between SQLite and MySQL (and MariaDB), so that a statement over many rows is written once.
export type RowColumns = Readonly<Record<string, 'integer' | 'text'>>;

/** SQL of the current database; `tx.sql` and `db.sql`. For other differences, write each variant and choose by `dialect`. */
export interface SqlWords {
  readonly dialect: 'sqlite' | 'mysql';
  /** smaller and greater of two values; the aggregates `min` and `max` are the same everywhere */
  readonly least: string;
  readonly greatest: string;
  /** A table from one JSON text, a list of lists: `FROM ${rows({ id: 'integer', name: 'text' })} AS j`. The text is the replacement `:rows`, or the named one. */
  rows(columns: RowColumns, replacement?: string): string;
  /** After an INSERT: what to do where the key exists. On SQLite, a SELECT before it needs a WHERE. Refer to the old value by its table: `t.up + ${incoming('up')}`. */
  onConflict(keys: string, set: string): string;
  /** the inserted value, in `onConflict` */
  incoming(column: string): string;
}

/** Column types of migrations. */
export interface ColumnTypes {
  readonly dialect: 'sqlite' | 'mysql';
  readonly id: string;
  readonly integer: string;
  readonly bool: string;
  /** compared without case; on MySQL also without accents */
  readonly name: string;
  /** of any length; cannot be a key or have a default */
  readonly text: string;
  readonly json: string;
}
