import { column, type Migration, table } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

/** `generated` marks a value that a fresh panel generated: it is a default, so the config file takes precedence. */
export const tables = {
  settings: table('settings', { name: column.key<string>(), value: column.text(), generated: column.bool() }),
  /** Two rows: `panel`, who this panel is to other panels, and `salt`, which no other knows. */
  identity: table('panel_identity', { id: column.key<'panel' | 'salt'>(), guid: column.text() }),
} as const;

/** `value` of a setting that is a secret is sealed text, of any other one JSON. */
export const sealedSettings: SealedColumn = { table: 'settings', key: 'name', column: 'value' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-settings',
    up: ({ text }) => [`CREATE TABLE settings (name VARCHAR(128) PRIMARY KEY, value ${text} NOT NULL)`],
  },
  // Quoted: the word is reserved on MySQL.
  {
    name: '0002-generated',
    up: ({ bool }) => [`ALTER TABLE settings ADD COLUMN "generated" ${bool} NOT NULL DEFAULT 0`],
  },
  {
    name: '0003-identity',
    up: () => ['CREATE TABLE panel_identity (id VARCHAR(16) PRIMARY KEY, guid VARCHAR(64) NOT NULL)'],
  },
];
