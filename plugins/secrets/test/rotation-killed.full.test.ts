// The panel is killed at moments of a change of keys: every secret opens with the keys that the file has.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { keyFileIn } from '../key-file.js';
import { type Key, keyIdOf, keyOf, seal, unseal } from '../sealed-text.js';
import { rowsOf } from './vault.js';

const env = { WEIR_ENGINE_BIN: '/nowhere/xray' };
const ROWS = 2_000;
const LONGEST_DELAY_MS = 10_000;
const place = (key: string) => ({ plugin: 'vault', table: 'x_vault_tokens', column: 'token', key });

test.serial('killed in the middle of a change of keys, the panel loses no secret', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const keys = async (): Promise<Key[]> =>
    (await readFile(keyFileIn(dataDirectory), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => keyOf(line) as Key);
  const start = async () => {
    const panel = await PanelProcess.start({ dataDirectory, env, anonymous: true });
    t.teardown(() => panel.kill('SIGKILL'));
    return panel;
  };
  await (await start()).kill('SIGTERM');
  const [first] = await keys();
  if (!first) throw new Error('there is no key');
  const values = Array.from(
    { length: ROWS },
    (_, i) => `('${i}', '${seal(first, `token ${i}`, place(String(i)))}')`,
  );
  await editDatabase(dataDirectory, [
    'CREATE TABLE x_vault_tokens (name VARCHAR(64) PRIMARY KEY, token TEXT NOT NULL)',
    `INSERT INTO x_vault_tokens (name, token) VALUES ${values.join(', ')}`,
    "INSERT INTO secret_columns (id, plugin, table_name, key_column, value_column) VALUES ('x_vault_tokens.token', 'vault', 'x_vault_tokens', 'name', 'token')",
  ]);
  const found: string[] = [];
  const delays = [0, 150, 250, 350, 450, 600, 900];
  for (const delay of delays) {
    const panel = await start();
    const command = weirCommand(dataDirectory, ['secrets', 'rotate'], env);
    await panel.until(async () => (await keys()).length > 1, 'the change has begun');
    await sleep(delay);
    await panel.kill('SIGKILL');
    await command;
    const there = await keys();
    const rows = await rowsOf<{ name: string; token: string }>(
      dataDirectory,
      'SELECT name, token FROM x_vault_tokens',
    );
    t.is(rows.length, ROWS);
    const used = new Set<string | undefined>();
    for (const { name, token } of rows) {
      const id = keyIdOf(token);
      used.add(id);
      const key = there.find((known) => known.id === id);
      if (!key || unseal(key, token, place(name)) !== `token ${name}`)
        t.fail(`${name} is lost after ${delay} ms`);
    }
    t.is(used.size, 1, 'a table has the values of before or those of after');
    found.push(used.has(there[0]?.id) ? 'after' : 'before');
    // A slow machine needs longer to come as far.
    if (delay === delays.at(-1) && !found.includes('after') && delay < LONGEST_DELAY_MS)
      delays.push(delay * 2);
  }
  t.true(found.includes('before') && found.includes('after'), found.join(' '));
  t.log(found.join(' '));
  const last = await start();
  t.is((await keys()).length, 1);
  await last.kill('SIGTERM');
});
