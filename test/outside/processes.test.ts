// A third-party plugin that runs a program: what becomes of it when the panel is killed, and when the plugin goes.
import { cp, readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { processesBelow } from '../../plugins/processes/test/world.js';
import { openProcess, switched } from '../boot/switching.js';
import type { PanelProcess } from '../harness/panel-process.js';
import { sourceRoot } from '../harness/source-root.js';
import { weirCommand } from '../harness/weir-command.js';
import { folderOf, writeFiles } from './third-party.js';

const PROGRAM = 'processes/acme-sidecar/echo';

/** The example as a package outside the tree, and a data folder that names it. */
async function installed(t: ExecutionContext): Promise<{ data: string; reference: string }> {
  const root = await folderOf(t);
  const built = fileURLToPath(new URL('../../examples/acme-sidecar', import.meta.url));
  const folder = join(root, 'acme-sidecar');
  for (const file of (await readdir(built)).filter((name) => name.endsWith('.js')))
    await cp(join(built, file), join(folder, 'dist', file));
  const manifest = new URL('examples/acme-sidecar/package.json', await sourceRoot());
  await cp(manifest, join(folder, 'package.json'));
  const data = join(root, 'data');
  const reference = `path:${folder}`;
  await writeFiles(data, {
    'weir.json': { preset: 'minimal', plugins: { [reference]: true, keygen: true } },
  });
  t.teardown(async () => {
    for (const pid of await processesBelow(join(data, 'processes'))) process.kill(pid, 'SIGKILL');
  });
  return { data, reference };
}

const stateOf = (panel: PanelProcess): Promise<{ state: string; pid: number; reason: string }> =>
  panel.get('/panel/api/x/acme-sidecar/state');

async function running(panel: PanelProcess): Promise<number> {
  await panel.until(async () => (await stateOf(panel)).state === 'running', 'the program runs');
  return (await stateOf(panel)).pid;
}

/** What the program sends back. */
const echo = (data: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const connection = connect(join(data, PROGRAM, 'echo.sock'));
    connection.once('error', reject).once('data', (chunk) => {
      connection.destroy();
      resolve(String(chunk));
    });
    connection.write(text);
  });

test('the program lives through a killed panel and a restart, and ends with its plugin and with the panel', async (t) => {
  const { data } = await installed(t);
  const below = () => processesBelow(join(data, 'processes'));
  const first = await openProcess(t, data);
  const pid = await running(first);
  t.is(await echo(data, 'hello'), 'hello');
  const { said } = await weirCommand(data, ['processes']);
  t.regex(said, new RegExp(`^acme-sidecar/echo: running; pid ${pid}, since 2`));
  await first.kill('SIGKILL');
  t.regex((await weirCommand(data, ['processes'])).said, /^the panel does not run/);
  t.is(await echo(data, 'still here'), 'still here');

  const second = await openProcess(t, data);
  t.is(await running(second), pid, 'the next panel takes it over');
  await switched(t, second, 'keygen', false);
  t.is(await running(second), pid, 'another plugin is switched, and it is not touched');
  await switched(t, second, 'acme-sidecar', false);
  await second.until(async () => (await below()).length === 0, 'it ends with its plugin');
  t.like(second.said('stopping a process that no plugin wants'), { process: 'acme-sidecar/echo' });
  await switched(t, second, 'acme-sidecar', true);
  const next = await running(second);
  t.not(next, pid);
  process.kill(next, 'SIGKILL');
  await second.until(async () => ![0, next].includes((await stateOf(second)).pid), 'it is started again');
  t.deepEqual(await second.kill('SIGTERM'), { code: 0, signal: null });
  t.deepEqual(await below(), []);
  t.is((await weirCommand(data, ['plugins'])).code, 0);
  t.deepEqual(await below(), [], 'a command of the command line starts nothing');
});

test('a plugin that was removed while no panel ran leaves no program behind', async (t) => {
  const { data } = await installed(t);
  const first = await openProcess(t, data);
  const pid = await running(first);
  await first.kill('SIGKILL');
  await writeFiles(data, { 'weir.json': { preset: 'minimal' } });
  const second = await openProcess(t, data);
  await second.until(
    async () => !(await processesBelow(join(data, 'processes'))).includes(pid),
    'it is ended by the next panel',
  );
  const isForgotten = () =>
    readFile(join(data, PROGRAM, 'process.json')).then(
      () => false,
      ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
    );
  await second.until(isForgotten, 'its record is gone as well');
  t.false((await processesBelow(join(data, 'processes'))).includes(pid));
});
