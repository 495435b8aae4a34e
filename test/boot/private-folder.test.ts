// A data folder that other users can open is made private at the start, and the log says so.
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { createLog } from '../../panel/log.js';
import { makePrivate } from '../../panel/private-folder.js';
import { PanelProcess } from '../harness/panel-process.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { folderFor } from '../harness/folder-for.js';

const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' };
const MADE_PRIVATE = 'other users could open this path; it is private now';
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

/** Lines of the log about it. */
async function madePrivate(dataDirectory: string): Promise<string[]> {
  const log: string[] = [];
  const write = (line: string) => void log.push(line);
  await makePrivate(dataDirectory, createLog({ level: 'info', readable: false, write }));
  return log;
}

test('folder, database and other files are made private, and nothing is logged where nothing was open', async (t) => {
  const dataDirectory = await folderFor(t);
  // A process of its own, for its umask.
  const first = await PanelProcess.start({ dataDirectory, env: NO_CORE, anonymous: true });
  t.teardown(() => first.kill('SIGKILL'));
  t.is(first.said(MADE_PRIVATE), undefined);
  await first.kill('SIGTERM');
  const own = [
    'weir.sqlite',
    'panel.lock',
    'panel.secret',
    'engine/config.json',
    'backups/before-a.sqlite',
    'time-series/server-status.cpu.series',
    'sidecars/mtproto-route.key',
  ];
  await mkdir(join(dataDirectory, 'backups'));
  await mkdir(join(dataDirectory, 'engine'), { recursive: true });
  for (const name of own) {
    await writeFile(join(dataDirectory, name), '', { flag: 'a' });
    await chmod(join(dataDirectory, name), 0o644);
  }
  await chmod(dataDirectory, 0o755);

  const second = await ProgramPanel.start({ dataDirectory, env: NO_CORE });
  t.teardown(() => second.stop());
  t.is(await modeOf(dataDirectory), 0o700);
  for (const name of own) t.is(await modeOf(join(dataDirectory, name)), 0o600, name);
  const said = second.log.filter(({ msg }) => msg === MADE_PRIVATE);
  t.deepEqual(
    said.map(({ path, mode, level }) => `${level} ${String(path)} ${String(mode)}`).sort(),
    [`warn ${dataDirectory} 0755`, ...own.map((name) => `warn ${join(dataDirectory, name)} 0644`)].sort(),
  );
  await second.stop();
});

test("a folder that holds more than the panel keeps its mode; what is the panel's in it is private", async (t) => {
  const dataDirectory = await folderFor(t);
  await mkdir(join(dataDirectory, 'backups'));
  for (const name of ['weir.sqlite', 'diary.txt', 'backups/of-others.tar']) {
    await writeFile(join(dataDirectory, name), '');
    await chmod(join(dataDirectory, name), 0o644);
  }
  await symlink(join(dataDirectory, 'diary.txt'), join(dataDirectory, 'panel.link'));
  await chmod(dataDirectory, 0o755);
  const log = await madePrivate(dataDirectory);
  t.is(await modeOf(dataDirectory), 0o755);
  t.is(await modeOf(join(dataDirectory, 'weir.sqlite')), 0o600);
  t.is(await modeOf(join(dataDirectory, 'diary.txt')), 0o644);
  t.is(await modeOf(join(dataDirectory, 'backups/of-others.tar')), 0o644);
  t.regex(log.join(''), /give the panel a folder of its own.*diary\.txt/);
});
