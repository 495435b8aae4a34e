// Declares a table as typed columns. Migrations alone create and change tables; this is only how code reads and writes them.
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize';

declare const carries: unique symbol;

export interface Column<T> {
  readonly sql: object;
  readonly primary?: boolean;
  readonly generated?: boolean;
  /** of what MySQL gives, which knows neither booleans nor JSON */
  readonly read?: (stored: unknown) => unknown;
  readonly [carries]?: T;
}
type Columns = Readonly<Record<string, Column<unknown>>>;

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

export const column = {
  /** Never used again after a delete: others may keep it as an identity. */
  id: (): Column<number> => ({ sql: DataTypes.BIGINT, primary: true, generated: true }),
  key: <T extends string | number>(kind: 'text' | 'integer' = 'text'): Column<T> => ({
    sql: kind === 'text' ? DataTypes.STRING : DataTypes.BIGINT,
    primary: true,
  }),
  /** of a few words, where it is: `text<'red' | 'blue'>()` */
  text: <T extends string = string>(): Column<T> => ({ sql: DataTypes.TEXT }),
  /** Bytes, milliseconds, ids: safe integers. */
  integer: (): Column<number> => ({ sql: DataTypes.BIGINT }),
  /** Read with `get()`: `raw: true` gives 1 and 0. */
  bool: (): Column<boolean> => ({
    sql: DataTypes.BOOLEAN,
    read: (stored) => (typeof stored === 'number' ? stored !== 0 : stored),
  }),
  /** objects and lists; only `raw: true` gives the text */
  json: <T extends object>(): Column<T> => ({
    sql: DataTypes.JSON,
    read: (stored) => (typeof stored === 'string' ? (JSON.parse(stored) as unknown) : stored),
  }),
  optionalInteger: (): Column<number | null> => ({ sql: DataTypes.BIGINT }),
  optionalText: <T extends string = string>(): Column<T | null> => ({ sql: DataTypes.TEXT }),
} as const;

export const table = <const C extends Columns>(name: string, columns: C): Table<C> => ({ name, columns });

const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

export function defineModel(sequelize: Sequelize, { name, columns }: Table): ModelStatic<Model> {
  const attributes = Object.fromEntries(
    Object.entries(columns).map(([key, { sql, primary, generated, read }]) => [
      key,
      {
        type: sql as never,
        ...(read && {
          get(this: Model) {
            return read(this.getDataValue(key));
          },
        }),
        field: snake(key),
        allowNull: true,
        ...(primary && { primaryKey: true }),
        ...(generated && { autoIncrement: true, autoIncrementIdentity: true }),
      },
    ]),
  );
  return sequelize.define(name, attributes, { tableName: name, freezeTableName: true, timestamps: false });
}
