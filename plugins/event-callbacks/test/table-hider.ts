// A plugin that takes a table away for a while, as a database that fails.
import { type Database, definePlugin } from '../../../kernel/index.js';

export function tableHider() {
  let db: Database | undefined;
  const rename = async (from: string, to: string): Promise<void> =>
    db?.write((tx) => tx.run(`ALTER TABLE ${from} RENAME TO ${to}`));
  const plugin = definePlugin({
    name: 'table-hider',
    version: '1.0.0',
    api: 1,
    about: 'Takes a table away.',
    start: (scope) => {
      db = scope.db;
    },
  });
  return {
    plugin,
    hide: (table: string) => rename(table, `${table}_hidden`),
    show: (table: string) => rename(`${table}_hidden`, table),
  };
}
