// A backup with an inbound of a node, restored where that node is unknown: nothing of it starts here.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import sqlite3 from 'sqlite3';
import { freePort } from '../../../test/harness/index.js';
import { onSqlite } from '../../../test/harness/database.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';

const API = '/panel/api/inbounds';
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
interface Shown {
  readonly id: number;
  readonly nodeId: number | null;
  readonly originNodeGuid: string;
  readonly remark: string;
}

async function edit(path: string, sql: string): Promise<void> {
  const database = new sqlite3.Database(path);
  await new Promise<void>((resolve, reject) =>
    database.exec(sql, (error) => (error ? reject(error) : resolve())),
  );
  await new Promise((resolve) => database.close(resolve));
}

onlyOn(
  onSqlite,
  'SQLite',
  test.serial,
)('an inbound of an unknown node comes back with it, can be edited, and moves here', async (t) => {
  const panel = await ProgramPanel.start({ dataDirectory: await folderFor(t), env: ENV });
  t.teardown(() => panel.stop());
  const port = await freePort();
  const id = await panel.addInbound({ port });
  await panel.addClient('ann', [id]);
  const response = await fetch(`${panel.url}/panel/api/server/getDb`, {
    headers: { cookie: panel.cookie },
  });
  const path = join(await folderFor(t), 'backup.db');
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  await edit(path, `UPDATE inbounds SET node_id = 7 WHERE id = ${id}`);
  const form = new FormData();
  form.append('db', new Blob([(await readFile(path)) as never]), 'backup.db');
  const restored = await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  t.is(restored.status, 200);
  await panel.until(
    () => panel.log.some(({ msg }) => msg === 'the panel started again'),
    'the panel started again',
  );
  await panel.login();

  const get = () => panel.get<Shown>(`${API}/get/${id}`);
  t.like(await get(), { nodeId: 7, originNodeGuid: '' });
  // The port is free here.
  t.not(await panel.addInbound({ port }), id);
  const edited = await panel.call<Shown>(`${API}/update/${id}`, { body: { nodeId: 7, remark: 'edited' } });
  t.is(edited.body.msg, 'inbound saved; the node #7 does not have it yet: no plugin brings changes to it');
  const update = await panel.call(`/panel/api/clients/update/ann`, { body: { totalGB: 5 } });
  t.is(update.body.msg, 'client saved; the node #7 does not have it yet: no plugin brings changes to it');
  const other = await panel.call(`${API}/update/${id}`, { body: { nodeId: 8 } });
  t.is(other.status, 422, other.text);
  const moved = await panel.call<Shown>(`${API}/update/${id}`, {
    body: { nodeId: null, port: await freePort() },
  });
  t.true(moved.body.success, moved.text);
  t.like(await get(), { nodeId: null, remark: 'edited' });
});
