// The fields of a record, each declared once: its column, how callers send it, and what a new record has.
import type { Schema } from '../schema/shape.js';
import { type Column, columnName } from './table.js';

export interface Field<T> {
  readonly column: Column<T>;
  /** how callers send it; a field without one is written by the panel only */
  readonly schema?: Schema<T>;
  /** value of a new record that does not name it */
  readonly initial: T | (() => T);
  /** Columns that are worked out of the value, by their names in the database: for what must be unique in any spelling. */
  readonly keys?: Readonly<Record<string, (value: T) => string | null>>;
}
// biome-ignore lint/suspicious/noExplicitAny: a field takes its value and gives it, so no other type holds all fields
export type FieldTable = Readonly<Record<string, Field<any>>>;

/** The values of a record. */
export type Values<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };
type SentKeys<F> = {
  [K in keyof F]: F[K] extends { readonly schema: Schema } ? K : never;
}[keyof F];
/** Schemas of the fields that callers send. */
export type Schemas<F> = {
  readonly [K in SentKeys<F>]: F[K] extends { readonly schema: infer S } ? S : never;
};

/** Declares one field; its type follows from the column. */
export const field = <T, const F extends Field<T>>(declared: F & { readonly column: Column<T> }): F =>
  declared;

type StoredColumn = readonly [column: string, kind: 'integer' | 'text', value: (value: never) => unknown];

const encode = ({ kind }: Column<unknown>, value: unknown): unknown => {
  if (kind === 'bool') return value ? 1 : 0;
  return kind === 'json' && value !== null ? JSON.stringify(value) : value;
};

/** What follows from a table of fields: names, schemas, statements. */
export class Fields<F extends FieldTable> {
  readonly names: readonly (keyof F & string)[];
  /** for `table(name, { id: column.id(), ...fields.columns })` */
  readonly columns: { readonly [K in keyof F]: F[K]['column'] };
  /** for `shape({ ...fields.schemas })` */
  readonly schemas: Schemas<F>;
  readonly #fields: F;
  readonly #stored: ReadonlyMap<string, readonly StoredColumn[]>;
  /** one field after the other, for what is done to thousands of records */
  readonly #initial: readonly (readonly [name: string, initial: unknown])[];
  readonly #encoders: readonly (readonly [name: string, value: (value: never) => unknown])[];

  constructor(fields: F) {
    this.#fields = fields;
    this.names = Object.keys(fields);
    const entries = Object.entries(fields);
    this.columns = Object.fromEntries(entries.map(([name, { column }]) => [name, column])) as never;
    this.schemas = Object.fromEntries(
      entries.flatMap(([name, { schema }]) => (schema ? [[name, schema]] : [])),
    ) as never;
    this.#stored = new Map(
      entries.map(([name, { column, keys = {} }]) => [
        name,
        [
          [
            columnName(name, column),
            column.kind === 'integer' || column.kind === 'bool' ? 'integer' : 'text',
            (value: unknown) => encode(column, value),
          ],
          ...Object.entries(keys).map(([key, of]): StoredColumn => [key, 'text', of]),
        ],
      ]),
    );
    this.#initial = entries.map(([name, { initial }]) => [name, initial]);
    this.#encoders = [...this.#stored].flatMap(([name, columns]) =>
      columns.map(([, , value]) => [name, value] as const),
    );
  }

  /** Values of a new record; `given` takes precedence. */
  create(given: Partial<Values<F>>): Values<F> {
    const values: Record<string, unknown> = {};
    for (const [name, initial] of this.#initial)
      values[name] =
        given[name] !== undefined ? given[name] : typeof initial === 'function' ? initial() : initial;
    return values as Values<F>;
  }

  /** All columns with their kinds, for `sql.rows`; in the order of `insert`. */
  get kinds(): Readonly<Record<string, 'integer' | 'text'>> {
    return Object.fromEntries([...this.#stored.values()].flat().map(([column, kind]) => [column, kind]));
  }
  /** The values of one row as the database stores them. */
  row(values: Values<F>): unknown[] {
    return this.#encoders.map(([name, of]) => of(values[name] as never));
  }
  /** Names of the columns of a field: its own and those of its keys. */
  columnsOf(name: keyof F & string): string[] {
    return (this.#stored.get(name) ?? []).map(([column]) => column);
  }
  /** Stored values of the fields that change, by column; for `UPDATE … SET`. */
  changes(values: Partial<Values<F>>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) =>
        (this.#stored.get(name) ?? []).map(([column, , of]) => [column, of(value as never)]),
      ),
    );
  }
  /** `t.total_gb AS "totalGB", …`, for a SELECT from the table or its alias. */
  select(table: string): string {
    return this.names
      .map(
        (name) => `${table}.${columnName(name, (this.#fields[name] as Field<unknown>).column)} AS "${name}"`,
      )
      .join(', ');
  }
  /** Converts a selected row to the values of a record. */
  read(stored: Readonly<Record<string, unknown>>): Values<F> {
    const values: Record<string, unknown> = {};
    for (const [name, { column }] of Object.entries(this.#fields))
      values[name] = column.read ? column.read(stored[name]) : stored[name];
    return values as Values<F>;
  }
}
