// A change of keys writes back what it has read: a secret that somebody has set meanwhile is newer, and stays.
import test from 'ava';
import { type Database, definePlugin } from '../../../kernel/index.js';
import { Columns, type OwnedColumn, type SealedRow } from '../columns.js';
import { newKey, seal } from '../sealed-text.js';
import { bootVault, get, put, vault } from './vault.js';

test('sealing again does not overwrite a secret that has changed since it was read', async (t) => {
  let found: Database | undefined;
  const insider = definePlugin({
    name: 'insider',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    start: ({ db }) => void (found = db),
  });
  await using panel = await bootVault({ outside: [vault, insider] });
  const db = found as Database;
  const columns = new Columns({ db, tables: {} as never });
  const column: OwnedColumn = { plugin: 'vault', table: 'x_vault_tokens', key: 'name', column: 'token' };
  for (const name of ['ada', 'bob']) await put(panel, name, `first of ${name}`);
  const read = await columns.sealed(column);
  t.deepEqual(
    read.map(({ key }) => key),
    ['ada', 'bob'],
  );
  await put(panel, 'ada', 'second of ada');
  // A key that the panel does not have shows which values were written.
  const key = newKey();
  const again = ({ key: name }: SealedRow): string =>
    seal(key, 'sealed again', { ...column, key: String(name) });
  await db.write(async (tx) => {
    for (const row of read) await columns.replace(tx, column, row, again(row));
  });
  t.is(await get(panel, 'ada'), 'second of ada');
  t.regex(await get(panel, 'bob'), new RegExp(`is sealed with the key ${key.id}, which is missing`));
  t.deepEqual(
    (await columns.sealed(column, { id: `${key.id}:` })).map(({ key: name }) => name),
    ['bob'],
    'each key finds what it has sealed, and nothing else',
  );
});
