// Plugins enabled and disabled over the API: checked, written, and the panel back in the same process. The program around
// the panel runs in the process of the test, but for the last test.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { checkInChild } from '../../panel/check-in-child.js';
import { type Answer, freePort } from '../harness/api.js';
import { PLUGINS, folderWith, open, openProcess, ask, switched, listed, outsider } from './switching.js';

/** A plugin that takes a port while it is imported, but not in the process of a check. */
const thiefOf = (port: string): string =>
  `if (!process.env.TMPDIR?.includes('weir-apart-')) await new Promise((done) => server.listen(${port}, '127.0.0.1', done));`;

test.serial(
  'a plugin goes off and comes back in the same process; the rest of the file, the session and the data stay',
  async (t) => {
    const config = {
      logLevel: 'debug',
      plugins: { 'sub-links': true, 'connection-cut': { config: {} } },
      trustedProxies: ['10.0.0.0/8'],
    };
    const { dataDirectory, path } = await folderWith(t, config, 4);
    const panel = await open(t, dataDirectory);
    await panel.addClient('ann', [await panel.addInbound()]);
    t.is((await panel.call('/panel/api/server/getNewUUID')).status, 200);

    await switched(t, panel, 'keygen', false);
    t.is((await panel.call('/panel/api/server/getNewUUID')).status, 404);
    t.is(await listed(panel, 'keygen'), undefined);
    t.is(
      await readFile(path, 'utf8'),
      `${JSON.stringify({ ...config, plugins: { ...config.plugins, keygen: false } }, undefined, 4)}\n`,
    );
    t.like(await panel.get('/panel/api/clients/get/ann'), { email: 'ann' });
    t.like((await ask(panel, 'keygen', false)).body, { success: true, obj: { restarting: false } });

    await switched(t, panel, 'connection-cut', false);
    await switched(t, panel, 'keygen', true);
    t.is((await panel.call('/panel/api/server/getNewUUID')).status, 200);
    t.like(await listed(panel, 'keygen'), { state: 'running', reason: '' });
    t.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
      ...config,
      plugins: { 'sub-links': true, 'connection-cut': { config: {}, on: false }, keygen: true },
    });
    t.like((await ask(panel, 'keygen', true)).body, { success: true, obj: { restarting: false } });

    await panel.stop();
    // What another start finds is what was switched.
    const next = await open(t, dataDirectory);
    t.deepEqual(
      [(await listed(next, 'keygen'))?.state, await listed(next, 'connection-cut')],
      ['running', undefined],
    );
  },
);

test.serial('what cannot be is refused by name, and the file stays as it is', async (t) => {
  const away = await outsider(t, 'away', '');
  const { dataDirectory, path } = await folderWith(t, {
    plugins: { [away]: false, 'api-docs': { on: true }, 'npm:weir-plugin-lost': false },
  });
  const panel = await open(t, dataDirectory);
  const before = await readFile(path, 'utf8');
  const refused = async (
    name: string,
    enable: unknown,
    status: number,
    code: string,
    msg: RegExp,
  ): Promise<void> => {
    const answer = await ask(panel, name, enable);
    t.deepEqual([answer.status, answer.body.code], [status, code], answer.text);
    t.regex(answer.body.msg, msg);
  };
  await refused(
    'keygenn',
    true,
    404,
    'SYSTEM_UNKNOWN',
    /there is no plugin keygenn: .*weir\.json does not name it; add it there first/,
  );
  await refused('clients', false, 409, 'SYSTEM_ESSENTIAL', /cannot start without the plugin clients/);
  await refused(
    'subscription',
    false,
    409,
    'SYSTEM_IN_USE',
    /^(?=.*sub-links)(?=.*app-link)(?=.*quickstart).* need the plugin subscription; disable .* first$/,
  );
  await refused('lost', true, 409, 'SYSTEM_WOULD_NOT_START', /npm:weir-plugin-lost is not there/);
  await refused('keygen', 'no', 400, 'KERNEL_INVALID', /enable/);
  t.is((await panel.call(`${PLUGINS}/keygen`, { body: { enable: false }, anonymous: true })).status, 401);
  t.is(await readFile(path, 'utf8'), before);

  for (const name of ['quickstart', 'sub-links', 'app-link', 'subscription'])
    await switched(t, panel, name, false);
  await refused(
    'quickstart',
    true,
    409,
    'SYSTEM_WOULD_NOT_START',
    /plugin quickstart needs subscription\/\S+, but the plugin subscription is not enabled/,
  );
  // The file is broken by hand: no plugin is enabled or disabled then.
  await writeFile(path, '{ "plugins": ');
  await refused('keygen', false, 409, 'SYSTEM_WOULD_NOT_START', /is not valid JSON/);
  t.is(await readFile(path, 'utf8'), '{ "plugins": ');
  t.is(panel.starts, 5);
});

test.serial('a file that cannot be written is named, and nothing is switched', async (t) => {
  const { dataDirectory } = await folderWith(t);
  // The draft beside it would have a longer name than a file can have.
  const path = join(dataDirectory, `${'x'.repeat(250)}.json`);
  await writeFile(path, '{}');
  const panel = await open(t, dataDirectory, { WEIR_CONFIG: path });
  const { status, body } = await ask(panel, 'keygen', false);
  t.deepEqual([status, body.code], [409, 'SYSTEM_NOT_WRITABLE']);
  t.true(body.msg.includes(`${path} cannot be written`), body.msg);
  t.is(await readFile(path, 'utf8'), '{}');
  t.is((await listed(panel, 'keygen'))?.state, 'running');
});

