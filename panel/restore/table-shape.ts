// The tables of a SQLite file: their columns and keys.
import { quoted, type SqliteFile } from './sqlite-file.js';

export interface ColumnShape {
  readonly name: string;
  /** as declared; decides which values it takes */
  readonly type: string;
}
export interface RowOrder {
  /** columns of the primary key, in its order */
  readonly key: readonly string[];
  /** false: the primary key is the row itself */
  readonly hasRowId: boolean;
}
export interface TableShape {
  readonly name: string;
  /** those that store a value; computed ones are left out */
  readonly columns: readonly ColumnShape[];
  /** of a SQLite file: the order in which its rows can be read in slices */
  readonly order?: RowOrder | undefined;
}

interface ListedColumn {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
  /** 2 and 3: computed */
  readonly hidden: number;
}

export async function shapeOf(file: SqliteFile, name: string, hasRowId: boolean): Promise<TableShape> {
  const listed = await file.rows<ListedColumn>(`PRAGMA table_xinfo(${quoted(name)})`);
  return {
    name,
    columns: listed
      .filter(({ hidden }) => hidden === 0)
      .map((column) => ({ name: column.name, type: column.type })),
    order: {
      hasRowId,
      key: listed
        .filter(({ pk }) => pk > 0)
        .sort((a, b) => a.pk - b.pk)
        .map((column) => column.name),
    },
  };
}

/** All tables but those of SQLite itself, in order of creation. */
export async function tablesIn(file: SqliteFile): Promise<TableShape[]> {
  const names = await file.rows<{ name: string; wr: number }>(
    `SELECT listed.name, listed.wr FROM sqlite_master master JOIN pragma_table_list listed
       ON listed.name = master.name AND listed.schema = 'main'
     WHERE master.type = 'table' AND master.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY master.rowid`,
  );
  const shapes: TableShape[] = [];
  for (const { name, wr } of names) shapes.push(await shapeOf(file, name, wr === 0));
  return shapes;
}
