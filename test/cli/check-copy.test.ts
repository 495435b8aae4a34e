// `weir check --copy`: a start on a copy of the database, as before an upgrade.
import { readdir } from 'node:fs/promises';
import test from 'ava';
import { check } from '../../panel/check.js';
import { appliedMigrations } from '../../panel/inspect-data.js';
import { onSqlite } from '../harness/database.js';
import { editDatabase } from '../harness/edit-database.js';
import { onlyOn } from '../harness/left-out.js';
import { PanelProcess } from '../harness/panel-process.js';
import { weirWithCheck } from '../harness/weir-command.js';
import { folderOf } from '../outside/third-party.js';

const env = { WEIR_ENGINE_BIN: '/nowhere/core' };

onlyOn(
  onSqlite,
  'SQLite',
  test,
)(
  'finds a migration that fails on the data, and leaves the database and a running panel alone',
  async (t) => {
    const folder = await folderOf(t);
    const copy = () => weirWithCheck(folder, ['check', '--copy'], env, check);
    t.is((await copy()).code, 0, 'there is no database yet');
    const panel = await PanelProcess.start({ dataDirectory: folder, env });
    t.teardown(() => panel.kill('SIGKILL'));
    await panel.addClient('ada', [await panel.addInbound()]);
    const files = (await readdir(folder)).sort();
    const good = await copy();
    t.deepEqual([good.code, good.complained], [0, '']);
    t.deepEqual((await readdir(folder)).sort(), files, 'the copy is removed');
    // Its table already exists, as for a release whose migration does not fit the data.
    await editDatabase(folder, [`DELETE FROM kernel_migrations WHERE plugin = 'alarms'`]);
    const ran = await appliedMigrations(undefined, folder);
    const plain = await weirWithCheck(folder, ['check'], env, check);
    t.is(plain.code, 0, 'an empty database shows nothing');
    const bad = await copy();
    t.is(bad.code, 1);
    t.regex(bad.complained, /does not start on a copy of the database: .*alarms.*0001-active/);
    t.deepEqual(await appliedMigrations(undefined, folder), ran);
    t.deepEqual((await readdir(folder)).sort(), files);
    t.is((await panel.call('/panel/api/inbounds/list')).status, 200);
  },
);
