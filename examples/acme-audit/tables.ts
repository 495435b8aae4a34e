import { column, type Migration, table, type TableModels } from '@weir-panel/weir/kernel';

export const tables = {
  entries: table('x_acme_audit_entries', {
    id: column.id(),
    at: column.integer(),
    whoKind: column.text(),
    who: column.text(),
    about: column.text(),
    change: column.text(),
    old: column.text(),
    fresh: column.text(),
  }),
} as const;
export type Tables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-entries',
    up: ({ id, integer, text }) => [
      `CREATE TABLE x_acme_audit_entries (id ${id}, at ${integer} NOT NULL, who_kind VARCHAR(32) NOT NULL, who VARCHAR(255) NOT NULL, about VARCHAR(32) NOT NULL, \`change\` VARCHAR(16) NOT NULL, old ${text} NOT NULL, fresh ${text} NOT NULL)`,
    ],
  },
];
