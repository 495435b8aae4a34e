// A data folder that other users can open is made private at the start, and the log says so.
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createLog } from '../../panel/log.js';
import { makePrivate } from '../../panel/private-folder.js';
import { PanelProcess } from '../harness/panel-process.js';

const MENDED = 'other users could open this path; it is private now';
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}
async function start(t: ExecutionContext, dataDirectory: string): Promise<PanelProcess> {
  const panel = await PanelProcess.start({ dataDirectory, env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.teardown(() => panel.kill('SIGKILL'));
  return panel;
}

test('folder, database and what lies beside it are mended, and nothing is said where nothing was open', async (t) => {
  const dataDirectory = await folder(t);
  const first = await start(t, dataDirectory);
  t.is(first.said(MENDED), undefined);
  await first.kill('SIGTERM');
  const own = [
    'weir.sqlite',
    'panel.lock',
    'panel.secret',
    'engine/config.json',
    'backups/before-a.sqlite',
    'time-series/server-status.cpu.series',
  ];
  await mkdir(join(dataDirectory, 'backups'));
  await mkdir(join(dataDirectory, 'engine'), { recursive: true });
  for (const name of own) {
    await writeFile(join(dataDirectory, name), '', { flag: 'a' });
    await chmod(join(dataDirectory, name), 0o644);
  }
  await chmod(dataDirectory, 0o755);

  const second = await start(t, dataDirectory);
  t.is(await modeOf(dataDirectory), 0o700);
  for (const name of own) t.is(await modeOf(join(dataDirectory, name)), 0o600, name);
  const said = second.log.filter(({ msg }) => msg === MENDED);
  t.deepEqual(
    said.map(({ path, mode, level }) => `${level} ${String(path)} ${String(mode)}`).sort(),
    [`warn ${dataDirectory} 0755`, ...own.map((name) => `warn ${join(dataDirectory, name)} 0644`)].sort(),
  );
  await second.kill('SIGTERM');
  t.is((await start(t, dataDirectory)).said(MENDED), undefined);
});

test("a folder that holds more than the panel keeps its mode; what is the panel's in it is private", async (t) => {
  const dataDirectory = await folder(t);
  await mkdir(join(dataDirectory, 'backups'));
  for (const name of ['weir.sqlite', 'diary.txt', 'backups/of-others.tar']) {
    await writeFile(join(dataDirectory, name), '');
    await chmod(join(dataDirectory, name), 0o644);
  }
  await symlink(join(dataDirectory, 'diary.txt'), join(dataDirectory, 'panel.link'));
  await chmod(dataDirectory, 0o755);
  const log: string[] = [];
  await makePrivate(
    dataDirectory,
    createLog({ level: 'info', readable: false, write: (line) => void log.push(line) }),
  );
  t.is(await modeOf(dataDirectory), 0o755);
  t.is(await modeOf(join(dataDirectory, 'weir.sqlite')), 0o600);
  t.is(await modeOf(join(dataDirectory, 'diary.txt')), 0o644);
  t.is(await modeOf(join(dataDirectory, 'backups/of-others.tar')), 0o644);
  t.regex(log.join(''), /give the panel a folder of its own.*diary\.txt/);
});
