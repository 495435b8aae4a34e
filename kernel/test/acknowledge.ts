// A process of its own for the test of kill -9: writes one row, says so, and waits for its end.
import { writeSync } from 'node:fs';
import { type Database, definePlugin } from '../index.js';
import { bootPanel } from '../../panel/boot.js';
import { databaseEnvironment } from '../../test/harness/database.js';

const [, , folder = '', round = ''] = process.argv;
const inner: { db?: Database } = {};
const notes = definePlugin({
  name: 'notes',
  version: '1.0.0',
  api: 1,
  about: 'Keeps notes.',
  migrations: [
    { name: '0001-notes', up: ({ id }) => [`CREATE TABLE notes (id ${id}, text VARCHAR(64) NOT NULL)`] },
  ],
  start: ({ db }) => void (inner.db = db),
});
await bootPanel({
  plugins: [notes],
  env: { WEIR_DATA_DIR: folder, WEIR_PANEL_PORT: '0', ...(await databaseEnvironment(folder)) },
  write: () => undefined,
});
await inner.db?.write((tx) => tx.run('INSERT INTO notes (text) VALUES (:text)', { text: `round ${round}` }));
writeSync(1, 'acknowledged\n');
