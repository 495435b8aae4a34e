// What SQLite and MySQL (MariaDB too) call differently, so that a statement over many rows is written once.
export type RowColumns = Readonly<Record<string, 'integer' | 'text'>>;

/** Words of the database in use; `tx.sql` and `db.sql`. What they do not cover stands side by side, by `dialect`. */
export interface SqlWords {
  readonly dialect: 'sqlite' | 'mysql';
  /** smaller and greater of two values; as aggregates `min` and `max` are the same everywhere */
  readonly least: string;
  readonly greatest: string;
  /** A table made of one JSON text, a list of lists: `FROM ${rows({ id: 'integer', name: 'text' })} AS j`. The text is the replacement `:rows`, or that of another name. */
  rows(columns: RowColumns, replacement?: string): string;
  /** After an INSERT: what to do where the key is there already. On SQLite, a SELECT before it needs a WHERE. Call the old value by its table: `t.up + ${incoming('up')}`. */
  onConflict(keys: string, set: string): string;
  /** the value that an INSERT brought, in `onConflict` */
  incoming(column: string): string;
}

/** Column types of migrations. */
export interface ColumnTypes {
  readonly dialect: 'sqlite' | 'mysql';
  readonly id: string;
  readonly integer: string;
  readonly bool: string;
  /** compared without regard to case; on MySQL without regard to accents too */
  readonly name: string;
  /** of any length; no key and no default */
  readonly text: string;
  readonly json: string;
}
