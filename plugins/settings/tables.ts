import { column, type Migration, table } from '../../kernel/index.js';

export const tables = { settings: table('settings', { name: column.key<string>(), value: column.text() }) } as const;

export const migrations: readonly Migration[] = [{ name: '0001-settings', up: () => ['CREATE TABLE settings (name VARCHAR(128) PRIMARY KEY, value TEXT NOT NULL)'] }];
