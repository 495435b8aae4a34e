import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** The last templates; the one with the greatest id is in force. */
  templates: table('core_templates', {
    id: column.id(),
    /** JSON, indented */
    body: column.text(),
    /** Unix ms */
    savedAt: column.integer(),
    /** name and kind of the author */
    author: column.text(),
    authorKind: column.text(),
    note: column.text(),
    /** whether a core has run with it */
    proved: column.bool(),
  }),
} as const;
export type TemplateTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-core-templates',
    up: ({ id, integer, bool, text }) => [
      `CREATE TABLE core_templates (
        id ${id}, body ${text} NOT NULL, saved_at ${integer} NOT NULL, author VARCHAR(255) NOT NULL,
        author_kind VARCHAR(64) NOT NULL, note ${text} NOT NULL, proved ${bool} NOT NULL)`,
    ],
  },
];
