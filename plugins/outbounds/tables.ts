import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** Balancers whose choice an admin has overridden. */
  overrides: table('outbound_overrides', {
    id: column.id(),
    /** SHA-256 of the tag: MySQL compares texts without case, and long ones cannot be a key */
    hash: column.text(),
    tag: column.text(),
    /** tag of the outbound that takes everything */
    target: column.text(),
  }),
} as const;
export type OverrideTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-overrides',
    up: ({ id, text }) => [
      `CREATE TABLE outbound_overrides (
        id ${id}, hash VARCHAR(64) NOT NULL UNIQUE, tag ${text} NOT NULL, target ${text} NOT NULL)`,
    ],
  },
];
