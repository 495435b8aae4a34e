// An update of a plugin or of the panel leaves the core alone: what runs through it goes on, and is counted once.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { PanelProcess } from '../harness/panel-process.js';
import { weirCommand } from '../harness/weir-command.js';
import { connect, counted, engineBinary, MIB, openServer, spawnPanel, within } from './user.js';
import { folderFor } from '../harness/folder-for.js';

/** Writes the plugin `acme-note` of this version into a folder; returns a reference to it. */
async function writePlugin(folder: string, version: string): Promise<string> {
  const place = join(folder, 'acme-note');
  await mkdir(place, { recursive: true });
  await writeFile(
    join(place, 'index.js'),
    `import { definePlugin } from '@weir-panel/weir/kernel';
export default definePlugin({ name: 'acme-note', version: '${version}', api: 1, about: 'For a test.' });`,
  );
  const manifest = {
    name: 'weir-plugin-acme-note',
    version,
    type: 'module',
    exports: './index.js',
    weir: { api: 1 },
  };
  await writeFile(join(place, 'package.json'), JSON.stringify(manifest));
  return place;
}

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly state: string;
}
const plugin = async (panel: PanelProcess) =>
  (await panel.get<Listed[]>('/panel/api/system/plugins')).find(({ name }) => name === 'acme-note');

test('a transfer goes on while a plugin is added, and while plugin and panel are updated with a new process', async (t) => {
  const folder = await folderFor(t);
  const server = await openServer(t);
  const first = await spawnPanel(t);
  await first.addClient('a', [await first.addInbound()]);
  const user = await connect(t, first, 'a', server);
  const core = await first.corePid();
  const bytes = 24 * MIB;
  const transfer = user.start(bytes, MIB);
  await counted(first, 'a', 1);

  // In the same process.
  const reference = await writePlugin(folder, '1.0.0');
  const { dataDirectory, starts } = first;
  const env = { WEIR_ENGINE_BIN: engineBinary() };
  const added = await weirCommand(dataDirectory, ['plugin', 'add', reference], env);
  t.is(added.code, 0, added.complained);
  await first.get('/panel/api/setting/restartPanel', { method: 'POST' });
  await first.until(() => first.starts > starts, 'the panel is back');
  t.like(await plugin(first), { version: '1.0.0', state: 'running' });
  t.is(await first.corePid(), core);
  t.true(await user.served());

  // In another process, for the code of a module that has been imported.
  await writePlugin(folder, '2.0.0');
  const before = transfer.soFar;
  first.signal('SIGUSR2');
  await first.until(() => first.end !== undefined, 'the process has ended');
  t.deepEqual(first.end, { code: 0, signal: null });
  t.is(await first.corePid(), core);
  t.true(await user.served(), 'the core serves without a panel');
  const second = await spawnPanel(t, { dataDirectory });
  t.like(await plugin(second), { version: '2.0.0', state: 'running' });
  t.is(await second.corePid(), core);
  t.like(second.said('adopted a running core'), { pid: core });
  await second.until(() => transfer.soFar > before + MIB, 'it goes on');
  t.true(transfer.soFar < bytes, 'the transfer ran all the while');
  t.is(await transfer.ended, bytes);
  const total = await counted(second, 'a', bytes);
  t.true(within(total, bytes + 2000), `counted ${total} of ${bytes}`);

  t.deepEqual(await second.kill('SIGTERM'), { code: 0, signal: null });
  t.is(await second.corePid(), undefined, 'the core belongs to the new process');
});
