// Declares a table as typed columns. Migrations alone create and change tables; this is only how code reads and writes them.
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize';

declare const carries: unique symbol;

/** How a value is stored. */
export type ColumnKind = 'text' | 'integer' | 'bool' | 'json';

export interface Column<T> {
  readonly kind: ColumnKind;
  readonly sql: object;
  /** where the database calls it otherwise than snake_case of its name in code */
  readonly name?: string;
  readonly primary?: boolean;
  readonly generated?: boolean;
  /** Converts the stored value: MySQL returns booleans as numbers and JSON as text. */
  readonly read?: (stored: unknown) => unknown;
  readonly [carries]?: T;
}
export type Columns = Readonly<Record<string, Column<unknown>>>;

/** Columns are camelCase in code and snake_case in the database. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
}
export type Tables = Readonly<Record<string, Table>>;
/** A row as plain data. */
export type Row<T> =
  T extends Table<infer C> ? { [K in keyof C]: C[K] extends Column<infer V> ? V : never } : never;
export type TableModel<T extends Table> = ModelStatic<Model<Row<T>, Partial<Row<T>>>>;
export type TableModels<T> = { readonly [K in keyof T]: T[K] extends Table ? TableModel<T[K]> : never };

interface Named {
  /** where the database calls it otherwise than snake_case of its name in code */
  readonly name?: string;
}
const asBoolean = (stored: unknown): unknown => (typeof stored === 'number' ? stored !== 0 : stored);
const asJson = (stored: unknown): unknown =>
  typeof stored === 'string' ? (JSON.parse(stored) as unknown) : stored;

/** Without a type argument: `string`. `text<'red' | 'blue'>()` allows only these values. Two signatures, because inference from the place of use would give `any`. */
interface TextColumn {
  (named?: Named): Column<string>;
  <T extends string>(named?: Named): Column<T>;
}
interface OptionalTextColumn {
  (named?: Named): Column<string | null>;
  <T extends string>(named?: Named): Column<T | null>;
}
const textColumn = (named?: Named): Column<never> => ({ kind: 'text', sql: DataTypes.TEXT, ...named });

export const column = {
  /** Never used again after a delete: others may keep it as an identity. */
  id: (): Column<number> => ({ kind: 'integer', sql: DataTypes.BIGINT, primary: true, generated: true }),
  key: <T extends string | number>(kind: 'text' | 'integer' = 'text'): Column<T> => ({
    kind,
    sql: kind === 'text' ? DataTypes.STRING : DataTypes.BIGINT,
    primary: true,
  }),
  /** `text<'red' | 'blue'>()` allows only these values */
  text: textColumn as TextColumn,
  /** Bytes, milliseconds, ids: safe integers. */
  integer: (named?: Named): Column<number> => ({ kind: 'integer', sql: DataTypes.BIGINT, ...named }),
  /** Read with `get()`: `raw: true` gives 1 and 0. */
  bool: (named?: Named): Column<boolean> => ({
    kind: 'bool',
    sql: DataTypes.BOOLEAN,
    read: asBoolean,
    ...named,
  }),
  /** objects and lists; only `raw: true` gives the text */
  json: <T extends object>(named?: Named): Column<T> => ({
    kind: 'json',
    sql: DataTypes.JSON,
    read: asJson,
    ...named,
  }),
  optionalInteger: (named?: Named): Column<number | null> => ({
    kind: 'integer',
    sql: DataTypes.BIGINT,
    ...named,
  }),
  optionalText: textColumn as OptionalTextColumn,
  optionalJson: <T extends object>(named?: Named): Column<T | null> => ({
    kind: 'json',
    sql: DataTypes.JSON,
    read: asJson,
    ...named,
  }),
} as const;

export const table = <const C extends Columns>(name: string, columns: C): Table<C> => ({ name, columns });

/** What the database calls a column. */
export const columnName = (key: string, { name }: Pick<Column<unknown>, 'name'>): string =>
  name ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function defineModel(sequelize: Sequelize, { name, columns }: Table): ModelStatic<Model> {
  const attributes = Object.fromEntries(
    Object.entries(columns).map(([key, { sql, name: named, primary, generated, read }]) => [
      key,
      {
        type: sql as never,
        ...(read && {
          get(this: Model) {
            return read(this.getDataValue(key));
          },
        }),
        field: columnName(key, { ...(named !== undefined && { name: named }) }),
        allowNull: true,
        ...(primary && { primaryKey: true }),
        ...(generated && { autoIncrement: true, autoIncrementIdentity: true }),
      },
    ]),
  );
  return sequelize.define(name, attributes, { tableName: name, freezeTableName: true, timestamps: false });
}