test.serial('of two at once one is carried out', async (t) => {
  const { dataDirectory, path } = await folderWith(t);
  const panel = await open(t, dataDirectory);
  const answers = await Promise.all([ask(panel, 'keygen', false), ask(panel, 'api-docs', false)]);
  t.deepEqual(answers.map(({ status, body }) => [status, body.code ?? '']).sort(), [
    [202, ''],
    [409, 'SYSTEM_BUSY'],
  ]);
  await panel.until(() => panel.starts === 2, 'the panel is back');
  t.is(Object.keys((JSON.parse(await readFile(path, 'utf8')) as { plugins: object }).plugins).length, 1);
});

test.serial(
  'a plugin whose start fails: the previous config is restored, and the failure stands in the list and the log',
  async (t) => {
    const moon = await outsider(t, 'moon', "throw new Error('the moon is not full');");
    const fine = await outsider(t, 'fine', '');
    const { dataDirectory, path } = await folderWith(t, {
      plugins: { [moon]: { on: false, config: {} }, [fine]: false },
    });
    const before = await readFile(path, 'utf8');
    const panel = await open(t, dataDirectory);
    await switched(t, panel, 'moon', true, 2);
    t.is(await readFile(path, 'utf8'), before);
    const entry = await listed(panel, 'moon');
    t.is(entry?.state, 'failed');
    t.regex(
      entry?.reason ?? '',
      /^it could not be enabled, and the previous config is active again: plugin moon did not start: the moon is not full$/,
    );
    t.like(panel.said('the restart failed; restoring the previous config'), {
      level: 'error',
      reason: 'the plugin moon was enabled',
    });
    // Another one is none the worse for it.
    await switched(t, panel, 'fine', true);
    t.is((await listed(panel, 'fine'))?.state, 'running');
    await switched(t, panel, 'fine', false);
    t.is(await listed(panel, 'fine'), undefined);
  },
);

test.serial('a start that fails as a whole: the previous config is restored', async (t) => {
  const port = String(await freePort());
  const thief = await outsider(t, 'thief', '', thiefOf(port));
  const { dataDirectory, path } = await folderWith(t, { plugins: { [thief]: false } });
  const before = await readFile(path, 'utf8');
  const panel = await open(t, dataDirectory, { WEIR_PANEL_PORT: port }, checkInChild);
  await switched(t, panel, 'thief', true);
  t.is(await readFile(path, 'utf8'), before);
  t.like(await listed(panel, 'thief'), { state: 'failed' });
  t.regex(
    (await listed(panel, 'thief'))?.reason ?? '',
    new RegExp(`panel listener cannot use 127\\.0\\.0\\.1:${port}`),
  );
});

test.serial('a restart takes what the config file says now, and nothing that would not start', async (t) => {
  const port = String(await freePort());
  const { dataDirectory, path } = await folderWith(t, {});
  const panel = await open(t, dataDirectory, { WEIR_PANEL_PORT: port }, checkInChild);
  const restart = (): Promise<Answer> => panel.call('/panel/api/setting/restartPanel', { method: 'POST' });
  await writeFile(path, JSON.stringify({ plugins: { clients: false } }));
  const refused = await restart();
  t.deepEqual([refused.status, refused.body.code], [409, 'SYSTEM_WOULD_NOT_START']);
  t.regex(refused.body.msg, /cannot start without the plugin clients/);
  await writeFile(path, JSON.stringify({ plugins: { keygen: false } }));
  t.like(await restart(), { status: 202, body: { success: true } });
  await panel.until(() => panel.starts === 2, 'the panel is back');
  t.is(await listed(panel, 'keygen'), undefined);

  // What no check can know: the panel goes on with what it had, and the file of the admin stays.
  const thief = await outsider(t, 'thief', '', thiefOf(port));
  const text = JSON.stringify({ plugins: { [thief]: true } });
  await writeFile(path, text);
  t.is((await restart()).status, 202);
  await panel.until(() => panel.starts === 3, 'the panel is back');
  t.regex(
    String(panel.said('the restart failed; restoring the previous config')?.['problem']),
    /panel listener cannot use/,
  );
  // It is in the file still, so that another start would try it again.
  t.is((await listed(panel, 'thief'))?.state, 'waiting');
  t.is(await listed(panel, 'keygen'), undefined);
  t.is(await readFile(path, 'utf8'), text);
});

test.serial(
  'as a process: the check is another process, and a SIGTERM during the restart ends the panel in order',
  async (t) => {
    const deadly = await outsider(t, 'deadly', '', 'process.exit(3);');
    const { dataDirectory, path } = await folderWith(t, {
      preset: 'minimal',
      plugins: { [deadly]: false, keygen: true },
    });
    const before = await readFile(path, 'utf8');
    const panel = await openProcess(t, dataDirectory);
    const refused = await ask(panel, 'deadly', true);
    t.deepEqual([refused.status, refused.body.code], [409, 'SYSTEM_WOULD_NOT_START']);
    t.regex(refused.body.msg, /exit code 3/);
    t.is(await readFile(path, 'utf8'), before);
    t.is((await ask(panel, 'keygen', false)).status, 202);
    await panel.until(() => panel.said('stopping') !== undefined, 'the panel stops to start again');
    t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
    t.is(panel.log.at(-1)?.msg, 'stopped');
  },
);
