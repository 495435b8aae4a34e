import {
  column,
  field,
  Fields,
  type Migration,
  table,
  type TableModels,
  text,
} from '@weir-panel/weir/kernel';

export const fields = new Fields({
  title: field({ column: column.text(), schema: text().max(100), initial: '' }),
  body: field({ column: column.text(), schema: text().max(4000), initial: '' }),
});
export const tables = {
  notes: table('x_acme_notes_notes', { id: column.id(), ...fields.columns }),
} as const;
export type Tables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-notes',
    up: ({ id, text: long }) => [
      `CREATE TABLE x_acme_notes_notes (id ${id}, title VARCHAR(100) NOT NULL, body ${long} NOT NULL)`,
    ],
  },
];
